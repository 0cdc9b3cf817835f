import type { Database } from '../db/database.ts'
import type { Logger } from '../log.ts'
import type { LookUp, Outcome, Supplier } from '../supplier/supplier.ts'
import { conclude, RESERVE_DEADLINE_MS, reservationOf } from './reserve.ts'
import { type StoredBooking, takeDueBookings } from './store.ts'
import type { TravellerKey } from './travellers.ts'

/** Bookings looked up in one round. */
const BATCH = 50
/** Look-ups on the wire at once. */
const LOOK_UP_DEADLINE_MS = 10_000
/** Longer than a look-up may take, so that two workers never ask about one booking at once. */
const LEASE_SECONDS = 30

export type ReconcileHouse = {
  database: Database
  travellerKey: TravellerKey
  suppliers: ReadonlyMap<string, Supplier>
  log: Logger
  now(): number
  seatsChanged(): Promise<void>
}

/**
 * Settles what is still pending by asking its supplier: after a crash, after a silence. Returns how many bookings were looked at.
 * Nothing is ever reserved again here; a booking fails only when its supplier says no, or when nothing has shown up for longer than the
 * supplier could need.
 */
export async function reconcile(house: ReconcileHouse): Promise<number> {
  const due = await takeDueBookings(house.database, house.travellerKey, BATCH, LEASE_SECONDS)
  await Promise.all(due.map(booking => reconcileOne(house, booking)))
  return due.length
}

async function reconcileOne(house: ReconcileHouse, booking: StoredBooking): Promise<void> {
  const supplier = house.suppliers.get(booking.supplier)
  if (supplier === undefined) {
    house.log.error(
      { bookingId: booking.id, supplier: booking.supplier },
      'a pending booking has a supplier that is not connected',
    )
    return
  }
  const found = await supplier
    .lookUp(reservationOf(booking), AbortSignal.timeout(LOOK_UP_DEADLINE_MS))
    .catch((error): LookUp => {
      house.log.warn(
        { bookingId: booking.id, supplier: supplier.name, err: error },
        'a look-up gave no answer',
      )
      return { kind: 'unknown' }
    })
  try {
    const settled = await conclude(house, supplier, booking, judge(found, supplier, booking, house.now()))
    house.log.info({ bookingId: booking.id, found: found.kind, status: settled.status }, 'reconciled')
  } catch (error) {
    house.log.error(
      { bookingId: booking.id, err: error },
      'reconciliation could not be written; it is tried again',
    )
  }
}

/** An absent reservation counts as refused only when it can no longer appear. */
function judge(found: LookUp, supplier: Supplier, booking: StoredBooking, now: number): Outcome {
  if (found.kind !== 'absent') return found
  const lastMoment = booking.createdAt.getTime() + RESERVE_DEADLINE_MS
  return now > lastMoment + supplier.absentFinalAfterMs
    ? { kind: 'refused', reason: 'rejected' }
    : { kind: 'unknown' }
}
