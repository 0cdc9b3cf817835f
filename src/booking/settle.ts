import type { Transaction } from '../db/database.ts'
import { type MovementKind, record } from '../ledger/store.ts'
import type { Supplier } from '../supplier/supplier.ts'
import { publish } from '../webhook/publish.ts'
import type { BookingStatus } from './booking.ts'
import { forgoConfirmation, oweConfirmation } from './confirmation/store.ts'
import { TRANSITIONS, type Trigger } from './state.ts'
import { type BookingCore, writeStatus } from './store.ts'

/** What moves in the ledger when a booking leaves one state for another. */
function movement(from: BookingStatus, to: BookingStatus): MovementKind {
  if (to === 'confirmed') return 'charge'
  return from === 'confirmed' ? 'refund' : 'release'
}

/**
 * Changes a booking's status: the only way there is. Status, ledger, seats, the owed confirmation and the event commit together in the caller's
 * transaction. Undefined where the trigger changes nothing any more: then nothing was written, and the caller reads what is true now.
 */
export async function settle<B extends BookingCore>(
  tx: Transaction,
  supplier: Supplier,
  booking: B,
  trigger: Trigger,
  recordLocator?: string,
): Promise<B | undefined> {
  const { from, to } = TRANSITIONS[trigger]
  const written = await writeStatus(tx, booking.id, from, to, recordLocator)
  if (written === undefined) return undefined
  const { was, ...state } = written
  await record(tx, booking, booking.id, movement(was, to), booking.total)
  if (to === 'confirmed') await oweConfirmation(tx, booking.id)
  else {
    await forgoConfirmation(tx, booking.id)
    if (booking.claim !== '')
      await supplier.stock?.release(tx, booking.mode, booking.claim, booking.passengerCount)
  }
  const { id: bookingId, accountId, mode } = booking
  await publish(
    tx,
    {
      accountId,
      mode,
      bookingId,
      status: to,
      recordLocator: state.recordLocator,
      version: state.version,
      at: state.updatedAt,
    },
    `booking.${to as Exclude<BookingStatus, 'pending'>}`,
  )
  return { ...booking, ...state }
}
