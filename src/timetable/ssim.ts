/**
 * Reads SSIM chapter 7: `ssimReader()` takes the bytes in chunks and answers a schedule, or throws all it refuses. A text may hold several
 * carrier blocks and may lack the header, so the blocks of one carrier (`carrierText`) are a readable text of their own.
 */
import {
  BLANK_VARIATION,
  type Block,
  type DataElement,
  type Legs,
  legTable,
  OPEN_DAY,
  type Schedule,
  warningList,
} from './schedule.ts'
import * as field from './ssim-fields.ts'
import { RECORD_BYTES, ssimFraming } from './ssim-framing.ts'
import { readLeg, SERVED_ELEMENTS } from './ssim-leg.ts'

/** Why a text is refused: the line, the bytes of that line (from 1, both included) and what is wrong with them. */
export type SsimFault = { line: number; bytes: readonly [number, number]; reason: string }

/** Faults that a refusal lists at most; what comes after them is not read. */
const SSIM_FAULTS_MAX = 20

/** Thrown for a text that is no sound schedule; nothing of it may be used. */
export class SsimRefused extends Error {
  readonly faults: readonly SsimFault[]
  constructor(faults: readonly SsimFault[]) {
    const first = faults[0]!
    super(`line ${first.line}, bytes ${first.bytes[0]}–${first.bytes[1]}: ${first.reason}`)
    this.name = 'SsimRefused'
    this.faults = faults
  }
}

export type SsimReader = {
  /** Takes the next bytes, cut anywhere; they are not kept. */
  push(bytes: Uint8Array): void
  /**
   * The schedule, after the last bytes.
   * @throws SsimRefused with the first `SSIM_FAULTS_MAX` faults.
   */
  end(): Schedule
}

/** A reader for one text. */
export function ssimReader(): SsimReader {
  const faults: SsimFault[] = []
  const warnings = warningList()
  const table = legTable()
  const blocks: Block[] = []
  const elements: DataElement[] = []
  const texts: string[] = ['']
  const textIndex = new Map<string, number>([['', 0]])
  const seen = new Set<number>()
  let block: Block | undefined
  let records = 0
  let serial = 0
  let ended = false
  let lastLine = 0

  const fault = (line: number, from: number, to: number, reason: string): void => {
    if (faults.length < SSIM_FAULTS_MAX) faults.push({ line, bytes: [from, to], reason })
  }
  const intern = (text: string): number => {
    const known = textIndex.get(text)
    if (known !== undefined) return known
    textIndex.set(text, texts.length)
    return texts.push(text) - 1
  }

  function onRecord(b: Uint8Array, at: number, offset: number, line: number): void {
    if (faults.length === SSIM_FAULTS_MAX) return
    records++
    lastLine = line
    const own = field.number(b, at, 195, 200)
    const expected = serial === 999_999 ? 2 : serial + 1
    if (records > 1 && own !== expected)
      warnings.add('serial', line, `${field.text(b, at, 195, 200)} follows ${serial}`)
    const type = b[at]! - 0x30
    if (type === 3) onLeg(b, at, line)
    else if (type === 4) onElement(b, at, line)
    else if (type === 2) onCarrier(b, at, offset, line)
    else if (type === 5) onTrailer(b, at, offset, line)
    else if (type !== 1) fault(line, 1, 1, `unknown record type "${String.fromCharCode(b[at]!)}"`)
    else if (records > 1) fault(line, 1, 1, 'a header record must be the first')
    serial = own === field.BAD ? expected : own
  }

  function onCarrier(b: Uint8Array, at: number, offset: number, line: number): void {
    if (block !== undefined) fault(line, 1, 1, `the block of ${block.carrier} has no trailer record`)
    if (ended) warnings.add('after end', line, 'a carrier block follows a trailer record marked as the last')
    const mode = String.fromCharCode(b[at + 1]!)
    const carrier = field.code(b, at, 3, 2)
    const from = field.date(b, at, 15)
    const to = field.date(b, at, 22)
    if (mode !== 'L' && mode !== 'U') fault(line, 2, 2, `time mode "${mode}" is neither L nor U`)
    if (carrier === field.BAD) fault(line, 3, 5, 'no airline designator')
    if (from === field.BAD) fault(line, 15, 21, 'no date')
    if (to === field.BAD) fault(line, 22, 28, 'no date')
    if (from > to && from !== OPEN_DAY) fault(line, 15, 28, 'the validity ends before it begins')
    block = {
      carrier: field.unpacked(carrier),
      timeMode: mode === 'U' ? 'U' : 'L',
      from: from === OPEN_DAY ? 0 : from,
      to,
      line,
      firstLeg: table.count(),
      endLeg: table.count(),
      byteFrom: offset,
      byteTo: offset,
    }
    blocks.push(block)
    seen.clear()
  }

  function onLeg(b: Uint8Array, at: number, line: number): void {
    if (block === undefined) return void fault(line, 1, 1, 'a leg outside of a carrier block')
    const leg = table.count()
    const legs = table.room()
    const sound = readLeg(legs, leg, b, at, intern, (from, to, reason) => fault(line, from, to, reason))
    if (!sound) return
    legs.line[leg] = line
    legs.block[leg] = blocks.length - 1
    if (field.unpacked(legs.carrier[leg]!) !== block.carrier)
      fault(line, 3, 5, `not a flight of ${block.carrier}`)
    const sequence = legs.sequence[leg]!
    const key = ((legs.number[leg]! * 1000 + legs.variation[leg]!) * 100 + sequence) * 256 + legs.suffix[leg]!
    if (seen.has(key)) fault(line, 2, 13, 'the same leg was filed before in this block')
    seen.add(key)
    if (sequence > 1) onFollowing(legs, leg, block, line)
    const days = legs.departureDays[leg]!
    const shift = sequence === 1 || days === BLANK_VARIATION ? 0 : days
    const to = legs.to[leg]!
    if (legs.from[leg]! - shift < block.from || (to - shift > block.to && to !== OPEN_DAY)) {
      warnings.add('validity', line, 'operates outside the validity of its carrier record')
    }
    table.keep()
    block.endLeg = table.count()
  }

  function onFollowing(legs: Legs, leg: number, block: Block, line: number): void {
    const sequence = legs.sequence[leg]!
    const follows =
      leg > block.firstLeg &&
      legs.number[leg - 1] === legs.number[leg] &&
      legs.variation[leg - 1] === legs.variation[leg] &&
      legs.sequence[leg - 1] === sequence - 1
    if (!follows) fault(line, 12, 13, `leg ${sequence} does not follow leg ${sequence - 1} of its itinerary`)
    else if (legs.destination[leg - 1] !== legs.origin[leg]) {
      const station = field.unpacked(legs.origin[leg]!)
      warnings.add('chain', line, `departs from ${station}, where the leg before does not arrive`)
    }
  }

  function onElement(b: Uint8Array, at: number, line: number): void {
    const leg = table.count() - 1
    if (block === undefined || leg < block.firstLeg)
      return void fault(line, 1, 1, 'a data element without a leg before it')
    const legs = table.room()
    const variation = field.number(b, at, 10, 11) + 100 * Math.max(0, field.number(b, at, 28, 28))
    const belongs =
      field.code(b, at, 3, 2) === legs.carrier[leg] &&
      field.number(b, at, 6, 9) === legs.number[leg] &&
      variation === legs.variation[leg] &&
      field.number(b, at, 12, 13) === legs.sequence[leg]
    if (!belongs) return void fault(line, 2, 14, 'the data element does not belong to the leg before it')
    const board = b[at + 28]! - 0x41
    const off = b[at + 29]! - 0x41
    const element = field.number(b, at, 31, 33)
    if (element === field.BAD) return void fault(line, 31, 33, 'no data element identifier')
    if (!SERVED_ELEMENTS.has(element)) return
    if (board < 0 || off <= board || off > 25) return void fault(line, 29, 30, 'no board and off point')
    if (board >= legs.sequence[leg]!) {
      return void warnings.add('element', line, 'belongs to a leg that comes later; ignored')
    }
    const first = leg + 1 - legs.sequence[leg]!
    elements.push({ leg: first + board, legs: off - board, element, text: field.text(b, at, 40, 194) })
  }

  function onTrailer(b: Uint8Array, at: number, offset: number, line: number): void {
    if (block === undefined) return void fault(line, 1, 1, 'a trailer record outside of a carrier block')
    const carrier = field.text(b, at, 3, 5)
    if (carrier !== block.carrier) fault(line, 3, 5, `the trailer record is not of ${block.carrier}`)
    if (field.number(b, at, 188, 193) !== serial)
      warnings.add('trailer', line, 'does not name the serial before it')
    ended = b[at + 193] === 0x45
    block.byteTo = offset + RECORD_BYTES
    block = undefined
  }

  const framing = ssimFraming(onRecord, (line, length) => {
    lastLine = line
    fault(line, 1, length, `the record has ${length} bytes instead of 200`)
  })

  return {
    push: framing.push,
    end() {
      const lines = framing.end()
      if (block !== undefined)
        fault(lastLine, 1, 200, `the text ends inside the block of ${block.carrier}: no trailer record`)
      else if (blocks.length === 0)
        fault(Math.max(1, lastLine), 1, 200, 'no carrier record: nothing of a schedule in it')
      if (faults.length > 0) throw new SsimRefused(faults)
      elements.sort((a, b) => a.leg - b.leg)
      return {
        blocks,
        legCount: table.count(),
        legs: table.room(),
        texts,
        elements,
        warnings: warnings.list(),
        records,
        lines,
      }
    },
  }
}

/**
 * The text of one carrier out of the bytes that a schedule was read from: its blocks, without the header. `ssimReader` reads it again to the
 * same legs.
 */
export function carrierText(bytes: Uint8Array, schedule: Schedule, carrier: string): Uint8Array {
  const own = schedule.blocks.filter(block => block.carrier === carrier)
  const parts = own.map(block => bytes.subarray(block.byteFrom, block.byteTo))
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length + 1, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    out[at + part.length] = 0x0a
    at += part.length + 1
  }
  return out
}
