/** Small nasty worlds: few airports, many coincidences, everything that has ever tripped a flight search. */
import type { PlainAirport, PlainFlight } from './network.ts'
import {
  CABIN_NAMES,
  type PlainException,
  type PlainFare,
  type PlainQuery,
  type PlainWorld,
  soldKey,
} from './oracle.ts'
import type { Random } from './random.ts'

const FIRST_DAY = 9_800
const DAYS = 12
/** Clocks change on this day at some airports. */
const CHANGE_DAY = FIRST_DAY + 5
const CARRIERS = ['AA', 'BB', 'C1', 'DDD']
const OFFSETS = [-720, -600, -300, -210, 0, 60, 330, 345, 540, 765, 840]

const RATES = {
  USD: { exponent: 2, parts: 100 },
  EUR: { exponent: 2, parts: 109.37 },
  JPY: { exponent: 0, parts: 66.6 },
  KWD: { exponent: 3, parts: 32.55 },
  VND: { exponent: 0, parts: undefined },
} as const

type Place = PlainAirport & { offset: number; changesClock: boolean; city: number }

/** A world with a question generator. */
export function randomWorld(r: Random): { world: PlainWorld; ask(): PlainQuery } {
  const places = randomPlaces(r)
  const flights: PlainFlight[] = []
  const itineraries = r.whole(10, 60)
  // Round figures make ties: equal times, equal prices.
  const step = r.of([1, 5, 30, 60, 120])
  for (let i = 0; i < itineraries; i++) addItinerary(r, places, i, step, flights)
  const world: PlainWorld = {
    network: { airports: places, flights },
    fares: randomFares(r, places),
    rates: RATES,
    sold: randomSold(r, flights),
    rules: {
      minimum: { DD: r.of([0, 30, 60]), DI: r.of([30, 60]), ID: r.of([45, 90]), II: r.of([60, 90, 150]) },
      longest: r.of([120, 480, 480, 480, 900, 1500]),
      connections: r.of([0, 1, 2, 2, 2, 2]),
      offers: r.of([2, 3, 5, 8, 20, 50]),
      exceptions: r.chance(0.4) ? randomExceptions(r, places) : [],
    },
  }
  return { world, ask: () => randomQuery(r, places) }
}

function randomPlaces(r: Random): Place[] {
  return Array.from({ length: r.whole(4, 8) }, (_, i) => ({
    code: `${String.fromCharCode(65 + i)}${r.of(['AA', 'QX', 'ZZ'])}`,
    country: r.of(['US', 'FR', 'JP']),
    latitude: r.whole(-60, 60),
    longitude: r.whole(-180, 180),
    offset: r.of(OFFSETS),
    changesClock: r.chance(0.4),
    city: r.whole(0, 3),
  }))
}

function offsetAt(place: Place, day: number): number {
  return place.offset + (place.changesClock && day >= CHANGE_DAY ? 60 : 0)
}

type Leg = { from: Place; to: Place; departs: number; arrives: number; seats: [number, number, number] }

/** One aircraft through one to three legs, filed for each state of the clocks apart, sold leg by leg and through, and by other carriers. */
function addItinerary(r: Random, places: Place[], i: number, step: number, into: PlainFlight[]): void {
  const operating = {
    carrier: r.of(CARRIERS),
    number: 1 + (r.chance(0.1) ? i - 1 : i),
    suffix: r.chance(0.1) ? 'A' : '',
  }
  const stations = [r.of(places)]
  for (let n = r.of([1, 1, 1, 1, 2, 3]); n > 0; n--) {
    const next = r.of(places)
    const repeats = stations.indexOf(next)
    if (repeats < 0 || (repeats === 0 && stations.length > 1 && n === 1)) stations.push(next)
  }
  if (stations.length < 2) return
  const localDeparture = r.of([0, 1, 15, 720, 1380, 1439, r.whole(0, 1439), r.whole(0, 1439)])
  const blocks = stations.map(() => Math.max(step, Math.round(r.whole(30, 900) / step) * step))
  const grounds = stations.map(() => r.of([25, 60, 120, 400]))
  const cabins = stations.map((): [number, number, number] => [
    r.of([-1, 2, 5, 9, 9, 9, 9, 32_767]),
    r.of([-1, 3, 9]),
    r.of([-1, 2, 9]),
  ])
  const weekdays = r.chance(0.7) ? 127 : r.whole(1, 127)
  const irregular = r.chance(0.25)
  const marketers = [
    operating,
    ...(r.chance(0.3) ? [{ carrier: r.of(CARRIERS), number: 1000 + i, suffix: '' }] : []),
  ]
  if (r.chance(0.1)) marketers.push({ carrier: r.of(CARRIERS), number: 2000 + i, suffix: 'B' })

  for (const [fromDay, endDay] of [
    [FIRST_DAY, CHANGE_DAY],
    [CHANGE_DAY, FIRST_DAY + DAYS],
  ] as const) {
    // Minutes of the legs counted from the UTC midnight that begins local day 0 in UTC.
    let at = localDeparture - offsetAt(stations[0]!, fromDay)
    const legs: Leg[] = []
    for (let n = 0; n + 1 < stations.length; n++) {
      const arrives = at + blocks[n]!
      legs.push({ from: stations[n]!, to: stations[n + 1]!, departs: at, arrives, seats: cabins[n]! })
      at = arrives + grounds[n]!
    }
    for (const marketing of marketers) {
      if (marketing !== operating && r.chance(0.2)) continue
      for (let a = 0; a < legs.length; a++) {
        for (let b = a; b < legs.length; b++) {
          if (r.chance(0.1)) continue
          into.push(
            segment(r, legs.slice(a, b + 1), operating, marketing, { fromDay, endDay, weekdays, irregular }),
          )
        }
      }
    }
  }
}

type Designator = { carrier: string; number: number; suffix: string }
type Period = { fromDay: number; endDay: number; weekdays: number; irregular: boolean }

function segment(
  r: Random,
  legs: Leg[],
  operating: Designator,
  marketing: Designator,
  period: Period,
): PlainFlight {
  const { departs, from } = legs[0]!
  const { arrives, to } = legs.at(-1)!
  const dayOf = (minute: number) => Math.floor(minute / 1440)
  const local = (minute: number, place: Place) => dayOf(minute + offsetAt(place, period.fromDay))
  const utcDay = dayOf(departs)
  // The weekday mask turns with the shift between local and UTC day.
  const turn = ((utcDay % 7) + 7) % 7
  const weekdays = ((period.weekdays << turn) | (period.weekdays >> (7 - turn))) & 127
  const least = (cabin: 0 | 1 | 2) => Math.min(...legs.map(leg => leg.seats[cabin]))
  const firstDay = period.fromDay + utcDay
  const endDay = period.endDay + utcDay
  const days = Array.from({ length: endDay - firstDay }, (_, n) => firstDay + n)
  return {
    ...marketing,
    operating,
    from: from.code,
    to: to.code,
    firstDay,
    endDay,
    weekdays,
    ...(period.irregular ? { days: days.filter(day => (day * 7 + operating.number) % 3 !== 0) } : {}),
    departure: departs - utcDay * 1440,
    elapsed: arrives - departs,
    departureOffset: offsetAt(from, period.fromDay),
    arrivalOffset: offsetAt(to, period.fromDay),
    stops: legs.length - 1,
    restriction: r.chance(0.1) ? r.whole(1, 7) : 0,
    seats: [least(0), least(1), least(2)],
    legs: legs.map(leg => ({
      name: `${operating.carrier}${operating.number}${operating.suffix}/${leg.from.code}`,
      shift: local(leg.departs, leg.from) - utcDay,
    })),
  }
}

function randomFares(r: Random, places: Place[]): PlainFare[] {
  const fares: PlainFare[] = []
  const seen = new Set<string>()
  const flat = r.chance(0.3)
  for (let set = r.whole(3, 25); set > 0; set--) {
    const all = set <= 2
    const carrier = all || r.chance(0.4) ? '*' : r.of(CARRIERS)
    const origin = all || r.chance(0.5) ? '*' : r.of(places).code
    const destination = all || r.chance(0.5) ? '*' : r.of(places).code
    for (const cabin of CABIN_NAMES) {
      const key = `${carrier},${origin},${destination},${cabin}`
      if (seen.has(key) || (!all && r.chance(0.3))) continue
      seen.add(key)
      const letters = [...'YBMQJCDFA'].slice(0, r.whole(1, 6)).sort(() => r.next() - 0.5)
      for (const bookingClass of letters) {
        fares.push({
          carrier,
          origin,
          destination,
          cabin,
          bookingClass,
          currency: r.of(['USD', 'USD', 'USD', 'EUR', 'JPY', 'KWD', 'VND']),
          base: flat ? r.of([5000, 10_000]) : r.whole(0, 60_000),
          perKm: flat ? '0' : r.of(['0.05', '0.125', '0.5', '0.0333', '1']),
          seats: r.of([0, 1, 2, 5, 9, 9, 9]),
        })
      }
    }
  }
  return fares
}

function randomSold(r: Random, flights: readonly PlainFlight[]): Map<string, Map<string, number>> {
  const sold = new Map<string, Map<string, number>>()
  const density = r.of([0, 0.02, 0.2])
  for (const flight of flights) {
    for (const leg of flight.legs) {
      for (let day = FIRST_DAY; day < FIRST_DAY + DAYS; day++) {
        if (!r.chance(density)) continue
        const key = soldKey(r.of(['live', 'test']), leg.name, day, r.of(CABIN_NAMES))
        const classes = sold.get(key) ?? new Map<string, number>()
        classes.set(r.chance(0.1) ? 'closed' : r.of([...'YBMQJCDFA']), r.whole(0, 6))
        sold.set(key, classes)
      }
    }
  }
  return sold
}

function randomExceptions(r: Random, places: Place[]): PlainException[] {
  const carrier = () => (r.chance(0.4) ? '*' : r.of(CARRIERS))
  return Array.from({ length: r.whole(1, 6) }, () => ({
    airport: r.of(places).code,
    arriving: carrier(),
    departing: carrier(),
    minutes: r.of([0, 20, 45, 120, 240]),
  }))
}

function randomQuery(r: Random, places: Place[]): PlainQuery {
  const from = r.of(places)
  const others = places.filter(place => place !== from)
  const to = r.of(others)
  const byCity = r.chance(0.35) && from.city !== to.city
  const allOf = (place: Place) => (byCity ? places.filter(other => other.city === place.city) : [place])
  const departDay = FIRST_DAY + r.whole(1, DAYS - 3)
  return {
    mode: r.of(['live', 'live', 'test']),
    origins: allOf(from).map(place => place.code),
    destinations: allOf(to).map(place => place.code),
    departDay,
    ...(r.chance(0.4) ? { returnDay: departDay + r.of([0, 0, 1, 1, 2, 4]) } : {}),
    passengers: r.of([1, 1, 1, 1, 2, 3, 4, 9]),
    cabin: r.of(['economy', 'economy', 'economy', 'business', 'first']),
  }
}
