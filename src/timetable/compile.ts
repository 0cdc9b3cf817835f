/**
 * Compiles schedules into the image that is searched: every itinerary becomes the flights it is sold as (A–B, B–C and A–C of A–B–C), and every
 * flight is cut where an offset changes, so that each has one UTC departure minute, one elapsed time and one offset at each end.
 */
import type { Airport } from '../travel/airport.ts'
import { MINUTES_A_DAY } from '../travel/time.ts'
import { assemble, type Flight } from './assemble.ts'
import { hasCabin, leastSeats, seatsTable } from './cabins.ts'
import { type FiledLeg, filedLeg, type Ground, settleClocks, tooFast } from './filed-leg.ts'
import { changeDays, instant, zoneClocks } from './local-time.ts'
import { commonDays, countDays, cutDays, type Days, shiftDays } from './operating-days.ts'
import { elementsByLeg, indexOperators } from './operator.ts'
import { OPEN_DAY, type Schedule, type Warning, warningList } from './schedule.ts'
import { unpacked } from './ssim-fields.ts'
import { restrictionOf } from './traffic.ts'

/** What became of the schedules. */
export type CompileReport = {
  legs: number
  /** Legs that are sold, alone or as part of a through flight, and the others by reason. */
  soldLegs: number
  unsoldLegs: Readonly<Record<string, number>>
  /** Segments that a restriction keeps from sale, by code. */
  restricted: Readonly<Record<string, number>>
  flights: number
  throughFlights: number
  /** Segments cut because an offset changes within their period. */
  cutSegments: number
  /** Departures over all days, through flights not counted. */
  flightDates: number
  warnings: readonly Warning[]
}

/**
 * Compiles schedules against the known airports. Pure: equal input gives equal bytes.
 * Dubious records are reported, never thrown.
 */
export function compile(
  schedules: readonly Schedule[],
  airports: readonly Airport[],
): { buffer: SharedArrayBuffer; report: CompileReport } {
  const ground = groundOf(schedules, airports)
  const warnings = warningList()
  const flights: Flight[] = []
  const tally = {
    unsoldLegs: {} as Record<string, number>,
    restricted: {} as Record<string, number>,
    cutSegments: 0,
    flightDates: 0,
  }
  const doubt = (kind: string, leg: FiledLeg, text: string) => {
    const { legs } = leg.schedule
    warnings.add(kind, legs.line[leg.leg]!, `${leg.name} to ${unpacked(legs.destination[leg.leg]!)}: ${text}`)
  }
  let legs = 0
  for (const schedule of schedules) {
    legs += schedule.legCount
    for (let first = 0; first < schedule.legCount; ) {
      const itinerary: FiledLeg[] = []
      do {
        const leg = filedLeg(schedule, first, itinerary.at(-1), ground, doubt)
        if (leg.unsold === undefined) settleClocks(leg, doubt)
        else {
          count(tally.unsoldLegs, leg.unsold)
          if (leg.unsold !== 'service') doubt(leg.unsold, leg, UNSOLD[leg.unsold]!)
        }
        itinerary.push(leg)
        first++
      } while (first < schedule.legCount && schedule.legs.sequence[first]! > 1)
      sellItinerary(itinerary)
    }
  }

  function sellItinerary(itinerary: readonly FiledLeg[]): void {
    for (let board = 0; board < itinerary.length; board++) {
      let days: Days | undefined
      for (let off = board; off < itinerary.length; off++) {
        const leg = itinerary[off]!
        if (leg.unsold !== undefined || (off > board && !continues(itinerary[off - 1]!, leg))) break
        const own = shiftDays(leg.days, itinerary[board]!.shift - leg.shift)
        days = days === undefined ? own : commonDays(days, own)
        sellSegment(itinerary.slice(board, off + 1), off, days)
      }
    }
  }

  function sellSegment(flown: readonly FiledLeg[], off: number, days: Days): void {
    const first = flown[0]!
    const last = flown.at(-1)!
    const [origin, destination] = [first.origin!, last.destination!]
    if (origin.code === destination.code) return
    const code = restrictionCode(first, flown.length, off)
    const restriction = restrictionOf(code)
    if (restriction === undefined) return void count(tally.restricted, code)
    const seats = leastSeats(flown.map(leg => leg.seats))
    if (!hasCabin(seats)) return
    let pieces = 0
    for (const part of constantParts(flown, days)) {
      const flight = flightOf(flown, part)
      if (flight.elapsed <= 0)
        doubt('order', first, 'arrives before it departs on the days of a clock change; not sold on them')
      else if (flown.length === 1 && tooFast(origin, destination, flight.elapsed))
        doubt('speed', first, UNSOLD.speed!)
      else {
        flights.push({ ...flight, origin, destination, restriction, seats })
        if (flown.length === 1) tally.flightDates += countDays(flight.days)
        pieces++
      }
    }
    if (pieces > 1) tally.cutSegments++
  }

  const buffer = assemble(flights)
  const unsold = Object.values(tally.unsoldLegs).reduce((sum, n) => sum + n, 0)
  const report = {
    ...tally,
    legs,
    soldLegs: legs - unsold,
    flights: flights.length,
    throughFlights: flights.filter(flight => flight.stops > 0).length,
    warnings: warnings.list(),
  }
  return { buffer, report }
}

const UNSOLD: Readonly<Record<string, string>> = {
  station: 'an unknown station; not sold',
  elapsed: 'takes longer than any flight; not sold',
  speed: 'is faster than any airliner; not sold',
  cabin: 'has no seats for passengers; not sold',
}

function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1
}

function groundOf(schedules: readonly Schedule[], airports: readonly Airport[]): Ground {
  const byCode = new Map(airports.map(airport => [airport.code, airport]))
  const bySchedule = new Map(schedules.map(schedule => [schedule, elementsByLeg(schedule)]))
  let from = OPEN_DAY
  let to = 0
  for (const { legs, legCount, blocks } of schedules) {
    for (const block of blocks) to = Math.max(to, block.to === OPEN_DAY ? block.from : block.to)
    for (let leg = 0; leg < legCount; leg++) {
      from = Math.min(from, legs.from[leg]!)
      to = Math.max(to, legs.to[leg] === OPEN_DAY ? legs.from[leg]! : legs.to[leg]!)
    }
  }
  return {
    airport: code => byCode.get(code),
    clock: zoneClocks(from - MARGIN_DAYS, to + MARGIN_DAYS),
    operators: indexOperators(schedules),
    seatsOf: seatsTable(),
    elements: schedule => bySchedule.get(schedule)!,
  }
}

/** Days around the schedules for which clocks are known: date variations, and the end of a period left open. */
const MARGIN_DAYS = 750

/** Whether passengers can stay aboard from one leg to the next. */
function continues(leg: FiledLeg, next: FiledLeg): boolean {
  if (leg.destination!.code !== next.origin!.code) return false
  const arrival = instant(leg.arrival, leg.days.from)
  const departure = instant(next.departure, leg.days.from + next.shift - leg.shift)
  return departure.minute >= arrival.minute
}

/** The code filed for the segment from a leg to the arrival of leg `off` of the itinerary; `Z` points to data elements. */
function restrictionCode(first: FiledLeg, legs: number, off: number): string {
  const { schedule, leg } = first
  const code = schedule.texts[schedule.legs.restriction[leg]!]![off] ?? ''
  const elements = first.elements.filter(e => e.leg === leg && e.legs === legs)
  const passengers = elements.find(e => e.element === 170)
  if (passengers !== undefined) return passengers.text.trim().slice(0, 1)
  const cargoOnly = code === 'Z' && elements.some(e => e.element >= 171 && e.element <= 173)
  return cargoOnly ? '' : code
}

/** The days of a segment in parts over which none of its offsets changes. */
function* constantParts(flown: readonly FiledLeg[], days: Days): Generator<Days> {
  const first = flown[0]!
  const last = flown.at(-1)!
  const { from, to } = days
  const back = last.shift - first.shift
  const cuts = [
    ...changeDays(first.departure, from, to),
    ...changeDays({ ...last.arrival, minute: last.arrival.minute + back * MINUTES_A_DAY }, from, to),
  ]
  if (first.departure.utc) {
    for (const leg of flown) {
      const minute = leg.aircraftDeparture.minute + (leg.shift - first.shift) * MINUTES_A_DAY
      cuts.push(...changeDays({ ...leg.aircraftDeparture, minute }, from, to))
    }
  }
  const starts = [from, ...new Set(cuts.sort((a, b) => a - b))]
  for (let i = 0; i < starts.length; i++) {
    const part = cutDays(days, starts[i]!, (starts[i + 1] ?? to + 1) - 1)
    if (part !== undefined) yield part
  }
}

/** The flight over days on which its offsets are constant, from its first one. */
function flightOf(
  flown: readonly FiledLeg[],
  days: Days,
): Omit<Flight, 'origin' | 'destination' | 'restriction' | 'seats'> {
  const first = flown[0]!
  const last = flown.at(-1)!
  const { legs } = first.schedule
  const departure = instant(first.departure, days.from)
  const arrival = instant(last.arrival, days.from + last.shift - first.shift)
  const utcDay = Math.floor(departure.minute / MINUTES_A_DAY)
  const localDay = Math.floor((departure.minute + departure.offset) / MINUTES_A_DAY)
  return {
    days: shiftDays(days, utcDay - days.from),
    departureMinute: departure.minute - utcDay * MINUTES_A_DAY,
    elapsed: arrival.minute - departure.minute,
    dayShift: utcDay - localDay,
    departureOffset: departure.offset,
    arrivalOffset: arrival.offset,
    stops: flown.length - 1,
    marketing: first.marketing,
    operating: first.operating,
    departureTerminal: unpacked(legs.departureTerminal[first.leg]!),
    arrivalTerminal: unpacked(legs.arrivalTerminal[last.leg]!),
    aircraft: unpacked(legs.aircraft[first.leg]!),
    legs: flown.map(leg => ({
      name: leg.name,
      shift: legDay(leg, days.from + leg.shift - first.shift) - utcDay,
    })),
  }
}

/** Local day on which the aircraft is to leave its station. */
function legDay(leg: FiledLeg, day: number): number {
  const { aircraftDeparture } = leg
  if (!aircraftDeparture.utc) return day
  const { minute, offset } = instant(aircraftDeparture, day)
  return Math.floor((minute + offset) / MINUTES_A_DAY)
}
