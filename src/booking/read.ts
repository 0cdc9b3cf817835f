import type { Database } from '../db/database.ts'
import { isId } from '../id.ts'
import type { Caller } from '../partner/account.ts'
import { invalidParams, Refusal } from '../refusal.ts'
import type { Booking, BookingStatus } from './booking.ts'
import * as store from './store.ts'
import type { TravellerKey } from './travellers.ts'

export type ReadHouse = { database: Database; travellerKey: TravellerKey }

/**
 * A caller's booking. Another account's or the other mode's is answered as one that does not exist.
 * @throws Refusal not_found
 */
export async function findBooking(house: ReadHouse, caller: Caller, id: string): Promise<Booking> {
  const booking = isId('bkg', id)
    ? await store.findBooking(house.database, house.travellerKey, caller, id)
    : undefined
  if (booking === undefined) {
    throw new Refusal(
      'not_found',
      'There is no such booking in this account and mode; check the id and the key you use.',
    )
  }
  return booking
}

/**
 * A page of a caller's bookings, newest first. `nextCursor` is there when more follow.
 * @throws Refusal invalid_params for a cursor that no page gave
 */
export async function listBookings(
  house: ReadHouse,
  caller: Caller,
  page: { limit: number; cursor: string | undefined; status?: BookingStatus },
): Promise<{ bookings: readonly Booking[]; nextCursor: string | undefined }> {
  if (page.cursor !== undefined && !isId('bkg', page.cursor)) throw unknownCursor()
  const rows = await store.pageOfBookings(house.database, house.travellerKey, caller, {
    limit: page.limit + 1,
    cursor: page.cursor,
    status: page.status,
  })
  if (rows.length === 0 && page.cursor !== undefined) {
    const known = await store.findBooking(house.database, house.travellerKey, caller, page.cursor)
    if (known === undefined) throw unknownCursor()
  }
  const bookings = rows.slice(0, page.limit)
  return { bookings, nextCursor: rows.length > page.limit ? bookings.at(-1)!.id : undefined }
}

function unknownCursor() {
  return invalidParams([
    {
      param: 'cursor',
      code: 'unknown_cursor',
      message: 'is none that a page gave; leave it out for the first page',
    },
  ])
}
