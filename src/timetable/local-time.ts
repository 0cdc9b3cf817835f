/**
 * Local times of a schedule record as instants. A record files one UTC variation for its whole period; where our own zone data knows better
 * on some of its dates, the local time stays and the instant moves.
 */
import { MINUTES_A_DAY, zoneOffsets } from '../travel/time.ts'

/** Offsets of a place: each holds from its minute on, until the next one's. */
export type Clock = readonly { from: number; offset: number }[]

/** One departure or arrival of a record: `minute` counts from the beginning of the record's departure day and may lie before it or days later. */
export type TimePoint = {
  clock: Clock
  minute: number
  /** The UTC variation as filed: it decides which of two equal local times is meant when a clock is set back. */
  filed: number
  /** Whether `minute` is UTC instead of local time. */
  utc: boolean
}

/** A clock that never changes. */
export function fixedClock(offset: number): Clock {
  return [{ from: -Infinity, offset }]
}

/** Clocks of zones over the days `from` … `to`, each looked up once. */
export function zoneClocks(from: number, to: number): (zone: string) => Clock {
  const known = new Map<string, Clock>()
  return zone => {
    let clock = known.get(zone)
    if (clock === undefined) {
      clock = zoneOffsets(zone, from * MINUTES_A_DAY, to * MINUTES_A_DAY)
      known.set(zone, clock)
    }
    return clock
  }
}

/**
 * Instant and offset of a time point on a departure day. A local time that a clock skips is moved forward by what it skips; one that occurs
 * twice is the first unless the filed variation says the second.
 */
export function instant(point: TimePoint, day: number): { minute: number; offset: number } {
  const { clock } = point
  const at = day * MINUTES_A_DAY + point.minute
  let offset = clock[0]!.offset
  for (let i = 1; i < clock.length; i++) {
    const change = clock[i]!
    if (point.utc) {
      if (at < change.from) break
    } else {
      if (at < change.from + Math.min(offset, change.offset)) break
      if (at < change.from + Math.max(offset, change.offset)) {
        if (change.offset > offset) return { minute: at - offset, offset: change.offset }
        return {
          minute: at - (point.filed === change.offset ? change.offset : offset),
          offset: point.filed === change.offset ? change.offset : offset,
        }
      }
    }
    offset = change.offset
  }
  return { minute: point.utc ? at : at - offset, offset }
}

/** The departure days within `from` + 1 … `to` on which a time point's UTC time of day or offset is not that of the day before. */
export function changeDays(point: TimePoint, from: number, to: number): number[] {
  const days: number[] = []
  const { clock } = point
  for (let i = 1; i < clock.length; i++) {
    const before = clock[i - 1]!.offset
    const change = clock[i]!
    const edges = point.utc
      ? [change.from]
      : [change.from + Math.min(before, change.offset), change.from + Math.max(before, change.offset)]
    for (const edge of edges) {
      const day = Math.ceil((edge - point.minute) / MINUTES_A_DAY)
      if (day > from && day <= to && changes(point, day)) days.push(day)
    }
  }
  return days
}

function changes(point: TimePoint, day: number): boolean {
  const before = instant(point, day - 1)
  const now = instant(point, day)
  return now.minute - before.minute !== MINUTES_A_DAY || now.offset !== before.offset
}

/** The time point on its own zone's clock if that agrees with the filed variation on at least one day of the period, else on the filed one. */
export function trusted(point: TimePoint, from: number, to: number): { point: TimePoint; agrees: boolean } {
  const starts = [from, ...changeDays(point, from, to)]
  const agrees = starts.some(day => instant(point, day).offset === point.filed)
  return agrees ? { point, agrees } : { point: { ...point, clock: fixedClock(point.filed) }, agrees }
}
