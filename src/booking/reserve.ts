import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../db/database.ts'
import { record } from '../ledger/store.ts'
import type { Logger } from '../log.ts'
import { type Outcome, type Reservation, type Supplier, within } from '../supplier/supplier.ts'
import { settle } from './settle.ts'
import {
  acknowledgeBooking,
  type BookingCore,
  postponeReconciliation,
  readState,
  removeBooking,
  type StoredBooking,
} from './store.ts'

/** How long a supplier may take to answer a reservation before we look it up instead. */
export const RESERVE_DEADLINE_MS = 60_000
/** How long a supplier may take to answer a cancellation. */
export const CANCEL_DEADLINE_MS = 30_000

/** Waits before a pending booking is looked up: after the first unknown answer, the second …; the last one repeats. */
export const LOOK_UP_WAITS_SECONDS = [2, 5, 15, 30, 60]

export type ReserveHouse = {
  database: Database
  log: Logger
  /** How long the partner waits for the supplier. */
  bookingWaitMs: number
  /** Told after a commit that changed seats; resolves when searches see the change. */
  seatsChanged(): Promise<void>
}

/**
 * Asks the supplier for a pending booking, with no transaction open, and settles what it answers. The partner waits for `bookingWaitMs`;
 * after that the booking is returned as it stands, and the supplier's answer is settled whenever it comes.
 * @returns undefined when the supplier refused in time because seats or price are gone: then nothing is left of the booking
 */
export async function reserve(
  house: ReserveHouse,
  supplier: Supplier,
  booking: StoredBooking,
): Promise<StoredBooking | undefined> {
  const asked = within(RESERVE_DEADLINE_MS, signal => supplier.reserve(reservationOf(booking), signal)).catch(
    (error): Outcome => {
      house.log.warn(
        { bookingId: booking.id, supplier: supplier.name, err: error },
        'supplier gave no answer to a reservation',
      )
      return { kind: 'unknown' }
    },
  )
  const patience = new AbortController()
  const outcome = await Promise.race([
    asked,
    sleep(house.bookingWaitMs, undefined, { signal: patience.signal }).catch(() => undefined),
  ])
  patience.abort()
  if (outcome === undefined) {
    asked
      .then(late => conclude(house, supplier, booking, late))
      .catch(error =>
        house.log.error(
          { bookingId: booking.id, err: error },
          'a late outcome could not be settled; reconciliation will',
        ),
      )
    return acknowledge(house, booking)
  }
  const offerGone = outcome.kind === 'refused' && outcome.reason !== 'rejected'
  if (offerGone && (await withdraw(house, supplier, booking))) return undefined
  return conclude(house, supplier, booking, outcome)
}

/** Tells of a booking as it stands: what was pending is settled from now on, and never removed. */
export async function acknowledge<B extends BookingCore>(
  house: Pick<ReserveHouse, 'database'>,
  booking: B,
): Promise<B> {
  if (await acknowledgeBooking(house.database, booking.id)) return { ...booking, acknowledged: true }
  return { ...booking, ...(await readState(house.database, booking.id)) }
}

/** Settles an outcome in one transaction. An unknown one leaves the booking pending, to be looked up. */
export async function conclude<B extends BookingCore>(
  house: Omit<ReserveHouse, 'bookingWaitMs'>,
  supplier: Supplier,
  booking: B,
  outcome: Outcome,
): Promise<B> {
  if (outcome.kind === 'unknown') {
    const wait = LOOK_UP_WAITS_SECONDS[Math.min(booking.reconcileAttempts, LOOK_UP_WAITS_SECONDS.length - 1)]!
    await postponeReconciliation(house.database, booking.id, wait)
  } else {
    const settled = await house.database.transaction(tx =>
      outcome.kind === 'held'
        ? settle(tx, supplier, booking, 'accepted', outcome.recordLocator)
        : settle(tx, supplier, booking, 'refused'),
    )
    if (settled?.status === 'failed') void house.seatsChanged()
    if (settled !== undefined) return settled
  }
  const state = await readState(house.database, booking.id)
  if (outcome.kind === 'held' && state?.status !== 'confirmed') await letGo(house, supplier, booking)
  return { ...booking, ...state }
}

/** Cancels a reservation that a supplier holds although its booking has ended meanwhile. */
async function letGo(
  { log }: Pick<ReserveHouse, 'log'>,
  supplier: Supplier,
  booking: BookingCore,
): Promise<void> {
  const answer = await within(CANCEL_DEADLINE_MS, signal =>
    supplier.cancel(reservationOf(booking), signal),
  ).catch(() => ({ kind: 'unknown' }) as const)
  const about = { bookingId: booking.id, supplier: supplier.name, answer: answer.kind }
  if (answer.kind === 'cancelled')
    log.warn(about, 'a reservation came after its booking had ended; it was cancelled')
  else log.error(about, 'a supplier holds a reservation whose booking has ended; cancel it there')
}

/** Undoes a pending booking that its supplier refused while the partner still waits. False when it has ended otherwise, or is known. */
async function withdraw(house: ReserveHouse, supplier: Supplier, booking: StoredBooking): Promise<boolean> {
  const withdrawn = await house.database.transaction(async tx => {
    if (!(await removeBooking(tx, booking.id))) return false
    await record(tx, booking, booking.id, 'release', booking.total)
    if (booking.claim !== '')
      await supplier.stock?.release(tx, booking.mode, booking.claim, booking.passengerCount)
    return true
  })
  if (withdrawn) void house.seatsChanged()
  return withdrawn
}

/** What a supplier is told about a booking. */
export function reservationOf(booking: BookingCore): Reservation {
  return {
    bookingId: booking.id,
    mode: booking.mode,
    reference: booking.reference,
    passengers: booking.passengerCount,
    claim: booking.claim,
  }
}
