import { search } from '../../timetable/connect.ts'
import type { Departure } from '../../timetable/find.ts'
import type { Option } from '../../timetable/journey.ts'
import { priceClass, priceSegment } from '../../timetable/quote.ts'
import type { Rules } from '../../timetable/rules.ts'
import type { Cabin, Slice } from '../../travel/itinerary.ts'
import type { Money } from '../../travel/money.ts'
import type { Mode, Proposal, Quote, Supplier, SupplierQuery } from '../supplier.ts'
import { departureMinute, locate, segmentOf } from './itinerary.ts'
import { decodeReference, encodeReference, type Reference, type ReferenceSegment } from './reference.ts'
import { createOperations, createStock, locatorOf } from './stock.ts'
import type { World } from './world.ts'

/** Name of the supplier that sells own flights. */
export const INVENTORY = 'inventory'

/**
 * Own flights as a supplier: the timetable, its prices and its seats lie in shared memory, so that a search touches no database. A
 * reservation is made by claiming its seats, hence it is held as soon as that is committed.
 * @param world what is for sale now; undefined while nothing is loaded
 */
export function createInventory(world: () => World | undefined, rules: Rules): Supplier {
  return {
    name: INVENTORY,
    stock: createStock(world),
    operations: createOperations(),
    absentFinalAfterMs: 0,
    async search(query) {
      const present = world()
      return present === undefined ? [] : propose(present, rules, query)
    },
    async quote(mode, reference, passengers) {
      const present = world()
      return present === undefined
        ? { kind: 'gone' }
        : quote(present, mode, decodeReference(reference), passengers)
    },
    async reserve({ claim }) {
      return { kind: 'held', recordLocator: locatorOf(claim) }
    },
    async lookUp({ claim }) {
      return { kind: 'held', recordLocator: locatorOf(claim) }
    },
    async cancel() {
      return { kind: 'cancelled' }
    },
  }
}

function propose(world: World, rules: Rules, query: SupplierQuery): Proposal[] {
  const known = (codes: readonly string[]) =>
    codes.map(code => world.timetable.airportIndex.get(code)).filter(index => index !== undefined)
  const origins = known(query.origins)
  const destinations = known(query.destinations)
  if (origins.length === 0 || destinations.length === 0) return []
  const found = search(
    { ...world, rules },
    {
      mode: query.mode,
      origins,
      destinations,
      departDay: query.departDay,
      leavesAfter: query.leavesAfter,
      returnDay: query.returnDay,
      passengers: query.passengers,
      cabin: query.cabin,
    },
  )
  return found.map(option => proposal(world, option, query.cabin))
}

function proposal(world: World, option: Option, cabin: Cabin): Proposal {
  const fares: Money[] = []
  const slices: Slice[] = []
  const reference: ReferenceSegment[][] = []
  for (const journey of option.journeys) {
    const segments = journey.flights.map((flight, i) => {
      const departure = { flight, day: journey.days[i]! }
      const rung = journey.classes[i]!
      const bookingClass = String.fromCharCode(world.market.classLetter[rung]!)
      const fare = {
        minor: world.market.classMinor[rung]!,
        currency: world.market.currencies[world.market.classCurrency[rung]!]!,
      }
      fares.push(fare)
      return { departure, bookingClass, fare, route: ends(world, journey.routes[i]!) }
    })
    slices.push({
      segments: segments.map(s => segmentOf(world.timetable, s.route, s.departure, cabin, s.bookingClass)),
    })
    reference.push(segments.map(s => referenceOf(world, s.route, s.departure, s.bookingClass, s.fare)))
  }
  return {
    supplier: INVENTORY,
    slices,
    fares,
    referencePrice: option.referencePrice,
    seatsAvailable: option.seatsLeft,
    reference: encodeReference({ cabin, slices: reference }),
  }
}

type Ends = { from: string; to: string }

/** Airports that a route joins. */
function ends({ timetable }: World, route: number): Ends {
  const code = (airport: number) => timetable.text(timetable.airportCode[airport]!)
  return { from: code(timetable.routeFrom[route]!), to: code(timetable.routeTo[route]!) }
}

function referenceOf(
  world: World,
  route: Ends,
  departure: Departure,
  bookingClass: string,
  fare: Money,
): ReferenceSegment {
  const { timetable } = world
  const { flight } = departure
  const suffix = timetable.suffix[flight]!
  return {
    carrier: timetable.text(timetable.carrier[flight]!),
    number: timetable.number[flight]!,
    suffix: suffix === 0 ? '' : String.fromCharCode(suffix),
    ...route,
    departure: departureMinute(timetable, departure),
    elapsed: timetable.elapsed[flight]!,
    bookingClass,
    fare: fare.minor,
    currency: fare.currency,
  }
}

/** What the quoted segments cost now: as quoted while every class has seats for the party at its quoted fare, else by the cheapest open classes. */
function quote(world: World, mode: Mode, { cabin, slices }: Reference, passengers: number): Quote {
  const quoted: Money[] = []
  const present: Money[] = []
  const sold: Slice[] = []
  let seatsAvailable = Number.POSITIVE_INFINITY
  let asQuoted = true
  for (const slice of slices) {
    const segments = []
    for (const segment of slice) {
      const departure = locate(world.timetable, segment)
      if (departure === undefined) return { kind: 'gone' }
      const { flight, day } = departure
      const own = priceClass(world, mode, flight, day, cabin, segment.bookingClass)
      asQuoted &&=
        own !== undefined &&
        own.seatsLeft >= passengers &&
        own.fare.minor === segment.fare &&
        own.fare.currency === segment.currency
      const cheapest = priceSegment(world, mode, flight, day, cabin, passengers)
      if (cheapest === undefined) return { kind: 'gone' }
      quoted.push({ minor: segment.fare, currency: segment.currency })
      present.push(cheapest.fare)
      seatsAvailable = Math.min(seatsAvailable, own?.seatsLeft ?? 0)
      segments.push(segmentOf(world.timetable, segment, departure, cabin, segment.bookingClass))
    }
    sold.push({ segments })
  }
  if (asQuoted) return { kind: 'open', slices: sold, fares: quoted, seatsAvailable }
  return { kind: 'repriced', fares: present }
}
