import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../db/database.ts'
import { record } from '../ledger/store.ts'
import type { Logger } from '../log.ts'
import { Refusal } from '../refusal.ts'
import type { Outcome, Reservation, Supplier } from '../supplier/supplier.ts'
import { settle } from './settle.ts'
import { findAnyBooking, postponeReconciliation, removeBooking, type StoredBooking } from './store.ts'
import type { TravellerKey } from './travellers.ts'

/** How long a supplier may take to answer a reservation before we look it up instead. */
export const RESERVE_DEADLINE_MS = 60_000

/** Waits before a pending booking is looked up: after the first unknown answer, the second …; the last one repeats. */
export const LOOK_UP_WAITS_SECONDS = [2, 5, 15, 30, 60]

export type ReserveHouse = {
  database: Database
  travellerKey: TravellerKey
  log: Logger
  /** How long the partner waits for the supplier. */
  bookingWaitMs: number
  /** Told after a commit that changed seats; resolves when searches see the change. */
  seatsChanged(): Promise<void>
}

/**
 * Asks the supplier for a pending booking, with no transaction open, and settles what it answers. The partner waits for `bookingWaitMs`;
 * after that the booking is returned as it stands, and the supplier's answer is settled whenever it comes.
 * @throws Refusal unavailable when the supplier refuses in time because seats or price are gone: then nothing was booked
 */
export async function reserve(
  house: ReserveHouse,
  supplier: Supplier,
  booking: StoredBooking,
): Promise<StoredBooking> {
  const asked = supplier
    .reserve(reservationOf(booking), AbortSignal.timeout(RESERVE_DEADLINE_MS))
    .catch((error): Outcome => {
      house.log.warn(
        { bookingId: booking.id, supplier: supplier.name, err: error },
        'supplier gave no answer to a reservation',
      )
      return { kind: 'unknown' }
    })
  const patience = new AbortController()
  const outcome = await Promise.race([
    asked,
    sleep(house.bookingWaitMs, undefined, { signal: patience.signal }).catch(() => undefined),
  ])
  patience.abort()
  if (outcome !== undefined) {
    if (outcome.kind === 'refused' && outcome.reason !== 'rejected') return withdraw(house, supplier, booking)
    return conclude(house, supplier, booking, outcome)
  }
  asked
    .then(late => conclude(house, supplier, booking, late))
    .catch(error =>
      house.log.error(
        { bookingId: booking.id, err: error },
        'a late outcome could not be settled; reconciliation will',
      ),
    )
  return booking
}

/** Settles an outcome in one transaction. An unknown one leaves the booking pending, to be looked up. */
export async function conclude(
  house: Pick<ReserveHouse, 'database' | 'travellerKey' | 'seatsChanged'>,
  supplier: Supplier,
  booking: StoredBooking,
  outcome: Outcome,
): Promise<StoredBooking> {
  if (outcome.kind === 'unknown') {
    const wait = LOOK_UP_WAITS_SECONDS[Math.min(booking.reconcileAttempts, LOOK_UP_WAITS_SECONDS.length - 1)]!
    await postponeReconciliation(house.database, booking.id, wait)
    return booking
  }
  const settled = await house.database.transaction(tx =>
    outcome.kind === 'held'
      ? settle(tx, supplier, booking, 'accepted', outcome.recordLocator)
      : settle(tx, supplier, booking, 'refused'),
  )
  if (settled?.status === 'failed') void house.seatsChanged()
  return settled ?? (await findAnyBooking(house.database, house.travellerKey, booking.id)) ?? booking
}

/** Undoes a pending booking that its supplier refused while the partner still waits. */
async function withdraw(house: ReserveHouse, supplier: Supplier, booking: StoredBooking): Promise<never> {
  await house.database.transaction(async tx => {
    if (!(await removeBooking(tx, booking.id))) return
    await record(tx, booking, booking.id, 'release', booking.total)
    if (booking.claim !== '')
      await supplier.stock?.release(tx, booking.mode, booking.claim, booking.passengerCount)
  })
  void house.seatsChanged()
  throw gone()
}

/** The refusal for an offer that cannot be booked any more. */
export function gone(more: ConstructorParameters<typeof Refusal>[2] = {}): Refusal {
  const message =
    more.priceChange === undefined
      ? 'This offer is no longer available; search again and book another one.'
      : 'The price has changed; search again for an offer at the present price.'
  return new Refusal('unavailable', message, { param: 'offerId', ...more })
}

/** What a supplier is told about a booking. */
export function reservationOf(booking: StoredBooking): Reservation {
  return {
    bookingId: booking.id,
    mode: booking.mode,
    reference: booking.reference,
    passengers: booking.passengerCount,
    claim: booking.claim,
  }
}
