import type { Transaction } from '../db/database.ts'
import type { Slice } from '../travel/itinerary.ts'
import { publish } from '../webhook/publish.ts'
import type { ChangeKind, FieldChange } from './booking.ts'
import { type BookingCore, writeChange } from './store.ts'

/** What of a booking becomes different; what is left out stays. */
export type Edit = {
  kind: ChangeKind
  /** For the booking's history: which fields of its answer, from what to what. */
  fields: readonly FieldChange[]
  slices?: readonly Slice[]
  recordLocator?: string
  /** Sealed, see travellers.ts. */
  contact?: Buffer
}

/**
 * Changes a booking and leaves its status: the only way there is. The change, the version it makes, its line in the history and the event
 * commit together in the caller's transaction. What an edit says must come from a row that this transaction has locked.
 * @returns the booking as it is now; undefined when it has failed or been cancelled, or is no longer the version that the edit is for:
 *   then nothing was written
 */
export async function change<B extends BookingCore>(
  tx: Transaction,
  booking: B,
  edit: Edit,
): Promise<B | undefined> {
  const written = await writeChange(tx, booking, edit)
  if (written === undefined) return undefined
  const changed: B = {
    ...booking,
    ...(edit.slices === undefined ? {} : { slices: edit.slices }),
    recordLocator: edit.recordLocator ?? booking.recordLocator,
    ...written,
  }
  const { id: bookingId, accountId, mode, status, recordLocator, version, updatedAt: at } = changed
  await publish(tx, { accountId, mode, bookingId, status, recordLocator, version, at }, 'booking.updated')
  return changed
}
