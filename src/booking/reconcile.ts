import { type LookUp, type Outcome, type Supplier, within } from '../supplier/supplier.ts'
import { conclude, RESERVE_DEADLINE_MS, type ReserveHouse, reservationOf } from './reserve.ts'
import { type DueBooking, takeDueBookings } from './store.ts'

/** Bookings looked up in one round, at once. */
const BATCH = 50
const LOOK_UP_DEADLINE_MS = 10_000
/** Longer than a look-up may take, so that two workers never ask about one booking at once. */
const LEASE_SECONDS = 30

export type ReconcileHouse = Omit<ReserveHouse, 'bookingWaitMs'> & {
  suppliers: ReadonlyMap<string, Supplier>
}

/**
 * Settles what is still pending by asking its supplier: after a crash, after a silence. Returns how many bookings were looked at.
 * Nothing is ever reserved again here; a booking fails only when its supplier says no, or when nothing has shown up for longer than the
 * supplier could need.
 */
export async function reconcile(house: ReconcileHouse): Promise<number> {
  const due = await takeDueBookings(house.database, BATCH, LEASE_SECONDS)
  await Promise.all(due.map(booking => reconcileOne(house, booking)))
  return due.length
}

async function reconcileOne(house: ReconcileHouse, booking: DueBooking): Promise<void> {
  const about = { bookingId: booking.id, supplier: booking.supplier }
  const supplier = house.suppliers.get(booking.supplier)
  if (supplier === undefined) {
    house.log.error(about, 'a pending booking has a supplier that is not connected')
    return
  }
  const found = await within(LOOK_UP_DEADLINE_MS, signal =>
    supplier.lookUp(reservationOf(booking), signal),
  ).catch((error): LookUp => {
    house.log.warn({ ...about, err: error }, 'a look-up gave no answer')
    return { kind: 'unknown' }
  })
  try {
    const { status } = await conclude(house, supplier, booking, judge(found, supplier, booking.ageMs))
    house.log.info({ ...about, found: found.kind, status }, 'reconciled')
  } catch (error) {
    house.log.error({ ...about, err: error }, 'reconciliation could not be written; it is tried again')
  }
}

/** An absent reservation counts as refused only when it can no longer appear. */
function judge(found: LookUp, supplier: Supplier, ageMs: number): Outcome {
  if (found.kind !== 'absent') return found
  const final = ageMs > RESERVE_DEADLINE_MS + supplier.absentFinalAfterMs
  return final ? { kind: 'refused', reason: 'rejected' } : { kind: 'unknown' }
}
