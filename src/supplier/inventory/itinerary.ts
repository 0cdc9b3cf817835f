import { type Departure, findFlight } from '../../timetable/find.ts'
import type { Timetable } from '../../timetable/image.ts'
import type { Cabin, Segment } from '../../travel/itinerary.ts'
import { MINUTES_A_DAY } from '../../travel/time.ts'
import type { ReferenceSegment } from './reference.ts'

/** A flight number as it is spoken and printed: `15`, `123A`. */
function printed(number: number, suffix: number): string {
  return suffix === 0 ? `${number}` : `${number}${String.fromCharCode(suffix)}`
}

/** UTC minute of a departure. */
export function departureMinute(timetable: Timetable, { flight, day }: Departure): number {
  return day * MINUTES_A_DAY + timetable.departureMinute[flight]!
}

/** A flight of the timetable on a day, in the trade's words. */
export function segmentOf(
  timetable: Timetable,
  route: { from: string; to: string },
  departure: Departure,
  cabin: Cabin,
  bookingClass: string,
): Segment {
  const { flight } = departure
  const leaves = departureMinute(timetable, departure)
  return {
    carrier: timetable.text(timetable.carrier[flight]!),
    number: printed(timetable.number[flight]!, timetable.suffix[flight]!),
    operatingCarrier: timetable.text(timetable.operatingCarrier[flight]!),
    operatingNumber: printed(timetable.operatingNumber[flight]!, timetable.operatingSuffix[flight]!),
    departure: {
      airport: route.from,
      minute: leaves,
      offset: timetable.departureOffset[flight]!,
      terminal: timetable.text(timetable.departureTerminal[flight]!),
    },
    arrival: {
      airport: route.to,
      minute: leaves + timetable.elapsed[flight]!,
      offset: timetable.arrivalOffset[flight]!,
      terminal: timetable.text(timetable.arrivalTerminal[flight]!),
    },
    stops: timetable.stops[flight]!,
    aircraft: timetable.text(timetable.aircraft[flight]!),
    cabin,
    bookingClass,
  }
}

/** The flight that a reference names, if the timetable still has it unchanged. */
export function locate(timetable: Timetable, segment: ReferenceSegment): Departure | undefined {
  const found = findFlight(
    timetable,
    segment.carrier,
    segment.number,
    segment.suffix,
    segment.from,
    segment.to,
    segment.departure,
  )
  return found !== undefined && timetable.elapsed[found.flight] === segment.elapsed ? found : undefined
}
