import { createHmac, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSecureContext, rootCertificates } from 'node:tls'
import { Webhook } from 'standardwebhooks'
import { connect, type Database } from '../../src/db/database.ts'
import { type AccountId, type BookingId, newId, type WebhookId } from '../../src/id.ts'
import { createLog } from '../../src/log.ts'
import { deriveKey } from '../../src/secret.ts'
import type { Mode } from '../../src/supplier/supplier.ts'
import { networks } from '../../src/webhook/address.ts'
import { type Engine, type EngineNeeds, startEngine } from '../../src/webhook/delivery/engine.ts'
import { type SecretKey, sealSecret, secretPurpose } from '../../src/webhook/endpoint.ts'
import { EVENT_TYPES, type EventType } from '../../src/webhook/event.ts'
import { publish } from '../../src/webhook/publish.ts'
import { createResolver } from '../../src/webhook/resolve.ts'
import { audit, endClosed, keepDays } from '../../src/webhook/upkeep/upkeep.ts'
import { dueIn } from '../../src/webhook/wake.ts'
import { type Authority, createAuthority } from '../support/authority.ts'
import { cloneDatabase, type TestDatabase } from '../support/postgres.ts'
import type { Receipt } from '../support/receiver.ts'
import { type SenderOrder, type SenderProcess, startSenderProcess } from '../support/sender-process.ts'

export const MASTER = 'a master secret for the tests of webhooks'
export const SECRET_KEY: SecretKey = { key: deriveKey(MASTER, secretPurpose('intl')), region: 'intl' }
/** Short waits, where a test does not measure them. */
const RETRY_MS = [300, 600, 1200]
export const LOOPBACK = ['127.0.0.0/8']

/** A database, an authority, and engines. */
export type Desk = {
  database: Database
  clone: TestDatabase
  authority: Authority
  account: AccountId
  /** Starts a sender; more than one may share the database. */
  engine(
    needs?: Partial<EngineNeeds> & { dns?: readonly string[]; allow?: readonly string[] },
  ): Promise<Engine>
  /** Registers an endpoint by hand; its number and secret. */
  endpoint(url: string, options?: EndpointOptions): Promise<{ seq: number; id: WebhookId; secret: string }>
  /** Publishes events in one transaction and wakes the engines; their bookings. */
  publish(count?: number, type?: EventType): Promise<BookingId[]>
  attempts(endpoint: number): Promise<AttemptRow[]>
  live(endpoint?: number): Promise<number>
  unaccounted(): Promise<number>
  /** A sender as a process of its own, which is killed with the test if it still lives. */
  process(order?: Partial<SenderOrder>): Promise<SenderProcess>
  /** Stops all senders, and closes and ends all there is: for the end of a test, however it ended. */
  quiet(): Promise<void>
  close(): Promise<void>
}

export type EndpointOptions = {
  secret?: string
  given?: boolean
  events?: readonly EventType[]
  mode?: Mode
  sealed?: Buffer
}

export type AttemptRow = {
  id: string
  series: number
  n: number
  started_at: Date
  status: number | null
  reason: string | null
  peer: string | null
  tls: string | null
  dns_ms: number | null
  connect_ms: number | null
  tls_ms: number | null
  headers_ms: number | null
  answer: Buffer | null
  cut: boolean
  stale: boolean
  final: boolean
}

const log = createLog('silent', 'test')

/** Opens a desk, to be closed after the file's tests. */
export async function openDesk(): Promise<Desk> {
  const clone = await cloneDatabase()
  const authority = createAuthority()
  const engines: Engine[] = []
  const closers: (() => Promise<void>)[] = []
  const processes: SenderProcess[] = []
  async function stopAll(): Promise<void> {
    for (const sender of processes.splice(0)) await sender.kill()
    await Promise.all(engines.splice(0).map(engine => engine.stop()))
  }
  const database = connect({
    ...clone.options,
    committed: notes => {
      for (const engine of engines) engine.due(dueIn(notes))
    },
  })
  await keepDays(database)
  const account = newId('acc')

  return {
    database,
    clone,
    authority,
    account,
    async engine({ dns, allow, ...needs } = {}) {
      const own = connect({ ...clone.options, poolMax: 4, byIndexOnly: true })
      const lease = connect({ ...clone.options, poolMax: 1 })
      closers.push(async () => void (await Promise.all([own.close(), lease.close()])))
      const engine = await startEngine({
        database: own,
        leaseDatabase: lease,
        secretKey: SECRET_KEY,
        brand: 'Airside',
        retryMs: RETRY_MS,
        reach: reachOf(authority, allow ?? LOOPBACK, dns),
        log,
        makeDays: () => keepDays(database),
        ...needs,
      })
      engines.push(engine)
      const stop = engine.stop
      let stopped: Promise<void> | undefined
      engine.stop = () => (stopped ??= stop())
      return engine
    },
    endpoint: (url, options) => addEndpoint(database, account, url, options),
    async publish(count = 1, type = 'booking.confirmed') {
      const ids = Array.from({ length: count }, () => newId('bkg'))
      await database.transaction(async tx => {
        for (const bookingId of ids) await publish(tx, changeOf(account, bookingId), type)
      })
      return ids
    },
    attempts: endpoint =>
      database.query<AttemptRow>(
        'select e.id, a.* from attempt a join event e on e.seq = a.event where a.endpoint = $1 order by a.event, a.series, a.started_at',
        [endpoint],
      ),
    async live(endpoint) {
      const [row] = await database.query<{ n: number }>(
        'select count(*)::int as n from delivery where $1::int is null or endpoint = $1',
        [endpoint ?? null],
      )
      return row!.n
    },
    unaccounted: () => audit(database),
    async process(order = {}) {
      const { url } = clone.options
      const sender = await startSenderProcess({
        url,
        certificate: authority.certificate,
        retryMs: RETRY_MS,
        ...order,
      })
      processes.push(sender)
      return sender
    },
    async quiet() {
      await stopAll()
      await database.query("update lane set state = 'closed' where state <> 'closed'")
      await endClosed(database)
    },
    async close() {
      await stopAll()
      await Promise.all(closers.map(close => close()))
      await database.close()
      await clone.drop()
      authority.discard()
    },
  }
}

export function changeOf(accountId: AccountId, bookingId: BookingId, version = 2) {
  return {
    accountId,
    mode: 'live' as Mode,
    bookingId,
    status: 'confirmed',
    recordLocator: 'ABC123',
    version,
    at: new Date(),
  }
}

export function reachOf(
  authority: Pick<Authority, 'certificate'>,
  allow: readonly string[],
  dns: readonly string[] = [],
): EngineNeeds['reach'] {
  return {
    resolver: createResolver(dns),
    allow: networks(allow),
    secure: createSecureContext({ ca: [...rootCertificates, authority.certificate], minVersion: 'TLSv1.2' }),
  }
}

export async function addEndpoint(
  database: Database,
  account: AccountId,
  url: string,
  {
    secret = 'a shared secret',
    given = true,
    events = EVENT_TYPES,
    mode = 'live',
    sealed,
  }: EndpointOptions = {},
): Promise<{ seq: number; id: WebhookId; secret: string }> {
  const id = newId('whk')
  const [row] = await database.query<{ endpoint: number }>(
    `with made as (
       insert into endpoint (id, account_id, mode, url, events, secret, secret_given) values ($1, $2, $3, $4, $5, $6, $7) returning seq)
     insert into lane (endpoint) select seq from made returning endpoint`,
    [id, account, mode, url, events, sealed ?? sealSecret(SECRET_KEY, id, secret), given],
  )
  return { seq: row!.endpoint, id, secret }
}

/** Waits until something is so. @throws Error with what it waited for */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 15_000,
): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`)
    await sleep(5)
  }
}

/** Verifies a receipt as a partner would, in both schemes. @throws Error unless both hold */
export function verify(receipt: Receipt, secret: string): Record<string, unknown> {
  const { headers, body } = receipt
  const want = createHmac('sha256', secret).update(body).digest()
  if (!timingSafeEqual(want, Buffer.from(headers['x-airside-signature']!, 'hex')))
    throw new Error('the contract’s signature is wrong')
  return verifyStandard(receipt, secret)
}

/** Verifies the Standard Webhooks signature alone. */
export function verifyStandard({ headers, body }: Receipt, secret: string): Record<string, unknown> {
  const key = secret.startsWith('whsec_') ? secret : Buffer.from(secret, 'utf8').toString('base64')
  return new Webhook(key).verify(body.toString('utf8'), headers as Record<string, string>) as Record<
    string,
    unknown
  >
}
