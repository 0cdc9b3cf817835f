import type { Queryable } from '../../db/database.ts'
import { isId } from '../../id.ts'
import { invalidParams, Refusal } from '../../refusal.ts'
import type { Owner } from '../endpoint.ts'
import { getWebhook } from '../read.ts'
import type { Delivery, DeliveryState, StoredEvent } from './delivery.ts'
import {
  deliveriesOfEvent,
  type EventFilter,
  endedDeliveries,
  findEvent,
  pageOfEvents,
  pendingDeliveries,
  withAttempts,
} from './store.ts'

type House = { database: Queryable }
export type Page = { limit: number; cursor: string | undefined }

/**
 * One of the owner's events. Another account's, or the other mode's, is answered as one that does not exist.
 * @throws Refusal not_found
 */
export async function getEvent(house: House, owner: Owner, id: string): Promise<StoredEvent> {
  const found = isId('evt', id) ? await findEvent(house.database, owner, id) : undefined
  if (found !== undefined) return found
  throw new Refusal(
    'not_found',
    'There is no such event in this account and mode; check the id and the key you use. Events are kept for 35 days.',
  )
}

/** What became of an event at each of the owner's endpoints: the latest series, with its attempts. */
export async function deliveriesOf(house: House, owner: Owner, event: StoredEvent): Promise<Delivery[]> {
  return withAttempts(house.database, await deliveriesOfEvent(house.database, owner, event.id))
}

/**
 * A page of the owner's events, newest first. `nextCursor` is there when more follow.
 * @throws Refusal invalid_params for a cursor that no page gave
 */
export async function listEvents(
  house: House,
  owner: Owner,
  filter: EventFilter,
  page: Page,
): Promise<{ events: readonly StoredEvent[]; nextCursor: string | undefined }> {
  if (page.cursor !== undefined && !isId('evt', page.cursor)) throw unknownCursor()
  const rows = await pageOfEvents(house.database, owner, filter, { ...page, limit: page.limit + 1 })
  const events = rows.slice(0, page.limit)
  return { events, nextCursor: rows.length > page.limit ? events.at(-1)!.id : undefined }
}

/**
 * A page of an endpoint's deliveries: first those that are pending, by their events, then those that have ended, the latest first.
 * @param state narrows to one; undefined gives all
 * @throws Refusal not_found for the endpoint; invalid_params for a cursor that no page gave
 */
export async function listDeliveries(
  house: House,
  owner: Owner,
  webhookId: string,
  state: DeliveryState | undefined,
  { limit, cursor }: Page,
): Promise<{ deliveries: readonly Delivery[]; nextCursor: string | undefined }> {
  const after = cursor === undefined ? undefined : readCursor(cursor)
  const webhook = await getWebhook(house, owner, webhookId)
  const wanted = limit + 1
  const pending =
    after?.ended !== undefined || (state !== undefined && state !== 'pending')
      ? []
      : await pendingDeliveries(house.database, owner, webhook.id, after?.event, wanted)
  const room = wanted - pending.length
  const ended =
    state === 'pending' || room === 0
      ? []
      : await endedDeliveries(
          house.database,
          owner,
          webhook.id,
          state,
          after?.ended === undefined ? undefined : { ended: after.ended, event: after.event },
          room,
        )
  const rows = [...pending, ...ended]
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    deliveries: await withAttempts(house.database, page),
    nextCursor: rows.length > limit ? writeCursor(last!.event_id, last!.ended ?? undefined) : undefined,
  }
}

/** Where a page of deliveries ended: after this event, and for one that has ended, when that was. */
type Place = { event: string; ended: string | undefined }

function writeCursor(event: string, ended: string | undefined): string {
  return Buffer.from(ended === undefined ? event : `${event} ${ended}`).toString('base64url')
}

/** As PostgreSQL writes an instant. */
const INSTANT = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/

function readCursor(cursor: string): Place {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const event = text.slice(0, 28)
  const ended = text.length > event.length ? text.slice(29) : undefined
  if (!isId('evt', event) || (ended !== undefined && (text[28] !== ' ' || !INSTANT.test(ended))))
    throw unknownCursor()
  return { event, ended }
}

function unknownCursor(): Refusal {
  return invalidParams([
    {
      param: 'cursor',
      code: 'unknown_cursor',
      message: 'is none that a page gave; leave it out for the first page',
    },
  ])
}
