import type { Database } from '../../db/database.ts'
import type { Owner } from '../endpoint.ts'
import { getOpenWebhook, getWebhook } from '../read.ts'
import { noteDue } from '../wake.ts'
import { countWindow, insertSpread, recoveryStart, unreached, type WindowState } from './store.ts'

/** Recovered events go out at this pace, so that fresh ones do not wait behind them. */
export const RECOVERED_PER_SECOND = 20
const SPACING_MS = 1000 / RECOVERED_PER_SECOND
/** Events that one call recovers; what is beyond is for the next call. */
export const RECOVERED_MAX = 20_000
/** Rows written in one statement. */
const CHUNK = 1_000
/** Attempts are kept this long: beyond it nobody knows what arrived. */
export const WINDOW_DAYS_MAX = 30

/** A window of time: from `since` on, before `until`. */
export type Window = { since: Date; until: Date }

export type Recovery = {
  /** How the events of the window stood with the endpoint when it was asked. */
  counts: Record<WindowState, number>
  /** How many are sent again; for a dry run, how many would be. */
  queued: number
  /** Whether more of the window is left, because of `RECOVERED_MAX`. */
  more: boolean
}

/**
 * Sends an endpoint what it has not got of a window: exhausted deliveries, and events that it was never owed because it was disabled or not
 * there yet. Each as a new series of the same event. What was delivered or is pending is left alone, so windows may overlap and repeat.
 * @throws Refusal not_found; invalid_params when the endpoint is disabled and it is no dry run
 */
export async function recover(
  house: { database: Database },
  owner: Owner,
  id: string,
  { since, until }: Window,
  dryRun: boolean,
): Promise<Recovery> {
  const { database } = house
  const webhook = dryRun ? await getWebhook(house, owner, id) : await getOpenWebhook(house, owner, id)
  const counts = await countWindow(database, owner, webhook.id, since, until)
  const wanted = counts.exhausted + counts.missed
  const more = wanted > RECOVERED_MAX
  if (dryRun) return { counts, queued: Math.min(wanted, RECOVERED_MAX), more }
  const events = await unreached(database, owner, webhook.id, since, until, RECOVERED_MAX)
  const start = await recoveryStart(database, webhook.seq, SPACING_MS)
  let queued = 0
  for (let first = 0; first < events.length; first += CHUNK) {
    const chunk = events.slice(first, first + CHUNK)
    queued += await database.transaction(async tx => {
      noteDue(tx, [webhook.seq])
      return insertSpread(tx, owner, webhook.id, chunk, start, first, SPACING_MS)
    })
  }
  return { counts, queued, more }
}
