/**
 * Cuts a stream of bytes into 200-byte records. Record ends may be LF, CRLF or nothing at all, decided by what follows the first record;
 * padding (zeros) may be missing or cut short.
 */

export const RECORD_BYTES = 200

/** A record: it lies in `bytes` from `at` on, `offset` bytes into the text, on line `line` (padding counted). */
export type OnRecord = (bytes: Uint8Array, at: number, offset: number, line: number) => void
/** A line of the wrong length, which is no padding. */
export type OnMisfit = (line: number, length: number) => void

const LF = 0x0a
const CR = 0x0d
const ZERO = 0x30
const END_OF_FILE = 0x1a

const isFiller = (c: number) => c === ZERO || c === LF || c === CR || c === END_OF_FILE || c === 0

function isPadding(b: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (!isFiller(b[i]!)) return false
  return true
}

/** Feed it chunks, cut anywhere and not kept, then call `end`, which answers the number of lines. */
export function ssimFraming(onRecord: OnRecord, onMisfit: OnMisfit) {
  let rest: Uint8Array = new Uint8Array(0)
  let consumed = 0
  let lineFeeds = 0
  let lined: boolean | undefined

  /** Both answer how far they came; what is left is tried again with more bytes behind it. */
  function takeLines(b: Uint8Array, final: boolean): number {
    let at = 0
    while (at < b.length) {
      const lf = b.indexOf(LF, at)
      if (lf < 0 && !final) break
      const stop = lf < 0 ? b.length : lf
      const end = stop > at && b[stop - 1] === CR ? stop - 1 : stop
      const line = lineFeeds + 1
      const padding = (end === at || isFiller(b[at]!)) && isPadding(b, at, end)
      if (!padding && end - at === RECORD_BYTES) onRecord(b, at, consumed + at, line)
      else if (!padding) onMisfit(line, end - at)
      if (lf >= 0) lineFeeds++
      at = lf < 0 ? stop : lf + 1
    }
    return at
  }

  function takeBlocks(b: Uint8Array, final: boolean): number {
    let at = 0
    while (at < b.length) {
      if (isFiller(b[at]!)) {
        at++
        continue
      }
      const line = Math.floor((consumed + at) / RECORD_BYTES) + 1
      const size = Math.min(RECORD_BYTES, b.length - at)
      if (size === RECORD_BYTES) onRecord(b, at, consumed + at, line)
      else if (final) onMisfit(line, size)
      else break
      at += size
    }
    return at
  }

  function take(b: Uint8Array, final: boolean): void {
    if (lined === undefined && b.length <= RECORD_BYTES + 1 && !final) {
      rest = b.slice()
      return
    }
    lined ??= b.length <= RECORD_BYTES || b.subarray(0, RECORD_BYTES + 2).includes(LF)
    const at = lined ? takeLines(b, final) : takeBlocks(b, final)
    consumed += at
    rest = b.slice(at)
  }

  return {
    push(chunk: Uint8Array): void {
      if (rest.length === 0) return void take(chunk, false)
      const joined = new Uint8Array(rest.length + chunk.length)
      joined.set(rest)
      joined.set(chunk, rest.length)
      take(joined, false)
    },
    end(): number {
      const unended = rest.length > 0 && rest.at(-1) !== LF ? 1 : 0
      take(rest, true)
      return lined ? lineFeeds + unended : Math.ceil(consumed / RECORD_BYTES)
    },
  }
}
