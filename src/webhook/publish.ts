import type { Transaction } from '../db/database.ts'
import { type AccountId, type BookingId, type EventId, newId } from '../id.ts'
import type { Mode } from '../supplier/supplier.ts'
import { insertEvent, insertTestEvent } from './delivery/store.ts'
import { type Change, type EventType, renderBody, renderTestBody } from './event.ts'
import { noteDue } from './wake.ts'

/**
 * Writes an event and what is owed for it, in the transaction that changes the booking: the row of the booking is locked by then and its
 * version raised. Every open endpoint of the account and mode that asked for this type is owed a delivery; senders hear of it after COMMIT.
 */
export async function publish(tx: Transaction, change: Change, type: EventType): Promise<void> {
  const id = newId('evt')
  noteDue(tx, await insertEvent(tx, id, change, type, renderBody(id, type, change)))
}

/**
 * Owes one endpoint a test event: signed, sent and retried as any other.
 * @param endpoint its `seq`
 */
export async function publishTest(
  tx: Transaction,
  owner: { accountId: AccountId; mode: Mode },
  endpoint: number,
  type: EventType,
  at: Date,
): Promise<EventId> {
  const id = newId('evt')
  const bookingId: BookingId = newId('bkg')
  await insertTestEvent(tx, id, owner, endpoint, type, renderTestBody(id, type, bookingId, at))
  noteDue(tx, [endpoint])
  return id
}
