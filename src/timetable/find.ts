/** Finding a flight by what it is called instead of by its index, which changes with every image. */
import { MINUTES_A_DAY } from '../travel/time.ts'
import { operates, type Timetable } from './image.ts'

/** A flight on a UTC departure day. */
export type Departure = { flight: number; day: number }

/** Index of the route between two airports, or -1. */
export function findRoute(timetable: Timetable, from: number, to: number): number {
  const end = timetable.outStart[from + 1]!
  const route = firstFrom(timetable.routeTo, timetable.outStart[from]!, end, to)
  return route < end && timetable.routeTo[route] === to ? route : -1
}

/** The first index from `start` on whose value in a rising column is at least `value`; `end` when none is. */
export function firstFrom(column: Uint16Array, start: number, end: number, value: number): number {
  let low = start
  let high = end
  while (low < high) {
    const middle = (low + high) >> 1
    if (column[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * The flight with a marketing designator that leaves one airport for another at a minute, or undefined when the timetable has none.
 * @param suffix operational suffix, empty for none
 * @param from airport code
 * @param to airport code
 * @param departureMinute UTC, see travel/time
 */
export function findFlight(
  timetable: Timetable,
  carrier: string,
  number: number,
  suffix: string,
  from: string,
  to: string,
  departureMinute: number,
): Departure | undefined {
  const origin = timetable.airportIndex.get(from)
  const destination = timetable.airportIndex.get(to)
  if (origin === undefined || destination === undefined) return undefined
  const route = findRoute(timetable, origin, destination)
  if (route < 0) return undefined
  const day = Math.floor(departureMinute / MINUTES_A_DAY)
  const minute = departureMinute - day * MINUTES_A_DAY
  const suffixCode = suffix === '' ? 0 : suffix.charCodeAt(0)
  for (let flight = timetable.flightStart[route]!; flight < timetable.flightStart[route + 1]!; flight++) {
    if (
      timetable.departureMinute[flight] === minute &&
      timetable.number[flight] === number &&
      timetable.suffix[flight] === suffixCode &&
      timetable.text(timetable.carrier[flight]!) === carrier &&
      operates(timetable, flight, day)
    ) {
      return { flight, day }
    }
  }
  return undefined
}
