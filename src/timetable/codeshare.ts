/** Which flights are really the same one, whatever number they are sold under. */
import { MINUTES_A_DAY } from '../travel/time.ts'
import type { Timetable } from './image.ts'
import type { Journey } from './journey.ts'

/** Whether two segments belong to one operating flight number: its legs are sold through, never as a connection with itself. */
export function sameService(timetable: Timetable, a: number, b: number): boolean {
  return (
    timetable.operatingNumber[a] === timetable.operatingNumber[b] &&
    timetable.operatingCarrier[a] === timetable.operatingCarrier[b] &&
    timetable.operatingSuffix[a] === timetable.operatingSuffix[b]
  )
}

/** Whether two journeys sit in the same aircraft all the way, at the same times. */
export function sameAircraft(timetable: Timetable, a: Journey, b: Journey): boolean {
  return (
    a.departure === b.departure &&
    a.flights.length === b.flights.length &&
    a.flights.every((flight, i) => sameCarriage(timetable, flight, a.days[i]!, b.flights[i]!, b.days[i]!))
  )
}

function sameCarriage(timetable: Timetable, a: number, aDay: number, b: number, bDay: number): boolean {
  const aLegs = timetable.legStart[a]!
  const bLegs = timetable.legStart[b]!
  const legs = timetable.legStart[a + 1]! - aLegs
  if (legs !== timetable.legStart[b + 1]! - bLegs || timetable.elapsed[a] !== timetable.elapsed[b])
    return false
  const aMinute = aDay * MINUTES_A_DAY + timetable.departureMinute[a]!
  if (aMinute !== bDay * MINUTES_A_DAY + timetable.departureMinute[b]!) return false
  for (let leg = 0; leg < legs; leg++) {
    if (timetable.flightLeg[aLegs + leg] !== timetable.flightLeg[bLegs + leg]) return false
  }
  return true
}
