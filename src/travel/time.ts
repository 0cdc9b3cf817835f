/**
 * Days and minutes of the trade. A *day* is a whole number counted from 2000-01-01 (day 0, a Saturday); a *minute* is counted from
 * 2000-01-01T00:00Z. Both fit the timetable's 16- and 32-bit columns and are compared without looking at a zone.
 */
const EPOCH_MS = Date.UTC(2000, 0, 1)
const DAY_MS = 86_400_000
export const MINUTES_A_DAY = 1440

/** Day number of a calendar date `YYYY-MM-DD`, or undefined when there is no such date in the years 2000 to 2178. */
export function dayNumber(date: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return undefined
  const ms = Date.parse(`${date}T00:00:00Z`)
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== date) return undefined
  const day = (ms - EPOCH_MS) / DAY_MS
  return day >= 0 && day < 65_536 ? day : undefined
}

/** Calendar date `YYYY-MM-DD` of a day number. */
export function dateOf(day: number): string {
  return new Date(EPOCH_MS + day * DAY_MS).toISOString().slice(0, 10)
}

/** Weekday of a day: 0 is Monday, 6 Sunday. */
export function weekday(day: number): number {
  return (day + 5) % 7
}

/** Minutes since 2000-01-01T00:00Z of an instant in milliseconds since 1970, rounded down. */
export function minuteOfMs(epochMs: number): number {
  return Math.floor((epochMs - EPOCH_MS) / 60_000)
}

/** Milliseconds since 1970 of a minute. */
export function msOfMinute(minute: number): number {
  return EPOCH_MS + minute * 60_000
}

const two = (n: number) => (n < 10 ? `0${n}` : `${n}`)

/** `2026-12-01T23:05:00+05:30`: a minute as local time with its UTC offset in minutes. */
export function formatLocal(minute: number, offsetMinutes: number): string {
  const local = minute + offsetMinutes
  const day = Math.floor(local / MINUTES_A_DAY)
  const rest = local - day * MINUTES_A_DAY
  const size = Math.abs(offsetMinutes)
  const sign = offsetMinutes < 0 ? '-' : '+'
  return `${dateOf(day)}T${two(Math.floor(rest / 60))}:${two(rest % 60)}:00${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** ISO 8601 duration of whole minutes, hours never rolled into days: `PT25H5M`. */
export function formatDuration(minutes: number): string {
  const hours = Math.floor(minutes / 60)
  const rest = minutes % 60
  if (hours === 0) return `PT${rest}M`
  return rest === 0 ? `PT${hours}H` : `PT${hours}H${rest}M`
}

/** UTC offset in minutes that an IANA zone has at a minute. */
export function zoneOffset(zone: string, minute: number): number {
  const at = Temporal.Instant.fromEpochMilliseconds(msOfMinute(minute)).toZonedDateTimeISO(zone)
  return Math.round(at.offsetNanoseconds / 60e9)
}

/** The local calendar day that an IANA zone has at an instant in milliseconds since 1970. */
export function localDay(zone: string, epochMs: number): number {
  const minute = minuteOfMs(epochMs)
  return Math.floor((minute + zoneOffset(zone, minute)) / MINUTES_A_DAY)
}

/** The changes of a zone's offset between two minutes: each with the minute it starts at and the offset from then on; the first entry holds at `from`. */
export function zoneOffsets(zone: string, from: number, to: number): { from: number; offset: number }[] {
  const out = [{ from, offset: zoneOffset(zone, from) }]
  let at: Temporal.ZonedDateTime | null = Temporal.Instant.fromEpochMilliseconds(
    msOfMinute(from),
  ).toZonedDateTimeISO(zone)
  while (at !== null) {
    at = at.getTimeZoneTransition('next')
    if (at === null) break
    const minute = minuteOfMs(at.epochMilliseconds)
    if (minute >= to) break
    out.push({ from: minute, offset: Math.round(at.offsetNanoseconds / 60e9) })
  }
  return out
}
