import type { Database, Transaction } from '../../db/database.ts'
import { isUnavailable } from '../../db/failure.ts'
import type { BookingId } from '../../id.ts'
import type { Logger } from '../../log.ts'
import type { FlightOperation, Followed, Mode, Operations, Supplier } from '../../supplier/supplier.ts'
import { change } from '../change.ts'
import { settle } from '../settle.ts'
import type { BookingCore } from '../store.ts'
import { nameOf, retime } from './delay.ts'
import { lockBookingsOn } from './store.ts'

/** Bookings that follow in one transaction: their rows are locked for as long, a few hundred milliseconds. */
const BATCH = 500

export type FollowHouse = { database: Database; suppliers: ReadonlyMap<string, Supplier>; log: Logger }

/**
 * Lets one batch of bookings follow what was done to their flights: those on a cancelled leg are cancelled, the others are put at the times
 * that hold now. Each booking changes in the same transaction as its event, and the operation notes there how far it has come; a process
 * that dies leaves nothing half done, and whoever comes next goes on. Any number of processes may do this at once.
 * @returns false when there is nothing to follow
 */
export async function followOperations(house: FollowHouse): Promise<boolean> {
  for (const supplier of house.suppliers.values()) {
    const operation = await followSome(house, supplier, undefined)
    if (operation === undefined) continue
    const { id, followed, finished } = operation
    if (finished) house.log.info({ operation: id, ...followed }, 'bookings have followed their flight')
    return true
  }
  return false
}

/** Lets all bookings follow one operation, and returns it when the last one has. */
export async function followThrough(
  house: FollowHouse,
  supplier: Supplier,
  id: number,
): Promise<FlightOperation> {
  for (;;) {
    const operation = await followSome(house, supplier, id)
    if (operation === undefined) throw new Error(`There is no operation ${id}`)
    if (operation.finished) return operation
  }
}

/**
 * One batch. Where it fails, a smaller one is tried, down to the one booking that cannot be changed: that is a defect, told in the log and
 * counted, and passed over so that the others follow. A database that cannot work now is none: then the batch is tried again later.
 */
async function followSome(
  { database, log }: FollowHouse,
  supplier: Supplier,
  id: number | undefined,
): Promise<FlightOperation | undefined> {
  for (let size = BATCH; ; size = Math.ceil(size / 8)) {
    try {
      return await followBatch(database, supplier, id, size, undefined)
    } catch (error) {
      if (size > 1) continue
      if (isUnavailable(error)) throw error
      return await followBatch(database, supplier, id, 1, bookingId =>
        log.error({ bookingId, err: error }, 'a booking cannot follow its flight and was passed over'),
      )
    }
  }
}

/** @param passOver given, the batch is not changed but told of and counted as failed */
async function followBatch(
  database: Database,
  supplier: Supplier,
  id: number | undefined,
  size: number,
  passOver: ((bookingId: BookingId) => void) | undefined,
): Promise<FlightOperation | undefined> {
  const { operations } = supplier
  if (operations === undefined) return undefined
  return database.transaction(async tx => {
    const operation = await operations.take(tx, id)
    if (operation === undefined || operation.finished) return operation
    const { bookings, last } = await lockBookingsOn(tx, operation.legs, operation.reached, size)
    let outcomes: FollowOutcome[] = bookings.map(() => 'failed')
    if (passOver === undefined) outcomes = await followAll(tx, supplier, operations, operation, bookings)
    else for (const { id } of bookings) passOver(id)
    const followed = { ...operation.followed }
    for (const outcome of outcomes) followed[outcome]++
    const reached = last ?? operation.reached
    const after: FlightOperation = { ...operation, reached, followed, finished: last === undefined }
    await operations.note(tx, after)
    return after
  })
}

type FollowOutcome = keyof Followed

/** All bookings of a batch at once: their statements travel together. The seats come last and in one go, for others wait for them. */
async function followAll(
  tx: Transaction,
  supplier: Supplier,
  operations: Operations,
  { legs }: FlightOperation,
  bookings: readonly BookingCore[],
): Promise<FollowOutcome[]> {
  const cancelledLegs = new Set(legs.filter(leg => leg.cancelled).map(nameOf))
  const given: { mode: Mode; claim: string; passengers: number }[] = []
  const { stock, ...rest } = supplier
  const collecting: Supplier = {
    ...rest,
    ...(stock === undefined
      ? {}
      : {
          stock: {
            ...stock,
            async release(_tx: Transaction, mode: Mode, claim: string, passengers: number) {
              given.push({ mode, claim, passengers })
            },
          },
        }),
  }

  async function followOne(booking: BookingCore): Promise<FollowOutcome> {
    if (booking.status !== 'pending' && booking.status !== 'confirmed') return 'unchanged'
    const flown = operations.legs(booking.claim)
    if (flown.some(leg => cancelledLegs.has(nameOf(leg)))) {
      const settled = await settle(tx, collecting, booking, 'cancelled')
      return settled === undefined ? 'unchanged' : 'cancelled'
    }
    const retimed = retime(booking.slices, flown, legs)
    if (retimed === undefined) return 'unchanged'
    const changed = await change(tx, booking, { kind: 'schedule', ...retimed })
    return changed === undefined ? 'unchanged' : 'updated'
  }

  const outcomes = await Promise.all(bookings.map(followOne))
  if (given.length > 0) await operations.release(tx, given)
  return outcomes
}
