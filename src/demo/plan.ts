/** Reads the planners' lines of routes.ts into single flights, each with its number, days and local departures. */
import { type Airport, airport } from '../travel/airport.ts'
import { MINUTES_A_DAY, zoneOffset } from '../travel/time.ts'
import { blockMinutes } from './block-time.ts'
import { randomFrom } from './random.ts'
import type { DemoCarrier } from './routes.ts'

/** What a flight number does on each of its days. */
export type PlannedFlight = {
  carrier: string
  number: number
  aircraft: string
  /** Days of departure at the first airport, bit 0 = Monday. */
  weekdays: number
  airports: string[]
  /** Local minute of the day of each departure, one fewer than airports. */
  departures: number[]
}

/** All flights that a carrier operates, by number. @throws RangeError for a line that cannot be read. */
export function plannedFlights(carrier: DemoCarrier): PlannedFlight[] {
  const rotations = linesOf(carrier.rotations).flatMap(line => rotationFlights(carrier.code, line))
  const through = linesOf(carrier.through ?? '').map(line => throughFlight(carrier.code, line))
  return [...rotations, ...through].sort((a, b) => a.number - b.number)
}

/** A known airport. @throws RangeError when there is none with this code. */
export function demoAirport(code: string): Airport {
  const found = airport(code)
  if (found === undefined) throw new RangeError(`The demo network names an unknown airport, ${code}`)
  return found
}

/** `1 LHR JFK 77W daily 0825 1120 / 0755 1815` or `301 LHR CDG 320 daily x6`. */
function rotationFlights(carrier: string, words: readonly string[]): PlannedFlight[] {
  const [first = '', hub = '', spoke = '', aircraft = '', days = '', ...times] = words
  const number = Number(first)
  const slash = times.indexOf('/')
  const { out, back } =
    slash < 0
      ? spreadRotations(Number(times[0]?.slice(1)), hub, spoke, carrier.charCodeAt(0) * 10_000 + number)
      : { out: times.slice(0, slash).map(minuteOf), back: times.slice(slash + 1).map(minuteOf) }
  if (out.length !== back.length || out.length === 0)
    throw new RangeError(`${carrier} ${first}: as many flights back as out`)
  const plan = { carrier, aircraft, weekdays: weekdaysOf(days) }
  return out.flatMap((departure, i) => [
    { ...plan, number: number + 2 * i, airports: [hub, spoke], departures: [departure] },
    { ...plan, number: number + 2 * i + 1, airports: [spoke, hub], departures: [back[i]!] },
  ])
}

/** `21 LHR 2100 SIN 1940 SYD 388 daily`. */
function throughFlight(carrier: string, words: readonly string[]): PlannedFlight {
  const [number = '', ...rest] = words
  const [aircraft = '', days = ''] = rest.slice(-2)
  const calls = rest.slice(0, -2)
  return {
    carrier,
    number: Number(number),
    aircraft,
    weekdays: weekdaysOf(days),
    airports: calls.filter((_, i) => i % 2 === 0),
    departures: calls.filter((_, i) => i % 2 === 1).map(minuteOf),
  }
}

const FIRST_DEPARTURE = 6 * 60 + 40
const LAST_DEPARTURE = 20 * 60 + 30
const TURNAROUND_MINUTES = 50
/** An aircraft that would come home later stays overnight and returns in the morning. */
const LAST_ARRIVAL = 23 * 60 + 30
/** A winter day on which flights without written times are planned; the season of `today` shall not move them. */
const PLANNING_NOON = 9500 * MINUTES_A_DAY + 720

/** Local departures of a number of rotations over the day, both ways, a little irregular as real ones are. */
function spreadRotations(
  count: number,
  hubCode: string,
  spokeCode: string,
  seed: number,
): { out: number[]; back: number[] } {
  const random = randomFrom(seed)
  const [hub, spoke] = [demoAirport(hubCode), demoAirport(spokeCode)]
  const ahead = zoneOffset(spoke.zone, PLANNING_NOON) - zoneOffset(hub.zone, PLANNING_NOON)
  const [outMinutes, backMinutes] = [blockMinutes(hub, spoke), blockMinutes(spoke, hub)]
  const out: number[] = []
  const back: number[] = []
  for (let i = 0; i < count; i++) {
    const share = count === 1 ? 0.4 : i / (count - 1)
    const jitter = 5 * Math.floor(random() * 7)
    const departure =
      5 * Math.round((FIRST_DEPARTURE + share * (LAST_DEPARTURE - FIRST_DEPARTURE)) / 5) + jitter
    const homeward = departure + outMinutes + ahead + TURNAROUND_MINUTES + jitter
    const tooLate = homeward >= MINUTES_A_DAY || homeward + backMinutes - ahead > LAST_ARRIVAL
    out.push(departure)
    back.push(tooLate ? FIRST_DEPARTURE - 10 + jitter + 20 * (count - i) : homeward)
  }
  return { out, back }
}

function linesOf(text: string): string[][] {
  return text
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(words => words.length > 1)
}

function minuteOf(hhmm: string): number {
  if (!/^([01]\d|2[0-3])[0-5]\d$/.test(hhmm)) throw new RangeError(`${hhmm} is no time of day`)
  return Number(hhmm.slice(0, 2)) * 60 + Number(hhmm.slice(2))
}

function weekdaysOf(days: string): number {
  if (days === 'daily') return 0b1111111
  if (!/^[1-7]+$/.test(days)) throw new RangeError(`${days} are no days of the week`)
  return [...days].reduce((mask, digit) => mask | (1 << (Number(digit) - 1)), 0)
}
