import type { Database, Transaction } from '../db/database.ts'
import { isId } from '../id.ts'
import { invalidParams, Refusal } from '../refusal.ts'
import type { LegDeparture, Supplier } from '../supplier/supplier.ts'
import type { Segment } from '../travel/itinerary.ts'
import { change } from './change.ts'
import { nameOf } from './operation/delay.ts'
import { bookingsWithSeat, lockSeatMaps } from './operation/store.ts'
import { type BookingCore, lockBooking } from './store.ts'

/** Row 1 to 99 and a letter; I is not used, for it looks like 1. */
const SEAT = /^[1-9]\d?[A-HJ-L]$/

export type ReassignHouse = { database: Database; suppliers: ReadonlyMap<string, Supplier> }

/** Who sits where: positions count from 1, as people do. */
export type SeatWanted = {
  passenger: number
  /** Which flight of the booking; may be left out where there is only one. */
  segment: number | undefined
  seat: string
}

/** A flight of a booking: where it stands, what it is, which legs it takes. */
type Place = { slice: number; index: number; segment: Segment; legs: readonly LegDeparture[] }

/**
 * Gives a passenger another seat number on one flight, on the operator's word. The same seat again changes nothing.
 * @returns the booking as it stands, and whether it was changed
 * @throws Refusal not_found, invalid_params, conflict when somebody else has the seat or the booking has ended
 */
export async function reassignSeat(
  house: ReassignHouse,
  id: string,
  wanted: SeatWanted,
): Promise<{ booking: BookingCore; changed: boolean }> {
  const seat = wanted.seat.trim().toUpperCase()
  if (!SEAT.test(seat))
    throw faulty('--seat', `cannot be ${JSON.stringify(wanted.seat)}; give one such as 12A`)
  return house.database.transaction(async tx => {
    const booking = isId('bkg', id) ? await lockBooking(tx, id) : undefined
    if (booking === undefined) throw new Refusal('not_found', `There is no booking ${id} in this region.`)
    if (booking.status === 'failed' || booking.status === 'cancelled')
      throw new Refusal('conflict', `Booking ${id} is ${booking.status}; nobody sits anywhere any more.`)
    if (wanted.passenger < 1 || wanted.passenger > booking.passengerCount)
      throw faulty('--passenger', `must be from 1 to ${booking.passengerCount}`)
    const place = choose(placesOf(house, booking), wanted.segment)
    const passenger = wanted.passenger - 1
    const before = place.segment.seats?.find(one => one.passenger === passenger)?.seat
    if (before === seat) return { booking, changed: false }
    await refuseTaken(tx, house, booking, place, seat)
    const seats = [
      ...(place.segment.seats ?? []).filter(one => one.passenger !== passenger),
      { passenger, seat },
    ].sort((a, b) => a.passenger - b.passenger)
    const slices = booking.slices.map((slice, s) => ({
      segments: slice.segments.map((segment, i) =>
        s === place.slice && i === place.index ? { ...segment, seats } : segment,
      ),
    }))
    const path = `slices[${place.slice}].segments[${place.index}].seats[${seats.findIndex(one => one.passenger === passenger)}].seat`
    const field = { path, ...(before === undefined ? {} : { from: before }), to: seat }
    const changed = await change(tx, booking, { kind: 'seat', slices, fields: [field] })
    return { booking: changed ?? booking, changed: changed !== undefined }
  })
}

function placesOf({ suppliers }: ReassignHouse, booking: BookingCore): Place[] {
  const flown = suppliers.get(booking.supplier)?.operations?.legs(booking.claim) ?? []
  let next = 0
  return booking.slices.flatMap((slice, s) =>
    slice.segments.map((segment, index) => {
      const legs = flown.slice(next, next + segment.stops + 1)
      next += legs.length
      return { slice: s, index, segment, legs }
    }),
  )
}

function choose(places: readonly Place[], segment: number | undefined): Place {
  const flights = places.map(
    ({ segment: { carrier, number, departure, arrival } }, i) =>
      `${i + 1} is ${carrier}${number} ${departure.airport}–${arrival.airport}`,
  )
  if (segment === undefined && places.length > 1)
    throw faulty('--segment', `is missing; this booking has several flights: ${flights.join(', ')}`)
  const place = places[(segment ?? 1) - 1]
  if (place === undefined)
    throw faulty('--segment', `is none of this booking's flights: ${flights.join(', ')}`)
  return place
}

/** One seat, one traveller: on every leg of the segment, in this booking and in all others. */
async function refuseTaken(
  tx: Transaction,
  house: ReassignHouse,
  booking: BookingCore,
  place: Place,
  seat: string,
): Promise<void> {
  const holder = place.segment.seats?.find(one => one.seat === seat)
  if (holder !== undefined)
    throw new Refusal(
      'conflict',
      `${seat} is the seat of passenger ${holder.passenger + 1}; reassign that one first.`,
    )
  await lockSeatMaps(tx, place.legs)
  const legs = new Set(place.legs.map(nameOf))
  for (const other of await bookingsWithSeat(tx, booking.mode, booking.id, seat, place.legs)) {
    const sits = placesOf(house, other).some(
      one =>
        one.segment.seats?.some(taken => taken.seat === seat) && one.legs.some(leg => legs.has(nameOf(leg))),
    )
    if (sits) throw new Refusal('conflict', `${seat} is taken by booking ${other.id}.`)
  }
}

function faulty(param: string, message: string): Refusal {
  return invalidParams([{ param, code: 'invalid', message }])
}
