/**
 * A leg as it was filed, turned into what selling needs: where it goes, on which days, its four times as time points, its seats and its
 * operator. Reasons not to sell it are found here.
 */
import { type Airport, greatCircleKm } from '../travel/airport.ts'
import { MINUTES_A_DAY } from '../travel/time.ts'
import { hasCabin, type Seats, type seatsOf } from './cabins.ts'
import { type Clock, fixedClock, type TimePoint, trusted } from './local-time.ts'
import { commonDays, type Days } from './operating-days.ts'
import { type Designator, designatorName, designatorOf, type Operators, operatorOf } from './operator.ts'
import { BLANK_VARIATION, type DataElement, OPEN_DAY, type Schedule } from './schedule.ts'
import { unpacked } from './ssim-fields.ts'
import { soldService } from './traffic.ts'

/** Days that a schedule left open is taken to go on after its beginning. */
const OPEN_PERIOD_DAYS = 730
/** A leg whose date variation is blank lasts at most this; a file of today's longest flights needs 1,140. */
const BLANK_ELAPSED_MAX = 1200
const LEG_ELAPSED_MAX = MINUTES_A_DAY
/** Gate to gate, on distances above which the way to the runway no longer matters. */
const SPEED_MAX_KMH = 1100
const SPEED_LEAST_KM = 300

export type FiledLeg = {
  schedule: Schedule
  leg: number
  origin: Airport | undefined
  destination: Airport | undefined
  /** Departure days at its own station, in the time mode of its carrier. */
  days: Days
  /** Its departure day minus the itinerary origin's. */
  shift: number
  /** Times counted from its departure day. */
  departure: TimePoint
  aircraftDeparture: TimePoint
  aircraftArrival: TimePoint
  arrival: TimePoint
  seats: Seats
  marketing: Designator
  operating: Designator
  /** `BA15/LHR`, the operating flight's if that is in the timetable. */
  name: string
  elements: readonly DataElement[]
  /** Why it is not sold: `service`, `station`, `elapsed`, `speed` or `cabin`. */
  unsold: string | undefined
}

/** What the reading of a leg may report: something dubious, with its kind. */
export type OnDoubt = (kind: string, leg: FiledLeg, text: string) => void

/** What all legs are read against. */
export type Ground = {
  airport: (code: string) => Airport | undefined
  clock: (zone: string) => Clock
  operators: Operators
  seatsOf: typeof seatsOf
  elements: (schedule: Schedule) => ReadonlyMap<number, readonly DataElement[]>
}

const NO_ELEMENTS: readonly DataElement[] = []

/** Reads leg `leg` of a schedule; `before` is the leg before it in its itinerary. */
export function filedLeg(
  schedule: Schedule,
  leg: number,
  before: FiledLeg | undefined,
  ground: Ground,
  doubt: OnDoubt,
): FiledLeg {
  const { legs } = schedule
  const utc = schedule.blocks[legs.block[leg]!]!.timeMode === 'U'
  const origin = ground.airport(unpacked(legs.origin[leg]!))
  const destination = ground.airport(unpacked(legs.destination[leg]!))
  const elements = ground.elements(schedule).get(leg) ?? NO_ELEMENTS
  const departureOffset = legs.departureOffset[leg]!
  const arrivalOffset = legs.arrivalOffset[leg]!
  const point = (airport: Airport | undefined, filed: number, minute: number): TimePoint => {
    return { clock: airport ? ground.clock(airport.zone) : fixedClock(filed), minute, filed, utc }
  }

  const aircraftDeparture = point(origin, departureOffset, legs.aircraftDeparture[leg]!)
  const shift = departureShift(schedule, leg, aircraftDeparture, before)
  const start = asUtc(aircraftDeparture)
  const base = point(destination, arrivalOffset, legs.aircraftArrival[leg]!)
  const filedDays = legs.arrivalDays[leg]!
  const firstDays = Math.floor((start - asUtc(base)) / MINUTES_A_DAY) + 1
  const contradicts =
    filedDays !== BLANK_VARIATION && asUtc(base) + (filedDays - shift) * MINUTES_A_DAY <= start
  const days = filedDays === BLANK_VARIATION || contradicts ? firstDays : filedDays - shift
  const aircraftArrival = { ...base, minute: base.minute + days * MINUTES_A_DAY }
  const elapsed = asUtc(aircraftArrival) - start

  const marketing = designatorOf(schedule, leg)
  const operator = operatorOf(schedule, leg, elements, ground.operators)
  const flown =
    operator === undefined
      ? []
      : (ground.operators.operated.get(`${designatorName(operator)}/${unpacked(legs.origin[leg]!)}`) ?? [])
  const operating = operator ?? marketing
  const filed: FiledLeg = {
    schedule,
    leg,
    origin,
    destination,
    days: filedPeriod(schedule, leg),
    shift,
    departure: nearest(aircraftDeparture, legs.departure[leg]!),
    aircraftDeparture,
    aircraftArrival,
    arrival: nearest(aircraftArrival, legs.arrival[leg]!),
    seats: { economy: -1, business: -1, first: -1 },
    marketing,
    operating,
    name: `${designatorName(flown.length > 0 ? operating : marketing)}/${unpacked(legs.origin[leg]!)}`,
    elements,
    unsold: undefined,
  }
  filed.seats = filedSeats(filed, flown, ground)
  if (contradicts)
    doubt(
      'date variation',
      filed,
      'arrives before it departs; the first arrival after the departure is taken',
    )
  const blankTooLong = filedDays === BLANK_VARIATION && elapsed > BLANK_ELAPSED_MAX
  filed.unsold = reasonNotToSell(filed, elapsed, blankTooLong)
  return filed
}

/** Chooses the clocks of a leg that is sold; done apart because it costs most. */
export function settleClocks(leg: FiledLeg, doubt: OnDoubt): void {
  const { from, to } = leg.days
  const departure = trusted(leg.departure, from, to)
  const arrival = trusted(leg.arrival, from, to)
  if (!departure.agrees)
    doubt('zone', leg, `files another UTC variation than ${leg.origin?.code} has on any of its dates`)
  if (!arrival.agrees)
    doubt('zone', leg, `files another UTC variation than ${leg.destination?.code} has on any of its dates`)
  leg.departure = departure.point
  leg.aircraftDeparture = { ...leg.aircraftDeparture, clock: departure.point.clock }
  leg.arrival = arrival.point
  leg.aircraftArrival = { ...leg.aircraftArrival, clock: arrival.point.clock }
}

/** Whether a flight over a distance in this time is absurd; one such record would spoil the bounds of every search. */
export function tooFast(origin: Airport, destination: Airport, elapsed: number): boolean {
  const km = greatCircleKm(origin.latitude, origin.longitude, destination.latitude, destination.longitude)
  return km > SPEED_LEAST_KM && km * 60 > SPEED_MAX_KMH * elapsed
}

function reasonNotToSell(leg: FiledLeg, elapsed: number, blankTooLong: boolean): string | undefined {
  if (!soldService(String.fromCharCode(leg.schedule.legs.service[leg.leg]!))) return 'service'
  if (leg.origin === undefined || leg.destination === undefined) return 'station'
  if (elapsed > LEG_ELAPSED_MAX || blankTooLong) return 'elapsed'
  if (tooFast(leg.origin, leg.destination, elapsed)) return 'speed'
  return hasCabin(leg.seats) ? undefined : 'cabin'
}

/** Minutes from the beginning of the departure day in UTC, by the filed variation. */
function asUtc(point: TimePoint): number {
  return point.utc ? point.minute : point.minute - point.filed
}

/** The passenger time that belongs to an aircraft time: the one nearest to it. */
function nearest(aircraft: TimePoint, minuteOfDay: number): TimePoint {
  const turns = Math.round((aircraft.minute - minuteOfDay) / MINUTES_A_DAY)
  return { ...aircraft, minute: minuteOfDay + turns * MINUTES_A_DAY }
}

function departureShift(
  schedule: Schedule,
  leg: number,
  departure: TimePoint,
  before: FiledLeg | undefined,
): number {
  const filed = schedule.legs.departureDays[leg]!
  if (filed !== BLANK_VARIATION) return filed
  if (before === undefined) return 0
  return before.shift + Math.ceil((asUtc(before.aircraftArrival) - asUtc(departure)) / MINUTES_A_DAY)
}

function filedPeriod(schedule: Schedule, leg: number): Days {
  const { legs } = schedule
  const block = schedule.blocks[legs.block[leg]!]!
  const from = legs.from[leg]!
  let to = legs.to[leg]!
  if (to === OPEN_DAY)
    to = block.to !== OPEN_DAY ? Math.max(from, block.to) : Math.max(from, block.from) + OPEN_PERIOD_DAYS
  return { from, to, weekdays: legs.weekdays[leg]!, fortnights: legs.fortnightly[leg] === 1 ? [from] : [] }
}

/** The leg's own configuration, else that of the flight that operates it on some of its days, else its booking classes. */
function filedSeats(
  leg: FiledLeg,
  flown: readonly { schedule: Schedule; leg: number }[],
  ground: Ground,
): Seats {
  const configuration = filedText(leg.schedule, leg.leg, 'configuration', 108, leg.elements)
  const classes = filedText(leg.schedule, leg.leg, 'classes', 106, leg.elements)
  if (configuration !== '') return ground.seatsOf(configuration, classes)
  for (const other of flown) {
    const common = commonDays(leg.days, filedPeriod(other.schedule, other.leg))
    if (common.from > common.to || common.weekdays === 0) continue
    const elements = ground.elements(other.schedule).get(other.leg) ?? NO_ELEMENTS
    const theirs = filedText(other.schedule, other.leg, 'configuration', 108, elements)
    if (theirs !== '') return ground.seatsOf(theirs, '')
  }
  return ground.seatsOf('', classes)
}

/** A field, or the data element that it points to with `XX`. */
function filedText(
  schedule: Schedule,
  leg: number,
  column: 'configuration' | 'classes',
  element: number,
  elements: readonly DataElement[],
): string {
  const text = schedule.texts[schedule.legs[column][leg]!]!
  if (!text.startsWith('XX')) return text
  return elements
    .filter(e => e.element === element)
    .map(e => e.text)
    .join('')
}
