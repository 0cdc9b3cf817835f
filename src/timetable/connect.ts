/**
 * The search: what flights of the timetable make the best offers between two places on a day, priced and with seats for the party.
 * Exact: equal, in members and order, to trying everything.
 */
import { CABINS, type Cabin } from '../travel/itinerary.ts'
import { MINUTES_A_DAY } from '../travel/time.ts'
import { type Journey, journeyOrder, nameIn, type Option, type Order, pairOrder, sum } from './journey.ts'
import { bestPairs, type Side } from './pair.ts'
import { type Stall, seatsOfRung } from './quote.ts'
import type { Rules } from './rules.ts'
import { bestJourneys, type Direction, type Found } from './slice.ts'
import { MODES, type Mode } from './sold.ts'

/** What is asked for. Airports are indices of the timetable; days are local at the place of departure. */
export type Query = {
  mode: Mode
  /** One airport, or all of a city. */
  origins: readonly number[]
  destinations: readonly number[]
  departDay: number
  /** The first departure is after this UTC minute: what has left is not sold. */
  leavesAfter?: number
  returnDay?: number | undefined
  passengers: number
  cabin: Cabin
}

/** Options, best first. */
export type Journeys = readonly Option[]

/**
 * Finds the best options: one way without `returnDay`, else round trips whose return leaves after the outbound arrives. The cheapest of all
 * and the fastest non-stop are always among them; they take the last places when their score is too high.
 */
export function search(market: Stall & { rules: Rules }, query: Query): Journeys {
  return query.returnDay === undefined ? oneWay(market, query) : roundTrip(market, query, query.returnDay)
}

function oneWay({ rules, ...stall }: Stall & { rules: Rules }, query: Query): Journeys {
  const { byScore, byPrice, nonStops } = bestJourneys(stall, rules, outboundOf(query), rules.offers, 1)
  const order = journeyOrder('score', (journey: Journey) => nameIn(stall.timetable, journey))
  const listed = withMusts(byScore, [byPrice[0], nonStops[0]], order, rules.offers)
  return listed.map(journey => asOption(stall, query, [journey]))
}

/** Where a longer list is needed because pairs drop out, it becomes this many times as long. */
const DEEPEN = 4

function roundTrip({ rules, ...stall }: Stall & { rules: Rules }, query: Query, returnDay: number): Journeys {
  const nameOf = (journey: Journey) => nameIn(stall.timetable, journey)
  const search = (direction: Direction, depth: Depth): Searched => ({
    depth,
    ...bestJourneys(stall, rules, direction, depth.byScore, depth.byPrice),
  })
  const depth = { byScore: rules.offers, byPrice: 1 }
  const outbound = { ...outboundOf(query), arrivesBefore: lastMinuteOf(returnDay) }
  const inbound = {
    ...outboundOf(query),
    origins: query.destinations,
    destinations: query.origins,
    day: returnDay,
  }
  let out = search(outbound, depth)
  let back = search({ ...inbound, leavesAfter: firstArrival(out) }, depth)
  for (;;) {
    const best = bestPairs(
      side(out, 'byScore'),
      side(back, 'byScore'),
      pairOrder('score', nameOf),
      rules.offers,
    )
    const cheapest = bestPairs(
      side(out, 'byPrice'),
      side(back, 'byPrice'),
      pairOrder('referencePrice', nameOf),
      1,
    )
    if (best.deepenOut || cheapest.deepenOut) {
      out = search(outbound, deeper(out.depth, best.deepenOut, cheapest.deepenOut))
    }
    if (best.deepenBack || cheapest.deepenBack) {
      const depth = deeper(back.depth, best.deepenBack, cheapest.deepenBack)
      back = search({ ...inbound, leavesAfter: firstArrival(out) }, depth)
    }
    if (best.deepenOut || best.deepenBack || cheapest.deepenOut || cheapest.deepenBack) continue
    const all = (list: readonly Journey[]): Side => ({ list, complete: true })
    const fastest = bestPairs(all(out.nonStops), all(back.nonStops), pairOrder('minutes', nameOf), 1)
    const musts = [cheapest.list[0], fastest.list[0]]
    const listed = withMusts(best.list, musts, pairOrder('score', nameOf), rules.offers)
    return listed.map(pair => asOption(stall, query, pair))
  }
}

/** How long the lists of a direction may be. */
type Depth = { byScore: number; byPrice: number }
type Searched = Found & { depth: Depth }

function side(searched: Searched, by: keyof Depth): Side {
  const list = searched[by]
  return { list, complete: list.length < searched.depth[by] }
}

function deeper(depth: Depth, byScore: boolean, byPrice: boolean): Depth {
  return {
    byScore: byScore ? depth.byScore * DEEPEN : depth.byScore,
    byPrice: byPrice ? depth.byPrice * DEEPEN : depth.byPrice,
  }
}

/** First arrival of a direction as far as it is known: a return that leaves earlier makes no pair. */
function firstArrival(searched: Searched): number {
  if (!side(searched, 'byScore').complete) return -Infinity
  return Math.min(...searched.byScore.map(journey => journey.departure + journey.minutes))
}

/** No place is further behind UTC than this. */
const LEAST_OFFSET_MINUTES = -12 * 60

/** The UTC minute at which a day has ended everywhere. */
function lastMinuteOf(day: number): number {
  return (day + 1) * MINUTES_A_DAY - LEAST_OFFSET_MINUTES
}

function outboundOf(query: Query): Direction {
  return {
    mode: MODES.indexOf(query.mode),
    origins: query.origins,
    destinations: query.destinations,
    day: query.departDay,
    cabin: CABINS.indexOf(query.cabin),
    passengers: query.passengers,
    leavesAfter: query.leavesAfter ?? -Infinity,
    arrivesBefore: Infinity,
  }
}

/** The best of a list with the musts among them: those that are missing take the last places. */
function withMusts<T>(
  list: readonly T[],
  musts: readonly (T | undefined)[],
  order: Order<T>,
  count: number,
): T[] {
  const isOneOf = (item: T, items: readonly T[]) => items.some(other => order(item, other) === 0)
  const needed: T[] = []
  for (const must of musts) if (must !== undefined && !isOneOf(must, needed)) needed.push(must)
  const others = list.filter(item => !isOneOf(item, needed)).slice(0, Math.max(0, count - needed.length))
  return [...needed, ...others].sort(order)
}

function asOption(stall: Stall, query: Query, journeys: readonly Journey[]): Option {
  const mode = MODES.indexOf(query.mode)
  const cabin = CABINS.indexOf(query.cabin)
  let seatsLeft = Infinity
  let figures = { score: 0, referencePrice: 0, minutes: 0 }
  for (const journey of journeys) {
    figures = sum(figures, journey)
    journey.flights.forEach((flight, i) => {
      const left = seatsOfRung(stall, mode, flight, journey.days[i]!, cabin, journey.classes[i]!)
      seatsLeft = Math.min(seatsLeft, left)
    })
  }
  return { journeys, ...figures, seatsLeft }
}
