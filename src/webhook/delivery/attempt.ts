import type { Dispatcher } from 'undici'
import { isOwnShortage, type Outcome, type Phase, reasonOfError, reasonOfStatus } from './outcome.ts'
import type { Wire } from './wire.ts'

/** From the start of name resolution to the end of the response's headers. */
export const DEADLINE_MS = 5_000
/** What is kept of an answer. */
export const ANSWER_MAX = 16_384
/** The outcome is known by then: a body that drips is not waited for. */
const BODY_WITHIN_MS = 1_000

/** What is sent. */
export type Message = { path: string; headers: Readonly<Record<string, string>>; body: Buffer }

/**
 * One attempt: a POST on a wire under one deadline of our own. Never rejects. A connection that had been open before and dies without a byte of
 * answer was closed by its other end in the meantime: then the same bytes go once more on a new one, within the same deadline.
 * @param open a wire that was used before, if there is one
 * @param make makes a new one
 * @returns the outcome, and the wire if it can be used again
 */
export function attempt(
  open: Wire | undefined,
  make: () => Wire,
  message: Message,
  deadlineMs: number = DEADLINE_MS,
): Promise<{ outcome: Outcome; wire: Wire | undefined }> {
  const { promise, resolve } = Promise.withResolvers<{ outcome: Outcome; wire: Wire | undefined }>()
  const startedAt = performance.now()
  const chunks: Buffer[] = []
  let kept = 0
  let over = false
  let status: number | undefined
  let headersMs: number | null = null
  let sentAt = startedAt
  let patience: NodeJS.Timeout | undefined
  let wire = open ?? make()
  let reused = wire.isOpen()
  const receivedBefore = wire.received()

  const phase = (): Phase => (reused ? 'headers' : (wire.making?.phase ?? 'dns'))
  const deadline = setTimeout(() => fail(`timeout_${phase()}`), deadlineMs)

  function end(reason: string | null, reusable: boolean, cut: boolean, untried = false): void {
    if (over) return
    over = true
    clearTimeout(deadline)
    clearTimeout(patience)
    const timing = reused ? undefined : wire.making?.timing
    const outcome: Outcome = {
      reason,
      status: status ?? null,
      dnsMs: timing?.dnsMs ?? null,
      connectMs: timing?.connectMs ?? null,
      tlsMs: timing?.tlsMs ?? null,
      headersMs,
      peer: wire.peer,
      tls: wire.tls,
      answer: kept > 0 ? Buffer.concat(chunks) : null,
      cut,
      ...(untried ? { untried } : {}),
    }
    if (!reusable) wire.cut(new Error('the attempt is over'))
    resolve({ outcome, wire: reusable ? wire : undefined })
  }

  const fail = (reason: string, untried = false) => end(reason, false, false, untried)

  /** What a wire tells of its request; a wire that was given up tells in vain. */
  const handlerOf = (own: Wire): Dispatcher.DispatchHandler => ({
    onRequestStart() {
      sentAt = performance.now()
    },
    onResponseStart(_controller, code) {
      if (over || own !== wire || code < 200) return
      const now = performance.now()
      headersMs = now - sentAt
      // The loop may have been too busy to let the timer fire first.
      if (now - startedAt > deadlineMs) return fail('timeout_headers')
      status = code
      clearTimeout(deadline)
      patience = setTimeout(() => end(reasonOfStatus(code), false, true), BODY_WITHIN_MS)
    },
    onResponseData(_controller, chunk) {
      if (over || own !== wire || status === undefined) return
      const room = ANSWER_MAX - kept
      // A copy: the chunk belongs to the parser's memory.
      chunks.push(Buffer.from(chunk.subarray(0, room)))
      kept += Math.min(room, chunk.length)
      if (chunk.length > room) end(reasonOfStatus(status), false, true)
    },
    onResponseEnd() {
      if (own === wire && status !== undefined) end(reasonOfStatus(status), true, false)
    },
    onResponseError(_controller, error) {
      if (over || own !== wire) return
      if (status !== undefined) return end(reasonOfStatus(status), false, true)
      if (isOwnShortage(error)) return fail('no_socket', true)
      if (!reused || own.received() !== receivedBefore) return fail(reasonOfError(error, phase()))
      reused = false
      wire = make()
      own.cut(error)
      send()
    },
  })

  function send(): void {
    const { path, headers, body } = message
    try {
      wire.client.dispatch(
        { path, method: 'POST', headers: headers as Record<string, string>, body },
        handlerOf(wire),
      )
    } catch (error) {
      fail(reasonOfError(error, phase()))
    }
  }

  send()
  return promise
}
