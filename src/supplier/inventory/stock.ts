import { SEATS_UNKNOWN } from '../../timetable/image.ts'
import { cabinSeats } from '../../timetable/market.ts'
import { priceClass } from '../../timetable/quote.ts'
import { MODES } from '../../timetable/sold.ts'
import { CABINS, type Cabin } from '../../travel/itinerary.ts'
import { dateOf } from '../../travel/time.ts'
import type { Operations, Stock } from '../supplier.ts'
import { locate } from './itinerary.ts'
import { recordLocator } from './locator.ts'
import { noteOperation, takeOperation } from './operation/store.ts'
import { decodeReference, type ReferenceSegment } from './reference.ts'
import { returnSeats, type SeatKey, takeSeats } from './store.ts'
import type { World } from './world.ts'

/** What a booking keeps of its seats: the locator they go under, and the rows to give back. */
type Claim = { locator: string; seats: readonly SeatKey[] }

/** The record locator of a claim. */
export function locatorOf(claim: string): string {
  return (JSON.parse(claim) as Claim).locator
}

/** The seats of own flights. @param world what is for sale now, or undefined while nothing is loaded */
export function createStock(world: () => World | undefined): Stock {
  return {
    async claim(tx, mode, reference, passengers) {
      const present = world()
      if (present === undefined) return undefined
      const { cabin, slices } = decodeReference(reference)
      const seats = slices.flat().map(segment => seatsOf(present, segment, cabin))
      if (seats.some(rows => rows === undefined)) return undefined
      const wanted = (seats as Authorised[][]).flat()
      const ordinal = await takeSeats(tx, mode, wanted, passengers)
      if (ordinal === undefined) return undefined
      const kept = wanted.map(({ authorised: _, ...key }) => key)
      return JSON.stringify({ locator: recordLocator(ordinal), seats: kept } satisfies Claim)
    },
    async release(tx, mode, claim, passengers) {
      const { seats } = JSON.parse(claim) as Claim
      await returnSeats(
        tx,
        mode,
        seats.map(seat => ({ ...seat, count: passengers })),
      )
    },
  }
}

/** What was done to own flights, for the bookings on them to follow. */
export function createOperations(): Operations {
  return {
    legs(claim) {
      if (claim === '') return []
      const { seats } = JSON.parse(claim) as Claim
      return seats
        .filter(seat => seat.bookingClass === '')
        .map(seat => ({ leg: seat.leg, departs: seat.departs }))
    },
    take: takeOperation,
    note: noteOperation,
    async release(tx, claims) {
      for (const mode of MODES) {
        const sums = new Map<string, SeatKey & { count: number }>()
        for (const { claim, passengers } of claims.filter(one => one.mode === mode)) {
          for (const seat of (JSON.parse(claim) as Claim).seats) {
            const key = [seat.leg, seat.departs, seat.cabin, seat.bookingClass].join()
            sums.set(key, { ...seat, count: (sums.get(key)?.count ?? 0) + passengers })
          }
        }
        if (sums.size > 0) await returnSeats(tx, mode, [...sums.values()])
      }
    },
  }
}

type Authorised = SeatKey & { authorised: number }

/** The rows a segment takes seats from: on each leg its booking class, and the cabin as a whole. */
function seatsOf(world: World, segment: ReferenceSegment, cabin: Cabin): Authorised[] | undefined {
  const { timetable } = world
  const departure = locate(timetable, segment)
  if (departure === undefined) return undefined
  const { flight, day } = departure
  const price = priceClass(world, 'live', flight, day, cabin, segment.bookingClass)
  if (price === undefined) return undefined
  const configured = cabinSeats(timetable, flight, CABINS.indexOf(cabin))
  const rows: Authorised[] = []
  for (let at = timetable.legStart[flight]!; at < timetable.legStart[flight + 1]!; at++) {
    const leg = timetable.text(timetable.legName[timetable.flightLeg[at]!]!)
    const departs = dateOf(day + timetable.flightLegShift[at]!)
    rows.push({ leg, departs, cabin, bookingClass: segment.bookingClass, authorised: price.authorised })
    rows.push({
      leg,
      departs,
      cabin,
      bookingClass: '',
      authorised: configured < 0 ? SEATS_UNKNOWN : configured,
    })
  }
  return rows
}
