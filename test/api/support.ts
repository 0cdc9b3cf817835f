import { connect } from 'node:net'
import type { ApiHouse } from '../../src/api/house.ts'
import { EXAMPLE_BOOKING, EXAMPLE_OFFER } from '../../src/api/reference/example.ts'
import { createApi } from '../../src/api/server.ts'
import type { AccountId, KeyId } from '../../src/id.ts'
import { createLog } from '../../src/log.ts'
import type { Caller } from '../../src/partner/account.ts'
import type { RequestEntry } from '../../src/partner/store.ts'
import { Refusal } from '../../src/refusal.ts'
import { readSettings } from '../../src/settings.ts'

/** The one key that the stand-in for the partner room admits. */
export const KEY = 'air_test_good'
export const CALLER: Caller = {
  region: 'intl',
  accountId: 'acc_000000000000000000000000' as AccountId,
  keyId: 'key_000000000000000000000000' as KeyId,
  mode: 'test',
  plan: 'developer',
  currency: 'USD',
  scopes: new Set(['search', 'book', 'read', 'webhooks']),
}
/** Answers as a database without rows. */
const noDatabase = { query: async () => [] }
export const NOW = Date.UTC(2026, 10, 21, 10, 15)

/** Credentials in the order they came. */
export function credentials(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === 'authorization')
}

/**
 * The real door on a free port, before stand-ins for the rooms: where only the wire is looked at, the house behind it does not matter.
 * @param some rooms of one's own
 */
export async function serveApi(
  some: Partial<ApiHouse> = {},
): Promise<{ port: number; url: string; lines: RequestEntry[]; stop(): Promise<void> }> {
  const lines: RequestEntry[] = []
  const app = createApi({
    region: 'intl',
    settings: readSettings({}),
    log: createLog('silent', 'api'),
    now: () => NOW,
    admit: async rawHeaders => {
      const sent = credentials(rawHeaders)
      if (sent.length !== 1) throw new Refusal('unauthorized', 'Send one key.')
      if (sent[0] !== `Bearer ${KEY}`) throw new Refusal('invalid_key', 'Send another key.')
      return CALLER
    },
    take: name => ({
      allowed: true,
      headers: { 'RateLimit-Policy': `"${name}";q=60;w=60`, RateLimit: `"${name}";r=59;t=1` },
    }),
    search: async () => ({ offers: [EXAMPLE_OFFER], warnings: [] }),
    book: async (_caller, _request, reply) => ({
      status: 200,
      body: reply.booking(EXAMPLE_BOOKING),
      replayed: false,
    }),
    retrieve: async () => EXAMPLE_BOOKING,
    list: async () => ({ bookings: [EXAMPLE_BOOKING], nextCursor: undefined }),
    webhooks: { database: noDatabase } as unknown as ApiHouse['webhooks'],
    logRequest: entry => lines.push(entry),
    ready: async () => true,
    metrics: async () => 'airside_up 1\n',
    ...some,
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: Number(new URL(url).port), url, lines, stop: () => app.close() }
}

export type Heard = {
  text: string
  status: number
  statuses: number[]
  headers: Map<string, string>
  body: string
  closed: boolean
  afterMs: number
}

/**
 * Writes bytes to a socket and listens until the other side closes or has been quiet for `quietMs`.
 * @param pieces written one after another; a number waits that many milliseconds
 */
export async function talk(
  port: number,
  pieces: readonly (string | Buffer | number)[],
  quietMs = 80,
): Promise<Heard> {
  const socket = connect(port, '127.0.0.1')
  const started = performance.now()
  let text = ''
  let afterMs = Number.NaN
  let closed = false
  const ended = Promise.withResolvers<void>()
  let quiet: NodeJS.Timeout | undefined
  const rest = (ms: number) => {
    clearTimeout(quiet)
    quiet = setTimeout(() => ended.resolve(), ms)
  }
  socket.on('data', bytes => {
    if (Number.isNaN(afterMs)) afterMs = performance.now() - started
    text += bytes.toString('latin1')
    rest(quietMs)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    closed = true
    ended.resolve()
  })
  rest(12_000)
  for (const piece of pieces) {
    if (typeof piece === 'number') await new Promise(resolve => setTimeout(resolve, piece))
    else if (!socket.destroyed) socket.write(piece)
  }
  await ended.promise
  clearTimeout(quiet)
  socket.destroy()
  return { ...understand(text), text, closed, afterMs }
}

function understand(text: string): Omit<Heard, 'text' | 'closed' | 'afterMs'> {
  const starts = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)]
  const statuses = starts.map(match => Number(match[1]))
  const last = starts.at(-1)?.index ?? 0
  const split = text.indexOf('\r\n\r\n', last)
  const lines = text.slice(last, split).split('\r\n').slice(1)
  const headers = new Map(
    lines.map(line => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  return { statuses, status: statuses.at(-1) ?? 0, headers, body: text.slice(split + 4) }
}

/** A request head with a key and a host, and whatever else. */
export function head(line: string, headers: readonly string[] = [], key: string = KEY): string {
  return [`${line} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`, ...headers, '', ''].join(
    '\r\n',
  )
}

export const JSON_HEADER = 'Content-Type: application/json'
export const SEARCH = JSON.stringify({ origin: 'LHR', destination: 'SIN', departDate: '2027-03-28' })
