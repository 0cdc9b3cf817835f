/** What the measurements stand on: a durable PostgreSQL with the server's own schema, endpoints on loopback addresses, and a receiver. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectOptions, connect, type Database } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type AccountId, type BookingId, newId } from '../../src/id.ts'
import { deriveKey } from '../../src/secret.ts'
import { sealSecret, secretPurpose } from '../../src/webhook/endpoint.ts'
import { EVENT_TYPES, renderBody } from '../../src/webhook/event.ts'
import { keepDays } from '../../src/webhook/upkeep/upkeep.ts'
import { createAuthority } from '../../test/support/authority.ts'
import { silent } from '../../test/support/setup.ts'
import { descendants } from '../process.ts'
import { type Child, startChild } from './child.ts'
import type { Ports } from './receiver.ts'
import type { SendOrder } from './sender.ts'

export const ENDPOINTS = 100
/** Endpoints that each of the events made here is owed to. */
const OWED_EACH = 2
const MASTER = 'the master secret of a benchmark, of no other use'
const SECRET = 'a secret that a partner has chosen'

export type Scheme = 'http' | 'https'

/** A receiver's address, registered by an account of its own. */
export type Endpoint = { seq: number; accountId: AccountId; address: string }

/** An event that is owed to some endpoints, by their place in the list. */
export type OwedEvent = { id: string; bookingId: BookingId; body: Buffer; endpoints: readonly number[] }

export type Stage = {
  url: string
  options: ConnectOptions
  database: Database
  postgresPids(): number[]
  receiver: Child
  ports: Ports
  authority: { certificate: string; file: string }
  secret: string
  endpoints: readonly Endpoint[]
  /** Points all endpoints to the receiver's port with TLS, or to the one without. */
  aim(scheme: Scheme): Promise<void>
  urlOf(endpoint: number, scheme: Scheme): string
  /** Starts a sender of this database, over sockets with TLS or plain ones. */
  startSender(scheme: Scheme): Promise<Child>
  close(): Promise<void>
}

/** Opens a stage on a data directory: a new one, or what a server has left. */
export async function openStage(dataDir?: string): Promise<Stage> {
  const directory = dataDir ?? mkdtempSync(join(tmpdir(), 'airside-bench-'))
  chmodSync(directory, 0o711)
  const authority = createAuthority()
  const embedded = await startEmbedded({ dataDir: directory, log: silent, databases: ['airside_intl'] })
  const options = embedded.url('airside_intl')
  await migrate(options)
  const database = connect({ ...options, poolMax: 4, statementTimeoutMs: 120_000, lockTimeoutMs: 60_000 })
  await keepDays(database)
  const receiver = startChild(new URL('receiver.ts', import.meta.url))
  const addresses = Array.from(
    { length: ENDPOINTS },
    (_, i) => `127.0.${1 + Math.floor(i / 250)}.${1 + (i % 250)}`,
  )
  const ports = await receiver.ask<Ports>('open', authority.issue(addresses))
  const endpoints: Endpoint[] = []
  const key = { key: deriveKey(MASTER, secretPurpose('intl')), region: 'intl' as const }
  for (const address of addresses) {
    const id = newId('whk')
    const accountId = newId('acc')
    const [row] = await database.query<{ endpoint: number }>(
      `with made as (
         insert into endpoint (id, account_id, mode, url, events, secret, secret_given) values ($1, $2, 'live', $3, $4, $5, true) returning seq)
       insert into lane (endpoint) select seq from made returning endpoint`,
      [id, accountId, `https://${address}:${ports.tls}/hook`, EVENT_TYPES, sealSecret(key, id, SECRET)],
    )
    endpoints.push({ seq: row!.endpoint, accountId, address })
  }

  return {
    url: options.url,
    options,
    database,
    postgresPids: () => descendants(process.pid).filter(pid => pid !== receiver.pid),
    receiver,
    ports,
    authority,
    secret: SECRET,
    endpoints,
    async aim(scheme) {
      const port = scheme === 'https' ? ports.tls : ports.plain
      await database.query(
        `update endpoint set url = regexp_replace(url, ':\\d+/', ':' || $1::text || '/'), revision = revision + 1`,
        [port],
      )
    },
    urlOf: (endpoint, scheme) =>
      `${scheme}://${endpoints[endpoint]!.address}:${scheme === 'https' ? ports.tls : ports.plain}/hook`,
    async startSender(scheme) {
      const preload = scheme === 'http' ? ['--import', new URL('plaintext.ts', import.meta.url).href] : []
      const sender = startChild(new URL('sender.ts', import.meta.url), preload)
      const order: SendOrder = { url: options.url, secret: MASTER, authority: authority.file }
      await sender.ask('send', order)
      return sender
    },
    async close() {
      await receiver.kill()
      await database.close()
      await embedded.stop()
      authority.discard()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Events of new bookings, each owed to two neighbours among the endpoints from place `first` to before `end`, or to the one there is. */
export function makeEvents(deliveries: number, first = 0, end = ENDPOINTS): OwedEvent[] {
  const among = end - first
  const each = Math.min(OWED_EACH, among)
  return Array.from({ length: deliveries / each }, (_, i) => {
    const id = newId('evt')
    const bookingId = newId('bkg')
    const change = {
      accountId: 'acc_bench' as AccountId,
      mode: 'live' as const,
      bookingId,
      status: 'confirmed',
      recordLocator: 'ABC123',
      version: 2,
      at: new Date(),
    }
    const endpoints = Array.from({ length: each }, (_, k) => first + ((each * i + k) % among))
    return { id, bookingId, body: renderBody(id, 'booking.confirmed', change), endpoints }
  })
}

/** Commits events and what is owed for them, all at once. */
export async function owe({ database, endpoints }: Stage, events: readonly OwedEvent[]): Promise<void> {
  const owed = events.flatMap(event =>
    event.endpoints.map(place => ({ id: event.id, endpoint: endpoints[place]!.seq })),
  )
  await database.query(
    `with made as (
       insert into event (id, account_id, mode, booking_id, version, type, body, owed)
       select id, 'acc_bench', 'live', booking, 2, 'booking.confirmed', body, owed
         from unnest($1::text[], $2::text[], $3::bytea[], $4::int[]) as e(id, booking, body, owed)
       returning seq, id, created_at
     )
     insert into delivery (endpoint, event, event_at)
     select owed.endpoint, made.seq, made.created_at from unnest($5::text[], $6::int[]) as owed(id, endpoint) join made using (id)`,
    [
      events.map(event => event.id),
      events.map(event => event.bookingId),
      events.map(event => event.body),
      events.map(event => event.endpoints.length),
      owed.map(one => one.id),
      owed.map(one => one.endpoint),
    ],
  )
}

/** Waits until these endpoints have nothing queued any more: all is settled. @returns when that was so, by `monotonic` */
export async function settled({ database, endpoints }: Stage, first = 0): Promise<void> {
  const among = endpoints.slice(first).map(endpoint => endpoint.seq)
  for (;;) {
    const rows = await database.query('select 1 from delivery where endpoint = any($1::int[]) limit 1', [
      among,
    ])
    if (rows.length === 0) return
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}

/** Leaves no trace of senders that were killed, of what they had to send and of what they had sent. None may be running. */
export async function clear({ database }: Stage): Promise<void> {
  // A backend ends what it was told before it notices that nobody waits for it.
  const left = `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name ~ '^airside intl (sender|lease)'`
  while ((await database.query(left)).length > 0) await new Promise(resolve => setTimeout(resolve, 10))
  await database.query('delete from worker')
  await database.query('update lane set owner = null, width = 2, failing_since = null, exhausted = 0')
  await database.query('truncate event, delivery, attempt')
  await database.query('vacuum analyze lane')
  await database.query('checkpoint')
}
