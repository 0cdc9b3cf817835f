import type { Queryable, Transaction } from '../../db/database.ts'
import type { AccountId, EventId, WebhookId } from '../../id.ts'
import type { Mode } from '../../supplier/supplier.ts'
import type { Change, EventType } from '../event.ts'

/**
 * Writes an event and a delivery for every open endpoint of the account and mode that asked for its type; returns those endpoints' numbers.
 * No lane is touched and nothing is notified: both would make bookings wait for each other.
 */
export async function insertEvent(
  tx: Transaction,
  id: EventId,
  change: Change,
  type: EventType,
  body: Buffer,
): Promise<number[]> {
  const rows = await tx.query<{ endpoint: number }>(
    `with subscribed as (
       select e.seq from endpoint e join lane l on l.endpoint = e.seq
        where e.account_id = $2 and e.mode = $3 and e.deleted_at is null and l.state = 'open' and $6 = any(e.events)
     ), made as (
       insert into event (id, account_id, mode, booking_id, version, type, body, owed)
       values ($1, $2, $3, $4, $5, $6, $7, (select count(*) from subscribed))
       returning seq, created_at
     )
     insert into delivery (endpoint, event, event_at)
     select subscribed.seq, made.seq, made.created_at from subscribed, made
     returning endpoint`,
    [id, change.accountId, change.mode, change.bookingId, change.version, type, body],
  )
  return rows.map(row => row.endpoint)
}

/** Writes a test event and its one delivery. */
export async function insertTestEvent(
  tx: Transaction,
  id: EventId,
  owner: { accountId: AccountId; mode: Mode },
  endpoint: number,
  type: EventType,
  body: Buffer,
): Promise<void> {
  await tx.query(
    `with made as (
       insert into event (id, account_id, mode, type, body, owed) values ($1, $2, $3, $4, $5, 1) returning seq, created_at
     )
     insert into delivery (endpoint, event, event_at) select $6, seq, created_at from made`,
    [id, owner.accountId, owner.mode, type, body, endpoint],
  )
}

/** Tells whoever listens on a channel. */
export async function notify(db: Queryable, channel: string, payload: string): Promise<void> {
  await db.query('select pg_notify($1, $2)', [channel, payload])
}

/** Takes a lease of `leaseMs` for a new sender; returns its number and the database's clock, in milliseconds since 1970. */
export async function insertWorker(db: Queryable, leaseMs: number): Promise<{ id: number; now: number }> {
  const [row] = await db.query<{ id: number; now: number }>(
    `insert into worker (lease_until) values (now() + make_interval(secs => $1 / 1000.0)) returning id, ${NOW_MS} as now`,
    [leaseMs],
  )
  return row!
}

const NOW_MS = `(extract(epoch from clock_timestamp()) * 1000)::float8`

/** Renews a lease that has not run out; undefined when it has, or was found run out by another sender. */
export async function renewLease(
  db: Queryable,
  worker: number,
  leaseMs: number,
): Promise<number | undefined> {
  const [row] = await db.query<{ now: number }>(
    `update worker set lease_until = now() + make_interval(secs => $2 / 1000.0) where id = $1 and lease_until > now()
     returning ${NOW_MS} as now`,
    [worker, leaseMs],
  )
  return row?.now
}

/** Removes senders whose lease has run out: their lanes are free then, and a late renewal finds nothing. */
export async function buryWorkers(db: Queryable): Promise<number[]> {
  const rows = await db.query<{ id: number }>('delete from worker where lease_until < now() returning id')
  return rows.map(row => row.id)
}

/** Gives up a sender's lease and all its lanes. */
export async function deleteWorker(db: Queryable, worker: number): Promise<void> {
  await db.query(
    `with gone as (delete from worker where id = $1)
     update lane set owner = null where owner = $1`,
    [worker],
  )
}

/**
 * Open lanes with something due that nobody alive holds, or that `worker` holds itself. A loose index scan: it steps from endpoint to endpoint
 * through the index, so a million rows behind one of them cost as much as one.
 */
export async function dueLanes(db: Queryable, worker: number): Promise<number[]> {
  const rows = await db.query<{ endpoint: number }>(
    `with recursive head as (
       (select endpoint, due_at from delivery order by endpoint, due_at, event limit 1)
       union all
       select next.endpoint, next.due_at from head, lateral (
         select endpoint, due_at from delivery where endpoint > head.endpoint order by endpoint, due_at, event limit 1) next
     )
     select head.endpoint
       from head join lane l on l.endpoint = head.endpoint left join worker w on w.id = l.owner
      where head.due_at <= now() and l.state = 'open' and (w.id is null or w.id = $1)`,
    [worker],
  )
  return rows.map(row => row.endpoint)
}

/** A lane as its new owner gets it, with what it takes to send. */
export type LaneRow = {
  endpoint: number
  epoch: number
  width: number
  id: WebhookId
  url: string
  revision: number
  secret: Buffer
  secret_given: boolean
  previous_secret: Buffer | null
  previous_given: boolean | null
  /** Milliseconds since 1970. */
  cut_over: number | null
}

const ENDPOINT_COLUMNS = `e.id, e.url, e.revision, e.secret, e.secret_given, e.previous_secret, e.previous_given,
  (extract(epoch from e.cut_over_at) * 1000)::float8 as cut_over`

/** Takes those of the lanes that are open and that nobody alive holds. */
export async function claimLanes(
  db: Queryable,
  worker: number,
  endpoints: readonly number[],
): Promise<LaneRow[]> {
  return db.query(
    `update lane l set owner = $1, epoch = l.epoch + 1
       from endpoint e
      where e.seq = l.endpoint and exists (select from worker where id = $1)
        and l.endpoint in (
          select c.endpoint from lane c
           where c.endpoint = any($2::int[]) and c.state = 'open'
             and (c.owner is null or not exists (select from worker w where w.id = c.owner))
           order by c.endpoint for update skip locked)
     returning l.endpoint, l.epoch, l.width, ${ENDPOINT_COLUMNS}`,
    [worker, endpoints],
  )
}

/** What of the lanes held is not as their owner knows it: lost, closed, disabled (`held` false), or with an endpoint that was changed. */
export async function changedLanes(
  db: Queryable,
  worker: number,
  lanes: readonly { endpoint: number; epoch: number; revision: number }[],
): Promise<(LaneRow & { held: boolean })[]> {
  return db.query(
    `select k.endpoint, k.epoch, l.width, ${ENDPOINT_COLUMNS}, (l.owner = $1 and l.epoch = k.epoch and l.state = 'open') is true as held
       from unnest($2::int[], $3::bigint[], $4::int[]) as k(endpoint, epoch, revision)
       join lane l on l.endpoint = k.endpoint join endpoint e on e.seq = k.endpoint
      where l.owner is distinct from $1 or l.epoch <> k.epoch or l.state <> 'open' or e.revision <> k.revision`,
    [worker, lanes.map(l => l.endpoint), lanes.map(l => l.epoch), lanes.map(l => l.revision)],
  )
}

/** Lets go of lanes. A closed one has a newer epoch and is let go of as well: whoever closed it waits for that. */
export async function releaseLanes(
  db: Queryable,
  worker: number,
  endpoints: readonly number[],
): Promise<void> {
  await db.query('update lane set owner = null where owner = $1 and endpoint = any($2::int[])', [
    worker,
    endpoints,
  ])
}

/** Lanes that a sender holds in the database and does not know of. */
export async function unknownLanes(
  db: Queryable,
  worker: number,
  known: readonly number[],
): Promise<number[]> {
  const rows = await db.query<{ endpoint: number }>(
    'select endpoint from lane where owner = $1 and not (endpoint = any($2::int[]))',
    [worker, known],
  )
  return rows.map(row => row.endpoint)
}

/** A delivery that is due, with the bytes to send. */
export type DueRow = {
  endpoint: number
  event: number
  id: EventId
  body: Buffer
  /** As PostgreSQL writes it: a Date would lose its microseconds. */
  event_at: string
  series: number
  attempt: number
  gone: number
  /** Milliseconds since the event was written, and since the attempt was due. */
  age_ms: number
  late_ms: number
}

/** What is due on some lanes, the longest due first, up to the room each has, leaving out what is read and not settled yet. */
export async function readDue(
  db: Queryable,
  lanes: readonly { endpoint: number; room: number; unsettled: ReadonlySet<number> }[],
): Promise<DueRow[]> {
  return db.query(
    `select d.endpoint, d.event, e.id, e.body, d.event_at::text, d.series, d.attempt, d.gone,
            (extract(epoch from clock_timestamp() - d.event_at) * 1000)::float8 as age_ms,
            (extract(epoch from clock_timestamp() - d.due_at) * 1000)::float8 as late_ms
       from unnest($1::int[], $2::int[], $3::text[]) as l(endpoint, room, unsettled)
      cross join lateral (
        select * from delivery d
         where d.endpoint = l.endpoint and d.due_at <= now() and d.event <> all (l.unsettled::bigint[])
         order by d.due_at, d.event limit l.room) d
       join event e on e.seq = d.event`,
    [
      lanes.map(lane => lane.endpoint),
      lanes.map(lane => lane.room),
      lanes.map(lane => `{${[...lane.unsettled].join(',')}}`),
    ],
  )
}

/** What came of one attempt, ready to be written. */
export type ResultRow = {
  /** Who held the lane when it was read, and under which epoch. */
  worker: number
  endpoint: number
  epoch: number
  event: number
  eventAt: string
  series: number
  n: number
  verdict: 'delivered' | 'again' | 'exhausted'
  /** Wait before the next attempt, in milliseconds; with `again` only. */
  waitMs: number
  /** How wide the lane is now. */
  width: number
  /** When the attempt began, by this machine's monotonic clock. */
  startedAt: number
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
  headersMs: number | null
  peer: string | null
  tls: string | null
  status: number | null
  reason: string | null
  answer: Buffer | null
  cut: boolean
}

/**
 * Settles a batch in one statement. Only results of lanes that their worker still holds under the epoch they were read with change anything: those
 * lanes are locked against changing hands until it commits. All are logged, the others as stale; returns endpoint and epoch of those. Losing this
 * commit only repeats deliveries, so it is not waited for on disk.
 */
export async function settleResults(
  db: Queryable,
  results: readonly ResultRow[],
): Promise<{ endpoint: number; epoch: number }[]> {
  const column = <K extends keyof ResultRow>(name: K) => results.map(result => result[name])
  const now = performance.now()
  return db.query(
    `with quick as materialized (select set_config('synchronous_commit', 'off', true)),
     r as materialized (
       select r.* from quick, unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::int[], $7::smallint[],
           $8::text[], $9::float8[], $10::smallint[], $11::float8[], $12::real[], $13::real[], $14::real[], $15::real[], $16::text[],
           $17::text[], $18::smallint[], $19::text[], $20::bytea[], $21::boolean[])
         as r(worker, endpoint, epoch, event, event_at, series, n, verdict, wait_ms, width, ago_ms, dns_ms, connect_ms, tls_ms, headers_ms,
           peer, tls, status, reason, answer, cut)
     ), own as materialized (
       select endpoint, epoch from lane
        where (endpoint, epoch, owner) in (select endpoint, epoch, worker from r)
        order by endpoint for share
     ), ended as (
       delete from delivery d using r, own
        where own.endpoint = r.endpoint and own.epoch = r.epoch and r.verdict <> 'again'
          and d.endpoint = r.endpoint and d.event = r.event and d.series = r.series and d.attempt = r.n
       returning d.endpoint, r.epoch, d.event
     ), postponed as (
       update delivery d set attempt = d.attempt + 1, gone = d.gone + case when r.status = 410 then 1 else 0 end,
              due_at = now() + make_interval(secs => r.wait_ms / 1000.0)
         from r, own
        where own.endpoint = r.endpoint and own.epoch = r.epoch and r.verdict = 'again'
          and d.endpoint = r.endpoint and d.event = r.event and d.series = r.series and d.attempt = r.n
       returning d.endpoint, r.epoch, d.event
     ), lanes as (
       update lane l set width = s.width,
              failing_since = case when s.good then null else coalesce(l.failing_since, now()) end,
              exhausted = case when s.good then 0 else l.exhausted + s.exhausted end,
              noticed_at = case when s.good then null else l.noticed_at end,
              last_success_at = case when s.good then now() else l.last_success_at end
         from (select own.endpoint, (array_agg(r.width order by r.ago_ms))[1] as width, bool_or(r.verdict = 'delivered') as good,
                      count(*) filter (where r.verdict = 'exhausted')::int as exhausted
                 from own join r using (endpoint, epoch) group by own.endpoint) s
        where l.endpoint = s.endpoint
          and (l.width <> s.width or s.exhausted > 0
            or s.good and (l.failing_since is not null or l.last_success_at is null or l.last_success_at < now() - interval '10 s')
            or not s.good and l.failing_since is null)
     ), judged as materialized (
       select r.*, ended.event is not null as final, ended.event is null and postponed.event is null as stale
         from r left join ended using (endpoint, epoch, event) left join postponed using (endpoint, epoch, event)
     ), logged as (
       insert into attempt (endpoint, event, event_at, series, n, started_at, dns_ms, connect_ms, tls_ms, headers_ms, peer, tls, status, reason,
              answer, cut, final, stale)
       select endpoint, event, event_at, series, n, clock_timestamp() - make_interval(secs => ago_ms / 1000.0), dns_ms, connect_ms, tls_ms,
              headers_ms, peer, tls, status, reason, answer, cut, final, stale
         from judged
     )
     select distinct endpoint, epoch from judged where stale`,
    [
      column('worker'),
      column('endpoint'),
      column('epoch'),
      column('event'),
      column('eventAt'),
      column('series'),
      column('n'),
      column('verdict'),
      column('waitMs'),
      column('width'),
      results.map(result => now - result.startedAt),
      column('dnsMs'),
      column('connectMs'),
      column('tlsMs'),
      column('headersMs'),
      column('peer'),
      column('tls'),
      column('status'),
      column('reason'),
      column('answer'),
      column('cut'),
    ],
  )
}

/** Closes an open or disabled endpoint; its owner's results settle nothing any more. False when it was closed before. */
export async function closeLane(db: Queryable, endpoint: number): Promise<boolean> {
  const rows = await db.query(
    `with closed as (
       update lane set state = 'closed', epoch = epoch + 1, closed_at = now() where endpoint = $1 and state <> 'closed' returning endpoint)
     update endpoint set deleted_at = now() from closed where seq = closed.endpoint returning 1`,
    [endpoint],
  )
  return rows.length === 1
}

/** Whether no sender alive holds the lane. */
export async function isLetGo(db: Queryable, endpoint: number): Promise<boolean> {
  const rows = await db.query(
    `select from lane l join worker w on w.id = l.owner where l.endpoint = $1 and w.lease_until > now()`,
    [endpoint],
  )
  return rows.length === 0
}

/** Disables an open lane; its rows are ended by the upkeep. */
export async function disableLane(
  db: Queryable,
  endpoint: number,
  reason: 'gone' | 'operator',
): Promise<boolean> {
  const rows = await db.query(
    `update lane set state = 'disabled', epoch = epoch + 1, disabled_at = now(), disabled_reason = $2
      where endpoint = $1 and state = 'open' returning 1`,
    [endpoint, reason],
  )
  return rows.length === 1
}
