import type { Queryable } from '../../db/database.ts'

/** The days of the attempt log that there are, as YYYY-MM-DD. */
export async function logDays(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ day: string }>(
    `select to_char(to_date(right(c.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'attempt'::regclass and c.relname ~ '^attempt_\\d{8}$' order by 1`,
  )
  return rows.map(row => row.day)
}

/** The database's date in UTC. */
export async function today(db: Queryable): Promise<string> {
  const [row] = await db.query<{ day: string }>(
    `select to_char(now() at time zone 'utc', 'YYYY-MM-DD') as day`,
  )
  return row!.day
}

const table = (day: string) => `attempt_${day.replaceAll('-', '')}`

/**
 * Makes one day of the attempt log, unless it is there. Not for use within a transaction: of two servers that make it at the same moment one is
 * told that it exists, `if not exists` or not.
 * @param day YYYY-MM-DD, in UTC
 */
export async function makeDay(db: Queryable, day: string, next: string): Promise<void> {
  try {
    await db.query(
      `create table if not exists ${table(day)} partition of attempt for values from ('${day} 00:00:00+00') to ('${next} 00:00:00+00')`,
    )
  } catch (error) {
    const { code } = error as { code?: string }
    if (code !== DUPLICATE_TABLE && code !== UNIQUE_VIOLATION) throw error
  }
}

const DUPLICATE_TABLE = '42P07'
const UNIQUE_VIOLATION = '23505'

/** Takes one day out of the attempt log, without keeping anybody from it, and drops it. */
export async function dropDay(db: Queryable, day: string): Promise<void> {
  await db.query(`alter table attempt detach partition ${table(day)} concurrently`)
  await db.query(`drop table ${table(day)}`)
}

/** Ends up to `limit` deliveries of lanes that are closed or disabled, with that reason. Returns how many. */
export async function endDeliveries(db: Queryable, limit: number): Promise<number> {
  const [row] = await db.query<{ ended: number }>(
    `with doomed as (
       select d.endpoint, d.event, l.state
         from (select endpoint, state from lane where state <> 'open') l
        cross join lateral (select endpoint, event from delivery where endpoint = l.endpoint limit $1 for update skip locked) d
        limit $1
     ), ended as (
       delete from delivery d using doomed where d.endpoint = doomed.endpoint and d.event = doomed.event
       returning d.*, doomed.state
     ), logged as (
       insert into attempt (endpoint, event, event_at, series, n, started_at, reason, final)
       select endpoint, event, event_at, series, attempt - 1, clock_timestamp(), case state when 'closed' then 'endpoint_deleted' else 'endpoint_disabled' end, true
         from ended
       returning 1
     )
     select count(*)::int as ended from logged`,
    [limit],
  )
  return row!.ended
}

/** Disables open lanes that have failed for so long and exhausted so many deliveries; returns their endpoints. */
export async function disableFailing(
  db: Queryable,
  hours: number,
  exhausted: number,
): Promise<{ seq: number; id: string }[]> {
  return db.query(
    `update lane l set state = 'disabled', epoch = epoch + 1, disabled_at = now(), disabled_reason = 'failing'
       from endpoint e
      where e.seq = l.endpoint and l.state = 'open' and l.failing_since < now() - make_interval(hours => $1) and l.exhausted >= $2
     returning e.seq, e.id`,
    [hours, exhausted],
  )
}

/** Notes once that a lane has failed for so long; returns the endpoints newly noted. */
export async function noticeFailing(
  db: Queryable,
  hours: number,
): Promise<{ id: string; failing_since: Date }[]> {
  return db.query(
    `update lane l set noticed_at = now() from endpoint e
      where e.seq = l.endpoint and l.state = 'open' and l.noticed_at is null and l.failing_since < now() - make_interval(hours => $1)
     returning e.id, l.failing_since`,
    [hours],
  )
}

/** Forgets up to `limit` events that are older than the log that tells of them, and owed to nobody. */
export async function deleteEvents(db: Queryable, olderThanDays: number, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from event where seq in (
       select e.seq from event e
        where e.created_at < now() - make_interval(days => $1) and not exists (select from delivery d where d.event = e.seq)
        order by e.created_at limit $2)
     returning 1`,
    [olderThanDays, limit],
  )
  return rows.length
}

/** Forgets endpoints that were deleted so long ago that nothing tells of them any more. */
export async function deleteEndpoints(db: Queryable, olderThanDays: number): Promise<void> {
  await db.query(
    `delete from endpoint e where e.deleted_at < now() - make_interval(days => $1)
        and not exists (select from delivery d where d.endpoint = e.seq)`,
    [olderThanDays],
  )
}

/**
 * Counts, in one snapshot, what is owed by the events of every hour not audited for good yet, against what is still queued and what has ended.
 * The first deliveries only: redeliveries were never owed.
 * @param since the first day of which the log is whole
 */
export async function countOwed(
  db: Queryable,
  since: string,
): Promise<{ hour: Date; owed: number; live: number; final: number; closable: boolean }[]> {
  return db.query(
    `with hours as (
       select h as hour from generate_series(
         date_trunc('hour', greatest($1::timestamptz, (select min(created_at) from event)), 'UTC'), now(), interval '1 hour') h
        where not exists (select from audited_hour a where a.hour = h)
     ), span as (select min(hour) as first from hours),
     owed as (
       select date_trunc('hour', created_at, 'UTC') as hour, sum(owed) as n from event, span where created_at >= span.first group by 1
     ), live as (
       select date_trunc('hour', event_at, 'UTC') as hour, count(*) as n from delivery, span where series = 0 and event_at >= span.first group by 1
     ), final as (
       select date_trunc('hour', event_at, 'UTC') as hour, count(*) as n from attempt, span
        where final and series = 0 and event_at >= span.first and started_at >= span.first group by 1
     )
     select hours.hour, coalesce(owed.n, 0)::bigint as owed, coalesce(live.n, 0)::bigint as live, coalesce(final.n, 0)::bigint as final,
            hours.hour < now() - interval '2 hours' and coalesce(live.n, 0) = 0 as closable
       from hours left join owed using (hour) left join live using (hour) left join final using (hour) order by hour`,
    [since],
  )
}

/** Remembers an hour as whole: all that was owed has ended. */
export async function closeHour(db: Queryable, hour: Date, owed: number, final: number): Promise<void> {
  await db.query('insert into audited_hour (hour, owed, final) values ($1, $2, $3) on conflict do nothing', [
    hour,
    owed,
    final,
  ])
}

/** Due deliveries by how long they have been due, and the age of the oldest transaction in seconds. */
export async function gauges(
  db: Queryable,
): Promise<{ fresh: number; minute: number; hour: number; oldest: number }> {
  const [row] = await db.query<{ fresh: number; minute: number; hour: number; oldest: number }>(
    `select count(*) filter (where due_at > now() - interval '1 minute')::int as fresh,
            count(*) filter (where due_at <= now() - interval '1 minute' and due_at > now() - interval '1 hour')::int as minute,
            count(*) filter (where due_at <= now() - interval '1 hour')::int as hour,
            coalesce((select extract(epoch from now() - min(xact_start)) from pg_stat_activity
                       where backend_xmin is not null or backend_xid is not null), 0)::float8 as oldest
       from delivery where due_at <= now()`,
  )
  return row!
}
