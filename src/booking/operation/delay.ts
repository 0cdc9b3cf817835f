import type { LegDeparture, OperatedLeg } from '../../supplier/supplier.ts'
import { airport } from '../../travel/airport.ts'
import type { Slice, Stop } from '../../travel/itinerary.ts'
import { formatLocal, zoneOffset } from '../../travel/time.ts'
import type { FieldChange } from '../booking.ts'

/** A booking's slices at the times that hold now, and what that changes in its answer. */
export type Retimed = { slices: readonly Slice[]; fields: readonly FieldChange[] }

/**
 * Puts a booking's segments at the times at which their legs go now: a segment departs as late as its first leg and arrives as late as its
 * last one. Times are counted from what was sold, so that doing it again changes nothing.
 * @param flown the legs that the booking has seats on, in the order they are flown
 * @param legs what became of some of them; a time that hangs on another leg stays as it is
 * @returns undefined when nothing changes
 */
export function retime(
  slices: readonly Slice[],
  flown: readonly LegDeparture[],
  legs: readonly OperatedLeg[],
): Retimed | undefined {
  const delays = new Map(legs.map(leg => [nameOf(leg), leg.delayMinutes]))
  const fields: FieldChange[] = []
  let next = 0
  const move = (stop: Stop, leg: LegDeparture | undefined, path: string): Stop => {
    const delay = leg && delays.get(nameOf(leg))
    if (delay === undefined || delay === (stop.delay ?? 0)) return stop
    const moved = delayed(stop, delay)
    fields.push({ path, from: local(stop), to: local(moved) })
    return moved
  }
  const now = slices.map((slice, s) => ({
    segments: slice.segments.map((segment, i) => {
      const own = flown.slice(next, next + segment.stops + 1)
      next += own.length
      const path = `slices[${s}].segments[${i}]`
      return {
        ...segment,
        departure: move(segment.departure, own[0], `${path}.departureTime`),
        arrival: move(segment.arrival, own.at(-1), `${path}.arrivalTime`),
      }
    }),
  }))
  return fields.length === 0 ? undefined : { slices: now, fields }
}

/** A stop so many minutes later than it was sold; its local time follows where the clock changes in between. */
function delayed({ delay: before, ...stop }: Stop, delay: number): Stop {
  const minute = stop.minute - (before ?? 0) + delay
  const zone = airport(stop.airport)?.zone
  const turned = zone === undefined ? 0 : zoneOffset(zone, minute) - zoneOffset(zone, stop.minute)
  return { ...stop, minute, offset: stop.offset + turned, ...(delay === 0 ? {} : { delay }) }
}

const local = (stop: Stop) => formatLocal(stop.minute, stop.offset)

/** A leg's departure as a key. */
export function nameOf({ leg, departs }: LegDeparture): string {
  return `${departs} ${leg}`
}
