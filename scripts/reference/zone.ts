/**
 * The time zone of an airport, by vote. Each source is wrong somewhere, so two of three must agree, and they agree when their clocks do:
 * names differ without meaning (Europe/Kiev, Europe/Kyiv), offsets do not.
 */

/** The answers of the sources, most trusted for its *name* first; the last one is geography. Undefined where a source is silent. */
export type Votes = readonly [named: string | undefined, listed: string | undefined, located: string]

export type Verdict = { zone: string; by: 'three' | 'two' | 'geography' }

// Every seventh day of two years: no rule that is in force, the Ramadan pause of Morocco included, lasts less than that.
const FIRST = Temporal.Instant.from('2026-01-01T12:00:00Z')
const DATES = Array.from({ length: 105 }, (_, week) => FIRST.add({ hours: 24 * 7 * week }))

const clocks = new Map<string, string | undefined>()

/** A zone's offsets on all dates as one text, or undefined when there is no such zone (`Asia/ Bangkok`). */
export function clockOf(zone: string): string | undefined {
  if (!clocks.has(zone)) {
    let clock: string | undefined
    try {
      clock = DATES.map(date => date.toZonedDateTimeISO(zone).offset).join()
    } catch {
      clock = undefined
    }
    clocks.set(zone, clock)
  }
  return clocks.get(zone)
}

/**
 * Decides between the votes. Of the zones that agree the name given most often is taken, and the first source's among equals; where no two
 * agree, geography has it.
 */
export function decide(votes: Votes): Verdict {
  const valid = votes.filter(zone => zone !== undefined && clockOf(zone) !== undefined) as string[]
  const byClock = [...Map.groupBy(valid, clockOf).values()]
  const winners = byClock.find(zones => zones.length >= 2)
  if (winners === undefined) return { zone: votes[2], by: 'geography' }
  const times = (zone: string) => winners.filter(other => other === zone).length
  const zone = winners.reduce((best, next) => (times(next) > times(best) ? next : best))
  return { zone, by: winners.length === 3 ? 'three' : 'two' }
}
