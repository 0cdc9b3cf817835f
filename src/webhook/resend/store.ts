import type { Queryable, Transaction } from '../../db/database.ts'
import type { WebhookId } from '../../id.ts'
import type { Owner } from '../endpoint.ts'

/** An endpoint that is owed an event again; `queued` false where it is still owed it from before. */
export type Redelivery = { webhookId: WebhookId; endpoint: number; queued: boolean }

/**
 * Owes an event to endpoints of its owner once more: to the one that is named, else to all that ask for its type, or, for a test event, to the
 * one it was made for. Disabled endpoints are left out. What is still owed stays as it is.
 */
export async function insertSeries(
  tx: Transaction,
  owner: Owner,
  eventId: string,
  webhookId: string | undefined,
): Promise<Redelivery[]> {
  const rows = await tx.query<{ id: WebhookId; endpoint: number; queued: boolean }>(
    `with wanted as (
       select e.id, e.seq as endpoint, ev.seq as event, ev.created_at, h.series
         from event ev
         join endpoint e on e.account_id = ev.account_id and e.mode = ev.mode and e.deleted_at is null
         join lane l on l.endpoint = e.seq and l.state = 'open'
        cross join lateral (
          select max(a.series) as series from attempt a
           where a.endpoint = e.seq and a.event = ev.seq and a.started_at >= ev.created_at - interval '1 minute') h
        where ev.account_id = $1 and ev.mode = $2 and ev.id = $3
          and case when $4::text is not null then e.id = $4
                   when ev.booking_id is null
                     then h.series is not null or exists (select from delivery d where d.endpoint = e.seq and d.event = ev.seq)
                   else ev.type = any(e.events) end
     ), made as (
       insert into delivery (endpoint, event, event_at, series)
       select endpoint, event, created_at, 1 + coalesce(series, 0) from wanted
       on conflict (endpoint, event) do nothing
       returning endpoint
     )
     select w.id, w.endpoint, made.endpoint is not null as queued from wanted w left join made on made.endpoint = w.endpoint
      order by w.endpoint`,
    [owner.accountId, owner.mode, eventId, webhookId],
  )
  return rows.map(({ id, endpoint, queued }) => ({ webhookId: id, endpoint, queued }))
}

/** How an endpoint stands with an event: `missed` is one it was never owed, because it was disabled or not there yet. */
export type WindowState = 'delivered' | 'pending' | 'exhausted' | 'missed'

/** The events of a window that an endpoint asks for, by how it stands with each. Test events are left out. */
const WINDOW = `
  mine as (
    select seq, account_id, mode, events from endpoint where account_id = $1 and mode = $2 and id = $3 and deleted_at is null
  ), history as (
    select a.event, max(a.series) as series, bool_or(a.final and a.reason is null) as delivered
      from mine join attempt a on a.endpoint = mine.seq
     where a.started_at >= $4::timestamptz - interval '1 minute'
     group by a.event
  ), found as (
    select ev.seq, 1 + coalesce(h.series, 0) as series,
           case when d.event is not null then 'pending' when h.delivered then 'delivered' when h.event is not null then 'exhausted'
                else 'missed' end as state
      from mine join event ev on ev.account_id = mine.account_id and ev.mode = mine.mode and ev.type = any(mine.events)
      left join history h on h.event = ev.seq
      left join delivery d on d.endpoint = mine.seq and d.event = ev.seq
     where ev.booking_id is not null and ev.created_at >= $4 and ev.created_at < $5
  )`

/** How many events of a window stand how with an endpoint. */
export async function countWindow(
  db: Queryable,
  owner: Owner,
  webhookId: string,
  since: Date,
  until: Date,
): Promise<Record<WindowState, number>> {
  const rows = await db.query<{ state: WindowState; count: number }>(
    `with ${WINDOW} select state, count(*) as count from found group by state`,
    [owner.accountId, owner.mode, webhookId, since, until],
  )
  const counts: Record<WindowState, number> = { delivered: 0, pending: 0, exhausted: 0, missed: 0 }
  for (const { state, count } of rows) counts[state] = count
  return counts
}

/** The events of a window that an endpoint has not got and is not owed, oldest first, with the number of the series each would be sent in. */
export async function unreached(
  db: Queryable,
  owner: Owner,
  webhookId: string,
  since: Date,
  until: Date,
  limit: number,
): Promise<{ event: number; series: number }[]> {
  return db.query(
    `with ${WINDOW} select seq as event, series from found where state in ('exhausted', 'missed') order by seq limit $6`,
    [owner.accountId, owner.mode, webhookId, since, until, limit],
  )
}

/** From when on an endpoint has room for more recovery: now, or when what an earlier one has spread out is through. As PostgreSQL writes it. */
export async function recoveryStart(db: Queryable, endpoint: number, spacingMs: number): Promise<string> {
  const [row] = await db.query<{ start: string }>(
    `select greatest(now(), (select max(due_at) + make_interval(secs => $2 / 1000.0) from delivery
       where endpoint = $1 and series > 0 and attempt = 1))::text as start`,
    [endpoint, spacingMs],
  )
  return row!.start
}

/**
 * Owes an open endpoint events once more, each `spacingMs` after the one before it, counted from `start`; what it is owed already stays as it
 * is. How many were written.
 */
export async function insertSpread(
  tx: Transaction,
  owner: Owner,
  webhookId: string,
  events: readonly { event: number; series: number }[],
  start: string,
  first: number,
  spacingMs: number,
): Promise<number> {
  const rows = await tx.query(
    `insert into delivery (endpoint, event, event_at, series, due_at)
     select e.seq, ev.seq, ev.created_at, w.series, $6::timestamptz + make_interval(secs => ($7 + w.place - 1) * $8 / 1000.0)
       from unnest($4::bigint[], $5::int[]) with ordinality as w(event, series, place)
       join event ev on ev.seq = w.event
       join endpoint e on e.account_id = ev.account_id and e.mode = ev.mode
       join lane l on l.endpoint = e.seq and l.state = 'open'
      where e.account_id = $1 and e.mode = $2 and e.id = $3 and e.deleted_at is null
     on conflict (endpoint, event) do nothing
     returning 1`,
    [
      owner.accountId,
      owner.mode,
      webhookId,
      events.map(one => one.event),
      events.map(one => one.series),
      start,
      first,
      spacingMs,
    ],
  )
  return rows.length
}
