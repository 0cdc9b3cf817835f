/**
 * Cuts a year of a flight into itinerary variations: runs of dates on which every leg keeps its UTC offsets, which is how schedules are filed.
 * A leg departs at one local time and takes one block time all the year; so its local arrival moves where only one end changes its clock.
 */
import { MINUTES_A_DAY, weekday, zoneOffsets } from '../travel/time.ts'

/** One leg of a flight as planned. Times of day are local minutes, zones IANA names. */
export type PlannedLeg = {
  originZone: string
  destinationZone: string
  departure: number
  blockMinutes: number
}

/** What a leg is on the dates of one variation; days count from the flight's departure day at its origin. */
export type LegTimes = {
  departureDays: number
  departureOffset: number
  /** Local minute of the day, 1 to 1440: midnight belongs to the day that ends. */
  arrival: number
  arrivalDays: number
  arrivalOffset: number
}

/** A run of dates at the flight's origin, both ends operating days, and its weekdays (bit 0 = Monday). */
export type Variation = { from: number; to: number; weekdays: number; legs: LegTimes[] }

/** Offsets of a zone in a span of time, by their starts. */
export type Clock = readonly { from: number; offset: number }[]

/** The clocks of zones from some days before `from` to some days after `to`, each looked up once. */
export function clocks(from: number, to: number): (zone: string) => Clock {
  const known = new Map<string, Clock>()
  return zone => {
    let clock = known.get(zone)
    if (clock === undefined) {
      clock = zoneOffsets(zone, (from - 7) * MINUTES_A_DAY, (to + 7) * MINUTES_A_DAY)
      known.set(zone, clock)
    }
    return clock
  }
}

/** The least time that an aircraft stands between two legs of one flight. */
const TURNAROUND_MINUTES = 40

/**
 * The variations of a flight that operates from day `from` to day `to` on the days of `weekdays`, in order of date. A date whose departure
 * time the clocks jump over is left out, and a time that comes twice means the first.
 */
export function variations(
  legs: readonly PlannedLeg[],
  from: number,
  to: number,
  weekdays: number,
  clockOf: (zone: string) => Clock,
): Variation[] {
  const runs: Variation[] = []
  let run: Variation | undefined
  for (let day = from; day <= to; day++) {
    const bit = 1 << weekday(day)
    if ((weekdays & bit) === 0) continue
    const times = legTimes(legs, day, clockOf)
    if (times === undefined) continue
    if (run !== undefined && sameTimes(run.legs, times)) {
      run.to = day
      run.weekdays |= bit
    } else {
      run = { from: day, to: day, weekdays: bit, legs: times }
      runs.push(run)
    }
  }
  return runs
}

function legTimes(
  legs: readonly PlannedLeg[],
  day: number,
  clockOf: (zone: string) => Clock,
): LegTimes[] | undefined {
  const out: LegTimes[] = []
  /** Before this UTC minute the aircraft is not ready. */
  let ready = Number.NEGATIVE_INFINITY
  let departureDay = day
  for (const leg of legs) {
    const clock = clockOf(leg.originZone)
    let departureOffset = offsetAtLocal(clock, departureDay * MINUTES_A_DAY + leg.departure)
    if (
      departureOffset !== undefined &&
      departureDay * MINUTES_A_DAY + leg.departure - departureOffset < ready
    ) {
      departureDay++
      departureOffset = offsetAtLocal(clock, departureDay * MINUTES_A_DAY + leg.departure)
    }
    if (departureOffset === undefined) return undefined
    const arrivalUtc = departureDay * MINUTES_A_DAY + leg.departure - departureOffset + leg.blockMinutes
    const arrivalOffset = offsetAt(clockOf(leg.destinationZone), arrivalUtc)
    const arrivalLocal = arrivalUtc + arrivalOffset
    const arrivalDay = Math.ceil(arrivalLocal / MINUTES_A_DAY) - 1
    out.push({
      departureDays: departureDay - day,
      departureOffset,
      arrival: arrivalLocal - arrivalDay * MINUTES_A_DAY,
      arrivalDays: arrivalDay - day,
      arrivalOffset,
    })
    ready = arrivalUtc + TURNAROUND_MINUTES
    departureDay = arrivalDay
  }
  return out
}

function sameTimes(a: readonly LegTimes[], b: readonly LegTimes[]): boolean {
  for (let i = 0; i < a.length; i++) {
    const x = a[i]!
    const y = b[i]!
    if (
      x.departureOffset !== y.departureOffset ||
      x.arrivalOffset !== y.arrivalOffset ||
      x.departureDays !== y.departureDays
    )
      return false
  }
  return true
}

function offsetAt(clock: Clock, utc: number): number {
  let i = clock.length - 1
  while (i > 0 && clock[i]!.from > utc) i--
  return clock[i]!.offset
}

/** Offset at a local time: the first of two where the time comes twice, undefined where the clocks jump over it. */
function offsetAtLocal(clock: Clock, local: number): number | undefined {
  for (let i = 0; i < clock.length; i++) {
    const { from, offset } = clock[i]!
    const utc = local - offset
    const next = clock[i + 1]
    if ((i === 0 || utc >= from) && (next === undefined || utc < next.from)) return offset
  }
  return undefined
}

/** Weekdays (bit 0 = Monday) of dates that lie some days after those of the given weekdays. */
export function laterWeekdays(weekdays: number, days: number): number {
  const by = ((days % 7) + 7) % 7
  return ((weekdays << by) | (weekdays >> (7 - by))) & 0b1111111
}
