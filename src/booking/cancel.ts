import type { Database } from '../db/database.ts'
import { Refusal } from '../refusal.ts'
import { type Supplier, within } from '../supplier/supplier.ts'
import type { Booking } from './booking.ts'
import { CANCEL_DEADLINE_MS, reservationOf } from './reserve.ts'
import { settle } from './settle.ts'
import { findAnyBooking, type StoredBooking } from './store.ts'
import type { TravellerKey } from './travellers.ts'

export type CancelHouse = {
  database: Database
  travellerKey: TravellerKey
  suppliers: ReadonlyMap<string, Supplier>
}

/**
 * Cancels a booking on the operator's word: the supplier lets go of the reservation, then status, seats and ledger change together.
 * Cancelling again is harmless.
 * @throws Refusal not_found, not_cancellable when it failed or its supplier refuses, service_unavailable when the supplier does not answer
 */
export async function cancelBooking(house: CancelHouse, id: string): Promise<Booking> {
  const booking = await find(house, id)
  if (booking.status === 'cancelled') return booking
  const supplier = house.suppliers.get(booking.supplier)
  if (supplier === undefined)
    throw new Refusal('service_unavailable', `The supplier ${booking.supplier} is not connected.`)
  const answer = await within(CANCEL_DEADLINE_MS, signal =>
    supplier.cancel(reservationOf(booking), signal),
  ).catch(() => ({ kind: 'unknown' }) as const)
  if (answer.kind === 'refused')
    throw new Refusal('not_cancellable', `The supplier refuses to cancel booking ${id}.`)
  if (answer.kind === 'unknown') {
    throw new Refusal(
      'service_unavailable',
      `The supplier did not say whether it cancelled; the booking stands. Try again.`,
    )
  }
  const settled = await house.database.transaction(tx => settle(tx, supplier, booking, 'cancelled'))
  return settled ?? find(house, id)
}

/** A booking that is cancelled or can be. */
async function find(house: CancelHouse, id: string): Promise<StoredBooking> {
  const booking = await findAnyBooking(house.database, house.travellerKey, id)
  if (booking === undefined) throw new Refusal('not_found', `There is no booking ${id} in this region.`)
  if (booking.status === 'failed')
    throw new Refusal('not_cancellable', `Booking ${id} has failed: nothing is held and nothing was charged.`)
  return booking
}
