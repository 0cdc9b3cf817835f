import { operates, type Timetable } from '../../../timetable/image.ts'
import { type Designator, designatorName, parseDesignator } from '../../../timetable/operator.ts'
import { dateOf, formatLocal } from '../../../travel/time.ts'
import type { LegDeparture } from '../../supplier.ts'
import { departureMinute } from '../itinerary.ts'

/** A flight date: the legs that one aircraft flies under one number from a board point on. */
export type FlightDate = {
  /** Designator of the flight that operates, `BA15`. */
  flight: string
  board: string
  departs: string
  legs: readonly LegDeparture[]
}

/** What a designator and a date may turn out to be; where it is no one flight, what is near. */
export type FoundFlight =
  | { kind: 'found'; flightDate: FlightDate }
  /** It leaves from several airports that day, by flights of their own. */
  | { kind: 'several'; flight: string; boards: readonly string[] }
  /** It flies, but does not begin on that day there. */
  | { kind: 'other_day'; flight: string; near: readonly string[] }
  | { kind: 'unknown'; near: readonly string[] }

/** Days around the wanted one in which others are looked for. */
const NEAR_DAYS = 14
const NEAR_MAX = 5
/** A leg leaves at most so many days after its flight's first departure. */
const SHIFT_MAX = 3

/** `ba 015` → `BA15`; undefined when it is no designator. */
export function spelled(text: string): string | undefined {
  const designator = parseDesignator(text.trim().toUpperCase())
  return designator && designatorName(designator)
}

/**
 * The legs that fly under a designator on a local date. A number under which another carrier's flight is sold means that flight: the aircraft
 * is the same. Legs that are sold through belong to the flight of the first one and its date.
 * @param designator as `spelled` gives it
 * @param day local day at the first board point, or at `from`
 * @param from the board point to begin at, where the flight is not meant as a whole
 */
export function findFlightDate(
  timetable: Timetable,
  designator: string,
  day: number,
  from: string | undefined,
): FoundFlight {
  const flight = operatedAs(timetable, designator)
  if (flight === undefined) return { kind: 'unknown', near: nearDesignators(timetable, designator) }
  const legs = new Set<number>()
  for (let leg = 0; leg < timetable.counts.legs; leg++)
    if (timetable.text(timetable.legName[leg]!).startsWith(`${flight}/`)) legs.add(leg)
  const services = flightsOf(timetable, legs)
  const runs = runsAround(timetable, services, day, SHIFT_MAX)
  const after = new Map<string, LegDeparture[]>()
  const later = new Set<string>()
  for (const run of runs) {
    for (let i = 1; i < run.length; i++) {
      after.set(key(run[i - 1]!), [...(after.get(key(run[i - 1]!)) ?? []), run[i]!])
      later.add(key(run[i]!))
    }
  }
  const date = dateOf(day)
  const starts = new Map<string, LegDeparture>()
  for (const run of runs) {
    for (const leg of from === undefined ? run.slice(0, 1) : run) {
      const wanted = from === undefined ? !later.has(key(leg)) : boardOf(leg) === from
      if (leg.departs === date && wanted) starts.set(key(leg), leg)
    }
  }
  const [first, second] = starts.values()
  if (first === undefined)
    return { kind: 'other_day', flight, near: nearDates(timetable, services, day, later) }
  if (second !== undefined)
    return { kind: 'several', flight, boards: [...starts.values()].map(boardOf).sort() }
  const flown = new Map([[key(first), first]])
  for (const leg of flown.values()) for (const next of after.get(key(leg)) ?? []) flown.set(key(next), next)
  return {
    kind: 'found',
    flightDate: { flight, board: boardOf(first), departs: date, legs: [...flown.values()] },
  }
}

/** The designator under which the legs of a flight are named; undefined when nothing is sold under this one. */
function operatedAs(timetable: Timetable, designator: string): string | undefined {
  const { counts, legName, text } = timetable
  for (let leg = 0; leg < counts.legs; leg++)
    if (text(legName[leg]!).startsWith(`${designator}/`)) return designator
  for (let flight = 0; flight < counts.flights; flight++) {
    if (marketingName(timetable, flight) !== designator) continue
    return text(legName[timetable.flightLeg[timetable.legStart[flight]!]!]!).split('/', 1)[0]
  }
  return undefined
}

function marketingName(timetable: Timetable, flight: number): string {
  const suffix = timetable.suffix[flight]!
  return designatorName({
    carrier: timetable.text(timetable.carrier[flight]!),
    number: timetable.number[flight]!,
    suffix: suffix === 0 ? '' : String.fromCharCode(suffix),
  })
}

/** Flights for sale that take seats on any of these legs, under whatever number. */
function flightsOf(timetable: Timetable, legs: ReadonlySet<number>): number[] {
  const { counts, legStart, flightLeg } = timetable
  const found: number[] = []
  for (let flight = 0; flight < counts.flights; flight++) {
    for (let at = legStart[flight]!; at < legStart[flight + 1]!; at++) {
      if (!legs.has(flightLeg[at]!)) continue
      found.push(flight)
      break
    }
  }
  return found
}

/** The legs that these flights take, one list for each flight and each of its departures within some days of one. */
function runsAround(
  timetable: Timetable,
  flights: readonly number[],
  day: number,
  days: number,
): LegDeparture[][] {
  return flights.flatMap(flight => {
    const runs: LegDeparture[][] = []
    for (let utc = Math.max(0, day - days); utc <= day + days; utc++)
      if (operates(timetable, flight, utc)) runs.push(legsOf(timetable, flight, utc))
    return runs
  })
}

/** The legs of a flight on a UTC day, each with its local date. */
function legsOf(timetable: Timetable, flight: number, utcDay: number): LegDeparture[] {
  const legs: LegDeparture[] = []
  for (let at = timetable.legStart[flight]!; at < timetable.legStart[flight + 1]!; at++) {
    legs.push({
      leg: timetable.text(timetable.legName[timetable.flightLeg[at]!]!),
      departs: dateOf(utcDay + timetable.flightLegShift[at]!),
    })
  }
  return legs
}

/** Airport at which a leg is boarded. */
function boardOf({ leg }: LegDeparture): string {
  return leg.slice(leg.indexOf('/') + 1)
}

const key = ({ leg, departs }: LegDeparture) => `${departs} ${leg}`

/** The nearest departures of a flight from its first airport, as `2026-12-01T21:05:00+00:00 from LHR`. */
function nearDates(
  timetable: Timetable,
  flights: readonly number[],
  day: number,
  later: ReadonlySet<string>,
): string[] {
  const found = new Map<string, number>()
  for (const flight of flights) {
    for (let utc = Math.max(0, day - NEAR_DAYS); utc <= day + NEAR_DAYS; utc++) {
      if (!operates(timetable, flight, utc)) continue
      const first = legsOf(timetable, flight, utc)[0]!
      if (later.has(key(first))) continue
      const leaves = departureMinute(timetable, { flight, day: utc })
      const at = formatLocal(leaves, timetable.departureOffset[flight]!)
      found.set(`${at} from ${boardOf(first)}`, Math.abs(utc - day))
    }
  }
  return [...found]
    .sort(([a, aDays], [b, bDays]) => aDays - bDays || (a < b ? -1 : 1))
    .slice(0, NEAR_MAX)
    .map(([text]) => text)
    .sort()
}

/** Designators that are sold and look like this one: the same carrier's nearest numbers, else the same number of others. */
function nearDesignators(timetable: Timetable, designator: string): string[] {
  const wanted = parseDesignator(designator)
  if (wanted === undefined) return []
  const own = new Map<string, number>()
  const others = new Map<string, number>()
  for (let flight = 0; flight < timetable.counts.flights; flight++) {
    const number = timetable.number[flight]!
    const same = timetable.text(timetable.carrier[flight]!) === wanted.carrier
    if (same) own.set(marketingName(timetable, flight), distance(wanted, number))
    else if (number === wanted.number) others.set(marketingName(timetable, flight), 0)
  }
  const nearest = [...(own.size > 0 ? own : others)].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))
  return nearest.slice(0, NEAR_MAX).map(([name]) => name)
}

const distance = (wanted: Designator, number: number) => Math.abs(wanted.number - number)
