/**
 * One direction of travel: the exact best journeys between two ends on a day.
 * Skeletons are visited by rising bound, and flights on them only while the figures reached so far leave them a chance.
 */
import { score } from '../travel/score.ts'
import { MINUTES_A_DAY } from '../travel/time.ts'
import { type Best, best, keep, worst } from './best.ts'
import { sameAircraft, sameService } from './codeshare.ts'
import { firstFrom } from './find.ts'
import { operates, RESTRICTION } from './image.ts'
import { type Journey, journeyOrder, nameIn } from './journey.ts'
import { cheapestOpen, type Stall } from './quote.ts'
import { mayCombine } from './restriction.ts'
import { defaultConnection, type Rules } from './rules.ts'
import {
  bucketOrder,
  connectionScore,
  directRoutes,
  findSkeletons,
  leastConnection,
  type Network,
  noSkeletons,
} from './skeleton.ts'

/** One direction that is asked for. */
export type Direction = {
  /** Index into MODES. */
  mode: number
  /** Airport indices: one airport, or all of a city. */
  origins: readonly number[]
  destinations: readonly number[]
  /** Local day of departure at the origin. */
  day: number
  /** Index into CABINS. */
  cabin: number
  passengers: number
  /** UTC minutes: only journeys that leave after the one and arrive before the other. */
  leavesAfter: number
  arrivesBefore: number
}

/** What was found, each list in its own order. */
export type Found = {
  byScore: readonly Journey[]
  byPrice: readonly Journey[]
  /** All non-stop journeys, fastest first. */
  nonStops: readonly Journey[]
}

/** A flight of the day that a journey can begin with, in its cheapest class with seats. */
type Beginning = { flight: number; day: number; rung: number }

/** A search under way. */
type Pass = {
  readonly stall: Stall
  readonly network: Network
  readonly direction: Direction
  readonly byScore: Best<Journey>
  readonly byPrice: Best<Journey>
  readonly nonStops: Best<Journey>
  /** Figures of the journeys that are last in their lists. */
  worstScore: number
  worstPrice: number
  worstPriceScore: number
  readonly beginnings: Map<number, Beginning[]>
  /** The skeleton being flown: routes, least connecting time before each, and what is still to come after each at least. */
  segments: number
  readonly routes: number[]
  readonly connection: number[]
  readonly restScore: number[]
  readonly restPrice: number[]
  /** The flights chosen so far. */
  readonly flights: number[]
  readonly days: number[]
  readonly rungs: number[]
  departure: number
}

/** Used again by every search of the thread; they grow and are never cut. */
const skeletons = noSkeletons()
const visits: number[] = []

/**
 * Finds the best journeys of a direction.
 * @param byScore how many to list by score
 * @param byPrice how many to list by price
 */
export function bestJourneys(
  stall: Stall,
  rules: Rules,
  direction: Direction,
  byScore: number,
  byPrice: number,
): Found {
  const pass = begin(stall, rules, direction, byScore, byPrice)
  const hopeless = (least: number, price: number) => isHopeless(pass, least, price)
  for (const route of directRoutes(pass.network)) flySkeleton(pass, route, -1, -1)
  for (const connections of [1, 2] as const) {
    if (connections > rules.mostConnections) break
    findSkeletons(pass.network, connections, hopeless, skeletons)
    bucketOrder(skeletons, visits)
    for (let i = 0; i < skeletons.count; i++) {
      const at = visits[i]!
      if (isHopeless(pass, skeletons.score[at]!, skeletons.price[at]!)) continue
      flySkeleton(pass, skeletons.first[at]!, skeletons.middle[at]!, skeletons.last[at]!)
    }
  }
  return { byScore: pass.byScore.list, byPrice: pass.byPrice.list, nonStops: pass.nonStops.list }
}

function begin(stall: Stall, rules: Rules, direction: Direction, byScore: number, byPrice: number): Pass {
  const { timetable, market } = stall
  const nameOf = (journey: Journey) => nameIn(timetable, journey)
  const { origins, destinations, cabin } = direction
  return {
    stall,
    network: { timetable, market, rules, origins, destinations, bounds: cabin * timetable.counts.routes },
    direction,
    byScore: best(byScore, journeyOrder('score', nameOf)),
    byPrice: best(byPrice, journeyOrder('referencePrice', nameOf)),
    nonStops: best(Infinity, journeyOrder('minutes', nameOf)),
    worstScore: byScore === 0 ? -1 : Infinity,
    worstPrice: byPrice === 0 ? -1 : Infinity,
    worstPriceScore: Infinity,
    beginnings: new Map(),
    segments: 0,
    routes: [],
    connection: [],
    restScore: [],
    restPrice: [],
    flights: [],
    days: [],
    rungs: [],
    departure: 0,
  }
}

/** Whether a journey with figures no better than these would be listed nowhere. */
function isHopeless(pass: Pass, least: number, price: number): boolean {
  return (
    least > pass.worstScore &&
    (price > pass.worstPrice || (price === pass.worstPrice && least > pass.worstPriceScore))
  )
}

/** Tries all flights on a skeleton. */
function flySkeleton(pass: Pass, first: number, middle: number, last: number): void {
  const { network, routes, restScore, restPrice, connection } = pass
  const { market, bounds } = network
  pass.segments = 0
  for (const route of [first, middle, last]) if (route >= 0) routes[pass.segments++] = route
  restScore[pass.segments - 1] = 0
  restPrice[pass.segments - 1] = 0
  for (let i = pass.segments - 1; i > 0; i--) {
    const route = routes[i]!
    connection[i] = leastConnection(network, routes[i - 1]!, route)
    restScore[i - 1] =
      restScore[i]! + connectionScore(network, routes[i - 1]!, route) + market.routeScore[bounds + route]!
    restPrice[i - 1] = restPrice[i]! + market.routePrice[bounds + route]!
  }
  for (const { flight, day, rung } of beginningsOn(pass, first)) {
    pass.departure = day * MINUTES_A_DAY + network.timetable.departureMinute[flight]!
    board(pass, 0, flight, day, rung, 0, 0)
  }
}

/** Flights of a route that leave on the local day asked for and have seats for the party. */
function beginningsOn(pass: Pass, route: number): readonly Beginning[] {
  const known = pass.beginnings.get(route)
  if (known !== undefined) return known
  const { stall, direction } = pass
  const { timetable } = stall
  const list: Beginning[] = []
  for (let flight = timetable.flightStart[route]!; flight < timetable.flightStart[route + 1]!; flight++) {
    const day = direction.day + timetable.dayShift[flight]!
    if (!operates(timetable, flight, day)) continue
    if (day * MINUTES_A_DAY + timetable.departureMinute[flight]! <= direction.leavesAfter) continue
    const rung = cheapestOpen(stall, direction.mode, flight, day, direction.cabin, direction.passengers)
    if (rung >= 0) list.push({ flight, day, rung })
  }
  pass.beginnings.set(route, list)
  return list
}

/** Takes a flight as the next segment and goes on from where it lands. `price` and `stops` are those of the segments before. */
function board(
  pass: Pass,
  at: number,
  flight: number,
  day: number,
  rung: number,
  price: number,
  stops: number,
): void {
  const { timetable, market } = pass.stall
  const arrival = day * MINUTES_A_DAY + timetable.departureMinute[flight]! + timetable.elapsed[flight]!
  const paid = price + market.classReference[rung]!
  const landings = stops + timetable.stops[flight]!
  const reached = score(paid, arrival - pass.departure, landings)
  // A journey without connection is always taken in: the fastest non-stop is listed however it ranks.
  if (pass.segments > 1 && isHopeless(pass, reached + pass.restScore[at]!, paid + pass.restPrice[at]!)) return
  if (arrival >= pass.direction.arrivesBefore) return
  pass.flights[at] = flight
  pass.days[at] = day
  pass.rungs[at] = rung
  if (at === pass.segments - 1) takeIn(pass, paid, arrival - pass.departure, landings, reached)
  else connect(pass, at + 1, arrival, paid, landings + 1)
}

/** Tries the flights of the next route that leave in time, going round the clock from the first that can be reached. */
function connect(pass: Pass, at: number, arrival: number, price: number, stops: number): void {
  const { stall, direction, network } = pass
  const { timetable, market } = stall
  const { departureMinute, elapsed } = timetable
  const route = pass.routes[at]!
  const start = timetable.flightStart[route]!
  const end = timetable.flightStart[route + 1]!
  const cheapest = direction.cabin * timetable.counts.flights
  const earliest = arrival + pass.connection[at]!
  const latest = arrival + network.rules.longestConnection
  let day = Math.floor(earliest / MINUTES_A_DAY)
  let flight = firstFrom(departureMinute, start, end, earliest - day * MINUTES_A_DAY)
  for (; ; flight++) {
    if (flight === end) {
      flight = start
      day++
    }
    const departure = day * MINUTES_A_DAY + departureMinute[flight]!
    if (departure > latest) return
    const least = price + market.cheapest[cheapest + flight]!
    const landings = stops + timetable.stops[flight]!
    const reached = score(least, departure + elapsed[flight]! - pass.departure, landings)
    if (isHopeless(pass, reached + pass.restScore[at]!, least + pass.restPrice[at]!)) continue
    if (!operates(timetable, flight, day) || !mayConnect(pass, at, flight, departure - arrival)) continue
    const rung = cheapestOpen(stall, direction.mode, flight, day, direction.cabin, direction.passengers)
    if (rung >= 0) board(pass, at, flight, day, rung, price, stops)
  }
}

/** Whether a flight can follow the one before: not the same one flying on, and no exception asks for a longer connection. */
function mayConnect(pass: Pass, at: number, flight: number, wait: number): boolean {
  const before = pass.flights[at - 1]!
  const { timetable, rules } = pass.network
  if (sameService(timetable, before, flight)) return false
  if (rules.exceptions === undefined) return true
  const { routeInternational } = timetable
  const usual = defaultConnection(
    rules,
    routeInternational[pass.routes[at - 1]!]!,
    routeInternational[pass.routes[at]!]!,
  )
  return wait >= (rules.exceptions.minutes(before, flight) ?? usual)
}

/** Lists the journey that the chosen flights make, unless traffic rights forbid it. */
function takeIn(pass: Pass, referencePrice: number, minutes: number, stops: number, total: number): void {
  const { timetable, market } = pass.stall
  const flights = pass.flights.slice(0, pass.segments)
  const routes = pass.routes.slice(0, pass.segments)
  const restricted = flights.some(flight => timetable.restriction[flight] !== RESTRICTION.none)
  if (restricted && !mayCombine(timetable, flights, routes)) return
  const journey: Journey = {
    flights,
    routes,
    days: pass.days.slice(0, pass.segments),
    classes: pass.rungs.slice(0, pass.segments),
    referencePrice,
    minutes,
    stops,
    score: total,
    departure: pass.departure,
  }
  const codeshared = flights.some(flight => market.codeshared[flight] === 1)
  const same = codeshared ? (a: Journey, b: Journey) => sameAircraft(timetable, a, b) : undefined
  keep(pass.byScore, journey, same)
  keep(pass.byPrice, journey, same)
  if (stops === 0) keep(pass.nonStops, journey, same)
  const lastByScore = worst(pass.byScore)
  if (lastByScore !== undefined) pass.worstScore = lastByScore.score
  const lastByPrice = worst(pass.byPrice)
  if (lastByPrice !== undefined) {
    pass.worstPrice = lastByPrice.referencePrice
    pass.worstPriceScore = lastByPrice.score
  }
}
