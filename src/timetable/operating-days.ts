/** The days a record operates on: a period with weekdays, every week or every other one. Pure sets: shift, intersect, cut. */
import { weekday } from '../travel/time.ts'

export type Days = {
  /** First and last day, both included; empty when `to` < `from`. */
  from: number
  to: number
  /** Bit 0 = Monday. */
  weekdays: number
  /** Days from which every other week counts; mostly none. */
  fortnights: readonly number[]
}

/** Whether a day is in the set. */
function includesDay(days: Days, day: number): boolean {
  return (
    day >= days.from &&
    day <= days.to &&
    ((days.weekdays >> weekday(day)) & 1) === 1 &&
    days.fortnights.every(start => Math.floor((day - start) / 7) % 2 === 0)
  )
}

/** The same days, each moved by `n`. */
export function shiftDays(days: Days, n: number): Days {
  if (n === 0) return days
  const turn = ((n % 7) + 7) % 7
  const weekdays = ((days.weekdays << turn) | (days.weekdays >> (7 - turn))) & 127
  return {
    from: days.from + n,
    to: days.to + n,
    weekdays,
    fortnights: days.fortnights.map(start => start + n),
  }
}

/** The days in both sets. */
export function commonDays(a: Days, b: Days): Days {
  return {
    from: Math.max(a.from, b.from),
    to: Math.min(a.to, b.to),
    weekdays: a.weekdays & b.weekdays,
    fortnights: b.fortnights.length === 0 ? a.fortnights : [...a.fortnights, ...b.fortnights],
  }
}

/** The part within `from` … `to`, its ends and weekdays narrowed to days that it has; undefined when it has none. */
export function cutDays(days: Days, from: number, to: number): Days | undefined {
  let first = Math.max(days.from, from)
  let last = Math.min(days.to, to)
  const part = { ...days, from: first, to: last }
  while (first <= last && !includesDay(part, first)) first++
  while (last > first && !includesDay(part, last)) last--
  if (first > last) return undefined
  let weekdays = days.weekdays
  if (last - first < 6) {
    weekdays = 0
    for (let day = first; day <= last; day++) if (includesDay(part, day)) weekdays |= 1 << weekday(day)
  }
  return { ...days, from: first, to: last, weekdays }
}

/** A bit for each day of `from` … `to`, 32 a word. */
export function dayBits(days: Days): number[] {
  const words = new Array<number>(Math.floor((days.to - days.from) / 32) + 1).fill(0)
  for (let day = days.from; day <= days.to; day++) {
    const bit = day - days.from
    if (includesDay(days, day)) words[bit >> 5] = (words[bit >> 5]! | (1 << (bit & 31))) >>> 0
  }
  return words
}

/** How many days the set has. */
export function countDays(days: Days): number {
  let count = 0
  const whole = days.fortnights.length === 0 ? Math.floor((days.to - days.from + 1) / 7) : 0
  for (let mask = days.weekdays; mask !== 0; mask &= mask - 1) count += whole
  for (let day = days.from + whole * 7; day <= days.to; day++) if (includesDay(days, day)) count++
  return count
}
