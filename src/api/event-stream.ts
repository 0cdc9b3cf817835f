import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type EventId, isId } from '../id.ts'
import { Refusal } from '../refusal.ts'
import type { EventType } from '../webhook/event.ts'
import { type Tail, tail } from '../webhook/history/tail.ts'
import type { ApiHouse } from './house.ts'

/** Streams in this thread, and of one account in it. */
const STREAMS_MAX = 64
const STREAMS_AN_ACCOUNT = 8
/** How often the database is asked for what is new. */
const LOOK_EVERY_MS = 250
/** A comment is sent when nothing else was for so long, so that nothing on the way takes the connection for dead. */
const QUIET_MAX_MS = 15_000
/** Bytes that may wait for a slow reader before its stream is ended; it resumes where it was. */
const BACKLOG_MAX = 1 << 20

/**
 * Server-sent events: what happens to an account's bookings, as it is committed, for whoever has no public address. The data of each is the very
 * body that webhooks get. Ends when the key is revoked, the reader is too slow, or the server stops; `Last-Event-ID` resumes.
 */
export function eventStreams(house: ApiHouse): {
  /** @throws Refusal invalid_params, service_unavailable */
  open(request: FastifyRequest, reply: FastifyReply, types: readonly EventType[] | undefined): Promise<void>
  close(): void
} {
  const ending = new AbortController()
  const byAccount = new Map<string, number>()
  let all = 0

  async function open(
    request: FastifyRequest,
    reply: FastifyReply,
    types: readonly EventType[] | undefined,
  ): Promise<void> {
    const caller = request.caller!
    const after = lastEvent(request)
    const mine = byAccount.get(caller.accountId) ?? 0
    if (all >= STREAMS_MAX || mine >= STREAMS_AN_ACCOUNT) throw crowded()
    all++
    byAccount.set(caller.accountId, mine + 1)
    try {
      const following = await tail(house.webhooks.database, caller, types, after)
      reply.hijack()
      reply.raw.writeHead(200, { ...headersOf(reply), 'content-type': 'text/event-stream; charset=utf-8' })
      const ready = { signatureHeader: `X-${house.settings.brand}-Signature`, mode: caller.mode }
      reply.raw.write(`event: ready\ndata: ${JSON.stringify(ready)}\n\n`)
      await run(request, reply, following).catch(error => {
        house.log.warn({ requestId: request.id, err: error }, 'a stream of events was broken off')
      })
      reply.raw.end()
    } finally {
      all--
      const left = byAccount.get(caller.accountId)! - 1
      if (left === 0) byAccount.delete(caller.accountId)
      else byAccount.set(caller.accountId, left)
    }
  }

  async function run(request: FastifyRequest, { raw }: FastifyReply, following: Tail): Promise<void> {
    let wroteAt = performance.now()
    while (!raw.destroyed && !ending.signal.aborted && raw.writableLength < BACKLOG_MAX) {
      // Refused as any request would be: a revoked key hears nothing more.
      await house.admit(request.raw.rawHeaders, house.now())
      const { events, more } = await following.next()
      for (const { id, type, body } of events) {
        // The body is one line of JSON, so it fits one line of data.
        raw.write(`id: ${id}\nevent: ${type}\ndata: ${body.toString('utf8')}\n\n`)
        wroteAt = performance.now()
      }
      if (performance.now() - wroteAt > QUIET_MAX_MS) {
        raw.write(': still here\n\n')
        wroteAt = performance.now()
      }
      if (!more) await sleep(LOOK_EVERY_MS, undefined, { signal: ending.signal }).catch(() => {})
    }
  }

  return { open, close: () => ending.abort() }
}

function lastEvent(request: FastifyRequest): EventId | undefined {
  const id = request.headers['last-event-id']
  if (id === undefined || id === '') return undefined
  if (typeof id === 'string' && isId('evt', id)) return id
  throw new Refusal('invalid_params', 'Last-Event-ID: send the id of an event, or leave it out', {
    param: 'Last-Event-ID',
  })
}

/** Headers set so far: the request's id, and that nothing may be kept. */
function headersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]))
}

const crowded = () =>
  new Refusal('service_unavailable', 'Too many streams of events are open; close one, or try again.', {
    retryAfterSeconds: 5,
  })
