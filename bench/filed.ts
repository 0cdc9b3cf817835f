/** What an SSIM file sells, read off its leg records without the engine: which airports, and over which days. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { dayNumber } from '../src/travel/time.ts'

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']

export type Filed = {
  /** Airports by the number of other airports that they have a passenger leg to. */
  routes: ReadonlyMap<string, number>
  /** First and last day of any leg, as in travel/time. */
  firstDay: number
  lastDay: number
}

/** Reads a file, plain or gzip. @throws Error when there is no passenger leg in it */
export function readFiled(file: string): Filed {
  const bytes = readFileSync(file)
  const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('latin1')
  const destinations = new Map<string, Set<string>>()
  let firstDay = Number.POSITIVE_INFINITY
  let lastDay = Number.NEGATIVE_INFINITY
  for (const [leg] of text.matchAll(/^3.{199}/gm)) {
    if (leg[13] !== 'J') continue
    const origin = leg.slice(36, 39)
    const known = destinations.get(origin)
    if (known === undefined) destinations.set(origin, new Set([leg.slice(54, 57)]))
    else known.add(leg.slice(54, 57))
    firstDay = Math.min(firstDay, dayOf(leg.slice(14, 21)) ?? firstDay)
    lastDay = Math.max(lastDay, dayOf(leg.slice(21, 28)) ?? lastDay)
  }
  if (destinations.size === 0) throw new Error(`${file} has no passenger leg`)
  return { routes: new Map([...destinations].map(([code, to]) => [code, to.size])), firstDay, lastDay }
}

/** `19MAY27` as a day; undefined for an open end (`00XXX00`). */
function dayOf(text: string): number | undefined {
  const month = MONTHS.indexOf(text.slice(2, 5)) + 1
  return month === 0
    ? undefined
    : dayNumber(`20${text.slice(5)}-${String(month).padStart(2, '0')}-${text.slice(0, 2)}`)
}
