import type { Queryable } from '../../db/database.ts'
import type { AccountId, BookingId, EventId, WebhookId } from '../../id.ts'
import type { Mode } from '../../supplier/supplier.ts'
import type { Owner } from '../endpoint.ts'
import type { EventType } from '../event.ts'
import type { Attempt, Delivery, DeliveryState, StoredEvent } from './delivery.ts'

type EventRow = {
  seq: number
  id: EventId
  type: EventType
  booking_id: BookingId | null
  version: number | null
  body: Buffer
  created_at: Date
}

const EVENT_COLUMNS = 'seq, id, type, booking_id, version, body, created_at'

const toEvent = (row: EventRow): StoredEvent => ({
  seq: row.seq,
  id: row.id,
  type: row.type,
  bookingId: row.booking_id ?? undefined,
  version: row.version ?? undefined,
  body: row.body,
  createdAt: row.created_at,
})

/** Which events are asked for; what is undefined does not narrow. */
export type EventFilter = {
  types: readonly EventType[] | undefined
  bookingId: string | undefined
  /** From this instant on. */
  since: Date | undefined
  /** Before this instant. */
  until: Date | undefined
}

/** A page of the owner's events, newest first, after the event `cursor`. */
export async function pageOfEvents(
  db: Queryable,
  owner: Owner,
  filter: EventFilter,
  page: { limit: number; cursor: string | undefined },
): Promise<StoredEvent[]> {
  const rows = await db.query<EventRow>(
    `select ${EVENT_COLUMNS} from event
      where account_id = $1 and mode = $2
        and ($3::text[] is null or type = any($3)) and ($4::text is null or booking_id = $4)
        and ($5::timestamptz is null or created_at >= $5) and ($6::timestamptz is null or created_at < $6)
        and ($7::text is null or seq < (select seq from event where account_id = $1 and mode = $2 and id = $7))
      order by seq desc limit $8`,
    [
      owner.accountId,
      owner.mode,
      filter.types,
      filter.bookingId,
      filter.since,
      filter.until,
      page.cursor,
      page.limit,
    ],
  )
  return rows.map(toEvent)
}

/** One of the owner's events. */
export async function findEvent(db: Queryable, owner: Owner, id: string): Promise<StoredEvent | undefined> {
  const [row] = await db.query<EventRow>(
    `select ${EVENT_COLUMNS} from event where account_id = $1 and mode = $2 and id = $3`,
    [owner.accountId, owner.mode, id],
  )
  return row && toEvent(row)
}

/** Whose an event is, for the operator. */
export async function ownerOfEvent(db: Queryable, id: string): Promise<Owner | undefined> {
  const [row] = await db.query<{ account_id: AccountId; mode: Mode }>(
    'select account_id, mode from event where id = $1',
    [id],
  )
  return row && { accountId: row.account_id, mode: row.mode }
}

/** A delivery without its attempts, and where it stands in a list. */
type DeliveryRow = {
  endpoint: number
  webhook: WebhookId
  url: string
  event: number
  event_id: EventId
  type: EventType
  booking_id: BookingId | null
  event_at: Date
  series: number
  due_at: Date | null
  /** When it ended, as PostgreSQL writes it. */
  ended: string | null
  reason: string | null
}

const DELIVERY_COLUMNS = `e.seq as endpoint, e.id as webhook, e.url, ev.seq as event, ev.id as event_id, ev.type, ev.booking_id,
  ev.created_at as event_at`

/** Deliveries that are not ended, newest event first, after the event `afterEvent`. */
export async function pendingDeliveries(
  db: Queryable,
  owner: Owner,
  webhookId: string,
  afterEvent: string | undefined,
  limit: number,
): Promise<DeliveryRow[]> {
  return db.query(
    `select ${DELIVERY_COLUMNS}, d.series, d.due_at, null as ended, null as reason
       from endpoint e join delivery d on d.endpoint = e.seq join event ev on ev.seq = d.event
      where e.id = $3 and e.account_id = $1 and e.mode = $2 and e.deleted_at is null
        and ($4::text is null or d.event < (select seq from event where account_id = $1 and mode = $2 and id = $4))
      order by d.event desc limit $5`,
    [owner.accountId, owner.mode, webhookId, afterEvent, limit],
  )
}

/** Deliveries that have ended, the latest first, after the one that ended at `after.ended` with the event `after.event`. */
export async function endedDeliveries(
  db: Queryable,
  owner: Owner,
  webhookId: string,
  state: Exclude<DeliveryState, 'pending'> | undefined,
  after: { ended: string; event: string } | undefined,
  limit: number,
): Promise<DeliveryRow[]> {
  return db.query(
    `select ${DELIVERY_COLUMNS}, a.series, null as due_at, a.started_at::text as ended, a.reason
       from endpoint e join attempt a on a.endpoint = e.seq join event ev on ev.seq = a.event
      where e.id = $3 and e.account_id = $1 and e.mode = $2 and e.deleted_at is null and a.final
        and ($4::text is null or (a.reason is null) = ($4 = 'delivered'))
        and ($5::timestamptz is null or (a.started_at, a.event)
             < ($5, coalesce((select seq from event where account_id = $1 and mode = $2 and id = $6), 0)))
      order by a.started_at desc, a.event desc limit $7`,
    [owner.accountId, owner.mode, webhookId, state, after?.ended, after?.event, limit],
  )
}

/** What the owner's endpoints are owed of one event, or were: of each the latest series. */
export async function deliveriesOfEvent(db: Queryable, owner: Owner, id: string): Promise<DeliveryRow[]> {
  return db.query(
    `select distinct on (e.seq) ${DELIVERY_COLUMNS}, x.series, x.due_at, x.ended, x.reason
       from event ev join endpoint e on e.account_id = ev.account_id and e.mode = ev.mode and e.deleted_at is null
      cross join lateral (
        select d.series, d.due_at, null as ended, null as reason from delivery d where d.endpoint = e.seq and d.event = ev.seq
        union all
        select a.series, null, a.started_at::text, a.reason from attempt a
         where a.endpoint = e.seq and a.event = ev.seq and a.final and a.started_at >= ev.created_at - interval '1 minute') x
      where ev.account_id = $1 and ev.mode = $2 and ev.id = $3
      order by e.seq, x.series desc`,
    [owner.accountId, owner.mode, id],
  )
}

type AttemptRow = {
  endpoint: number
  event: number
  series: number
  n: number
  started_at: Date
  dns_ms: number | null
  connect_ms: number | null
  tls_ms: number | null
  headers_ms: number | null
  peer: string | null
  tls: string | null
  status: number | null
  reason: string | null
  answer: Buffer | null
  cut: boolean
  stale: boolean
}

/** Adds to deliveries, which the caller found to be its own, what was tried for each. */
export async function withAttempts(db: Queryable, rows: readonly DeliveryRow[]): Promise<Delivery[]> {
  if (rows.length === 0) return []
  const oldest = Math.min(...rows.map(row => row.event_at.getTime()))
  const attempts = await db.query<AttemptRow>(
    `select a.endpoint, a.event, a.series, a.n, a.started_at, a.dns_ms, a.connect_ms, a.tls_ms, a.headers_ms, a.peer, a.tls, a.status,
       a.reason, a.answer, a.cut, a.stale
       from attempt a
      where a.endpoint = any($1::int[]) and a.event = any($2::bigint[]) and a.started_at >= $3
      order by a.started_at, a.n`,
    [
      [...new Set(rows.map(row => row.endpoint))],
      rows.map(row => row.event),
      new Date(oldest - CLOCK_SLACK_MS),
    ],
  )
  const key = (of: { endpoint: number; event: number; series: number }) =>
    `${of.endpoint} ${of.event} ${of.series}`
  const byDelivery = Map.groupBy(attempts, key)
  return rows.map(row => ({
    webhookId: row.webhook,
    url: row.url,
    eventId: row.event_id,
    type: row.type,
    bookingId: row.booking_id ?? undefined,
    series: row.series,
    state: row.ended === null ? 'pending' : row.reason === null ? 'delivered' : 'exhausted',
    eventAt: row.event_at,
    nextAttemptAt: row.due_at ?? undefined,
    attempts: (byDelivery.get(key(row)) ?? []).map(toAttempt),
  }))
}

/** The start of an attempt is reckoned back from when it was written. */
const CLOCK_SLACK_MS = 60_000

const toAttempt = (row: AttemptRow): Attempt => ({
  n: row.n,
  startedAt: row.started_at,
  dnsMs: row.dns_ms ?? undefined,
  connectMs: row.connect_ms ?? undefined,
  tlsMs: row.tls_ms ?? undefined,
  headersMs: row.headers_ms ?? undefined,
  peer: row.peer ?? undefined,
  tls: row.tls ?? undefined,
  status: row.status ?? undefined,
  reason: row.reason ?? undefined,
  answer: row.answer ?? undefined,
  cut: row.cut,
  stale: row.stale,
})

/** The last number that was handed out to an event, seen or not yet, and the oldest transaction that is still running. */
export async function readHead(db: Queryable): Promise<{ last: number; oldest: bigint }> {
  const [row] = await db.query<{ last: number; oldest: string }>(
    `select (select case when is_called then last_value else 0 end from event_seq_seq) as last,
       pg_snapshot_xmin(pg_current_snapshot())::text as oldest`,
  )
  return { last: row!.last, oldest: BigInt(row!.oldest) }
}

/** A number above those of all transactions that have begun to write: it is taken, for a snapshot alone does not tell. */
export async function takeTransactionNumber(db: Queryable): Promise<bigint> {
  const [row] = await db.query<{ number: string }>('select pg_current_xact_id()::text as number')
  return BigInt(row!.number)
}

/** The owner's events above `floor` but for those in `seen`, oldest first. */
export async function eventsAbove(
  db: Queryable,
  owner: Owner,
  types: readonly EventType[] | undefined,
  floor: number,
  seen: readonly number[],
  limit: number,
): Promise<StoredEvent[]> {
  const rows = await db.query<EventRow>(
    `select ${EVENT_COLUMNS} from event
      where account_id = $1 and mode = $2 and seq > $3 and seq <> all($4::bigint[]) and ($5::text[] is null or type = any($5))
      order by seq limit $6`,
    [owner.accountId, owner.mode, floor, seen, types, limit],
  )
  return rows.map(toEvent)
}

/** Numbers of the owner's events above `floor` that can be seen now; only those that happened before an instant, if one is given. */
export async function seqsAbove(
  db: Queryable,
  owner: Owner,
  floor: number,
  before: Date | undefined,
): Promise<number[]> {
  const rows = await db.query<{ seq: number }>(
    `select seq from event
      where account_id = $1 and mode = $2 and seq > $3 and ($4::timestamptz is null or created_at < $4) order by seq`,
    [owner.accountId, owner.mode, floor, before],
  )
  return rows.map(row => row.seq)
}
