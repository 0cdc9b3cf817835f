/**
 * The same question answered by trying everything: flights expanded to dates, nested loops, no bounds, plain lists and plain rules.
 * Shares nothing with the engine but the score and the order of ties.
 */
import { journeyName, journeyOrder, pairOrder } from '../../src/timetable/journey.ts'
import { score } from '../../src/travel/score.ts'
import { kmBetween, type PlainFlight, type PlainNetwork } from './network.ts'

export const CABIN_NAMES = ['economy', 'business', 'first'] as const
export type PlainCabin = (typeof CABIN_NAMES)[number]

export type PlainFare = {
  carrier: string
  origin: string
  destination: string
  cabin: PlainCabin
  bookingClass: string
  currency: string
  base: number
  /** Decimal text, as in a fares file. */
  perKm: string
  seats: number
}

/** By `soldKey`, seats sold of each booking class; the class `closed` closes the cabin. */
export type PlainSold = ReadonlyMap<string, ReadonlyMap<string, number>>

export function soldKey(mode: string, leg: string, day: number, cabin: string): string {
  return [mode, leg, day, cabin].join('|')
}

/** Station exception: the first that matches holds. `*` is any carrier. */
export type PlainException = { airport: string; arriving: string; departing: string; minutes: number }

export type PlainRules = {
  minimum: { DD: number; DI: number; ID: number; II: number }
  longest: number
  connections: number
  offers: number
  exceptions: readonly PlainException[]
}

export type PlainQuery = {
  mode: 'live' | 'test'
  origins: readonly string[]
  destinations: readonly string[]
  departDay: number
  returnDay?: number | undefined
  passengers: number
  cabin: PlainCabin
}

export type PlainWorld = {
  network: PlainNetwork
  fares: readonly PlainFare[]
  /** Of a currency: its exponent, and parts of the reference currency for one minor unit; undefined without a rate. */
  rates: Readonly<Record<string, { exponent: number; parts: number | undefined }>>
  sold: PlainSold
  rules: PlainRules
}

/** An option as text, so that lists compare at a glance. */
export type PlainOption = {
  slices: string[]
  referencePrice: number
  minutes: number
  score: number
  seatsLeft: number
}

/** A flight on a date, with its price for the party. */
type Dated = { flight: PlainFlight; departs: number; arrives: number; international: boolean; fare: Taken }
type Taken = { bookingClass: string; price: number; left: number }
type Way = { dated: Dated[]; score: number; referencePrice: number; minutes: number; departure: number }

const MINUTES = 1440

/** Whether a flight leaves on a day. */
export function leavesOn(flight: PlainFlight, day: number): boolean {
  if (day < flight.firstDay || day >= flight.endDay) return false
  if (flight.days !== undefined) return flight.days.includes(day)
  // Day 0 was a Saturday.
  const monday = (day - 2 + 7) % 7
  return Math.floor(flight.weekdays / 2 ** monday) % 2 === 1
}

/** All options in order. */
export function tryEverything(world: PlainWorld, query: PlainQuery): PlainOption[] {
  const out = allWays(world, query, query.origins, query.destinations, query.departDay)
  if (query.returnDay === undefined) {
    const order = journeyOrder('score', nameOf)
    const musts = [
      first(out, journeyOrder('referencePrice', nameOf)),
      first(out.filter(isNonStop), journeyOrder('minutes', nameOf)),
    ]
    return pick(out, order, musts, world.rules.offers).map(way => plain([way]))
  }
  const back = allWays(world, query, query.destinations, query.origins, query.returnDay)
  const pairs: [Way, Way][] = []
  for (const a of out) for (const b of back) if (b.departure > a.departure + a.minutes) pairs.push([a, b])
  const direct = pairs.filter(pair => pair.every(isNonStop))
  const musts = [
    first(pairs, pairOrder('referencePrice', nameOf)),
    first(direct, pairOrder('minutes', nameOf)),
  ]
  return pick(pairs, pairOrder('score', nameOf), musts, world.rules.offers).map(plain)
}

function first<T>(list: T[], order: (a: T, b: T) => number): T | undefined {
  let least: T | undefined
  for (const item of list) if (least === undefined || order(item, least) < 0) least = item
  return least
}

function pick<T>(list: T[], order: (a: T, b: T) => number, musts: (T | undefined)[], count: number): T[] {
  const sorted = [...list].sort(order)
  const chosen = sorted.slice(0, count)
  const needed = new Set<T>(musts.filter(must => must !== undefined) as T[])
  for (const must of needed) {
    if (chosen.includes(must)) continue
    if (chosen.length >= count) {
      // The last place that is not itself a must makes room.
      const victim = chosen.findLastIndex(item => !needed.has(item))
      if (victim >= 0) chosen.splice(victim, 1)
    }
    chosen.push(must)
  }
  return chosen.sort(order)
}

function isNonStop(way: Way): boolean {
  return way.dated.length === 1 && way.dated[0]!.flight.stops === 0
}

function allWays(
  world: PlainWorld,
  query: PlainQuery,
  origins: readonly string[],
  destinations: readonly string[],
  localDay: number,
): Way[] {
  const { rules } = world
  const dated = expand(world, query, localDay)
  const leaving = new Map<string, Dated[]>()
  for (const item of dated) {
    const list = leaving.get(item.flight.from)
    if (list === undefined) leaving.set(item.flight.from, [item])
    else list.push(item)
  }
  const isEnd = (code: string) => origins.includes(code) || destinations.includes(code)
  const follow = (a: Dated): Dated[] =>
    (leaving.get(a.flight.to) ?? []).filter(b => {
      const wait = b.departs - a.arrives
      const oa = a.flight.operating
      const ob = b.flight.operating
      const sameNumber = oa.carrier === ob.carrier && oa.number === ob.number && oa.suffix === ob.suffix
      return wait >= minimum(rules, a, b) && wait <= rules.longest && !sameNumber
    })
  const found: Dated[][] = []
  for (const origin of origins) {
    for (const a of leaving.get(origin) ?? []) {
      const local = a.departs + a.flight.departureOffset
      if (Math.floor(local / MINUTES) !== localDay) continue
      if (destinations.includes(a.flight.to)) found.push([a])
      if (isEnd(a.flight.to) || rules.connections < 1) continue
      for (const b of follow(a)) {
        if (destinations.includes(b.flight.to)) found.push([a, b])
        if (isEnd(b.flight.to) || b.flight.to === a.flight.to || rules.connections < 2) continue
        for (const c of follow(b)) if (destinations.includes(c.flight.to)) found.push([a, b, c])
      }
    }
  }
  const allowed = found.filter(list => list.every((_, i) => rightsAllow(list, i)))
  const byAircraft = new Map<string, Way>()
  for (const list of allowed) {
    const way = asWay(list)
    const key = list
      .map(d => `${d.flight.from}${d.departs}+${d.flight.elapsed} ${d.flight.legs.map(l => l.name)}`)
      .join('/')
    const other = byAircraft.get(key)
    if (other === undefined || journeyOrder('referencePrice', nameOf)(way, other) < 0)
      byAircraft.set(key, way)
  }
  return [...byAircraft.values()]
}

function expand(world: PlainWorld, query: PlainQuery, localDay: number): Dated[] {
  const airports = new Map(world.network.airports.map(airport => [airport.code, airport]))
  const all: Dated[] = []
  for (const flight of world.network.flights) {
    for (let day = localDay - 2; day <= localDay + 7; day++) {
      if (!leavesOn(flight, day)) continue
      const fare = cheapest(world, query, flight, day)
      if (fare === undefined) continue
      const departs = day * MINUTES + flight.departure
      const international = airports.get(flight.from)!.country !== airports.get(flight.to)!.country
      all.push({ flight, departs, arrives: departs + flight.elapsed, international, fare })
    }
  }
  return all
}

function minimum(rules: PlainRules, a: Dated, b: Dated): number {
  for (const e of rules.exceptions) {
    const arriving = e.arriving === '*' || e.arriving === a.flight.carrier
    const departing = e.departing === '*' || e.departing === b.flight.carrier
    if (e.airport === a.flight.to && arriving && departing) return e.minutes
  }
  const status = (a.international ? 'I' : 'D') + (b.international ? 'I' : 'D')
  return rules.minimum[status as 'DD' | 'DI' | 'ID' | 'II']
}

function rightsAllow(list: Dated[], i: number): boolean {
  const mine = list[i]!
  const others = list.filter((_, k) => k !== i)
  const own = others.filter(o => o.flight.carrier === mine.flight.carrier)
  const abroad = others.filter(o => o.international)
  return [
    true,
    others.length >= 1,
    abroad.length >= 1,
    own.length >= 1,
    own.some(o => o.international),
    list.length === 1,
    abroad.length === 0,
    own.length === others.length,
  ][mine.flight.restriction]!
}

function cheapest(world: PlainWorld, query: PlainQuery, flight: PlainFlight, day: number): Taken | undefined {
  if (flight.seats[CABIN_NAMES.indexOf(query.cabin)]! < 0) return undefined
  const open: Taken[] = []
  for (const { fare, price } of pricedLadder(world, flight, query.cabin)) {
    const left = seatsLeft(world, query, flight, day, fare)
    if (left >= query.passengers) open.push({ bookingClass: fare.bookingClass, price, left })
  }
  open.sort((a, b) => a.price - b.price || (a.bookingClass < b.bookingClass ? -1 : 1))
  return open[0]
}

/** Ladders by flight and cabin: they do not depend on the question, and pricing them is slow. */
const ladders = new WeakMap<PlainFlight, Map<string, { fare: PlainFare; price: number }[]>>()

function pricedLadder(
  world: PlainWorld,
  flight: PlainFlight,
  cabin: PlainCabin,
): { fare: PlainFare; price: number }[] {
  const ofFlight = ladders.get(flight) ?? new Map<string, { fare: PlainFare; price: number }[]>()
  ladders.set(flight, ofFlight)
  let priced = ofFlight.get(cabin)
  if (priced === undefined) {
    priced = []
    for (const fare of ladder(world, flight, cabin)) {
      const price = priceOf(world, flight, fare)
      if (price !== undefined) priced.push({ fare, price })
    }
    ofFlight.set(cabin, priced)
  }
  return priced
}

function ladder(world: PlainWorld, flight: PlainFlight, cabin: PlainCabin): PlainFare[] {
  const rank = (fare: PlainFare) => {
    const matches = (pattern: string, value: string) => pattern === '*' || pattern === value
    if (
      !matches(fare.carrier, flight.carrier) ||
      !matches(fare.origin, flight.from) ||
      !matches(fare.destination, flight.to)
    )
      return -1
    const ends = (fare.origin === '*' ? 0 : 4) + (fare.destination === '*' ? 0 : 2)
    return ends + (fare.carrier === '*' ? 0 : 1)
  }
  const matching = world.fares.filter(fare => fare.cabin === cabin && rank(fare) >= 0)
  const top = Math.max(...matching.map(rank))
  return matching.filter(fare => rank(fare) === top)
}

function priceOf(world: PlainWorld, flight: PlainFlight, fare: PlainFare): number | undefined {
  const { exponent, parts } = world.rates[fare.currency]!
  if (parts === undefined) return undefined
  const find = (code: string) => world.network.airports.find(airport => airport.code === code)!
  let km = kmBetween(find(flight.from), find(flight.to))
  let under = 1n
  while (!Number.isInteger(km)) {
    km *= 2
    under *= 2n
  }
  const [units = '', decimals = ''] = fare.perKm.split('.')
  const over = BigInt(units + decimals) * BigInt(km) * 10n ** BigInt(exponent)
  under *= 10n ** BigInt(decimals.length)
  const whole = over / under
  const up = (over - whole * under) * 2n >= under ? 1n : 0n
  return Math.round((fare.base + Number(whole + up)) * parts)
}

function seatsLeft(
  world: PlainWorld,
  query: PlainQuery,
  flight: PlainFlight,
  day: number,
  fare: PlainFare,
): number {
  const configured = flight.seats[CABIN_NAMES.indexOf(query.cabin)]!
  let left = Math.min(fare.seats, configured)
  for (const leg of flight.legs) {
    const sold = world.sold.get(soldKey(query.mode, leg.name, day + leg.shift, query.cabin))
    if (sold === undefined) continue
    if (sold.has('closed')) return -1
    const total = [...sold.values()].reduce((sum, seats) => sum + seats, 0)
    left = Math.min(left, fare.seats - (sold.get(fare.bookingClass) ?? 0), configured - total)
  }
  return left
}

function asWay(dated: Dated[]): Way {
  const departure = dated[0]!.departs
  const minutes = dated.at(-1)!.arrives - departure
  const referencePrice = dated.reduce((total, d) => total + d.fare.price, 0)
  return { dated, referencePrice, minutes, departure, score: score(referencePrice, minutes, stopsOf(dated)) }
}

function stopsOf(dated: Dated[]): number {
  return dated.reduce((total, d) => total + d.flight.stops, dated.length - 1)
}

function nameOf(way: Way): string {
  return journeyName(way.dated.map(({ flight, departs }) => ({ ...flight, departure: departs })))
}

function plain(ways: readonly Way[]): PlainOption {
  const total = (value: (way: Way) => number) => ways.reduce((sum, way) => sum + value(way), 0)
  return {
    slices: ways.map(way =>
      way.dated.map(({ flight, departs, fare }) => segmentText(flight, departs, fare.bookingClass)).join(' '),
    ),
    referencePrice: total(way => way.referencePrice),
    minutes: total(way => way.minutes),
    score: total(way => way.score),
    seatsLeft: Math.min(...ways.flatMap(way => way.dated.map(d => d.fare.left))),
  }
}

/** `BA15A LHR-JFK @1234567 Y`. */
export function segmentText(
  flight: { carrier: string; number: number; suffix: string; from: string; to: string },
  departs: number,
  bookingClass: string,
): string {
  return `${flight.carrier}${flight.number}${flight.suffix} ${flight.from}-${flight.to} @${departs} ${bookingClass}`
}
