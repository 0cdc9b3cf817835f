import type { Database } from '../../db/database.ts'
import type { Logger } from '../../log.ts'
import { oldestTransactionSeconds, webhookDisabled, webhookDue, webhookUnaccounted } from '../../metrics.ts'
import type { Region } from '../../settings.ts'
import { notify } from '../delivery/store.ts'
import { CHANGED } from '../wake.ts'
import {
  closeHour,
  countOwed,
  deleteEndpoints,
  deleteEvents,
  disableFailing,
  dropDay,
  endDeliveries,
  gauges,
  logDays,
  makeDay,
  noticeFailing,
  today,
} from './store.ts'

/** Days of the attempt log made ahead, and kept behind. */
const DAYS_AHEAD = 7
const DAYS_KEPT = 30
/** Events outlive the log that tells of them. */
const EVENT_DAYS_KEPT = 35
const NOTICE_HOURS = 24
const DISABLE_EXHAUSTED = 20
/** A transaction that is open for longer keeps dead rows from being cleaned away, and every look for what is due steps over them. */
const OLD_TRANSACTION_SECONDS = 60
/** Rows ended or deleted by one statement. */
const BATCH = 1_000

export type UpkeepNeeds = {
  database: Database
  region: Region
  log: Logger
  /** Hours of failure after which an endpoint is disabled; 0 never does. */
  disableAfterHours: number
}

/** Makes the days of the attempt log from yesterday to a week ahead, and drops those that are too old. */
export async function keepDays(database: Database): Promise<void> {
  const now = Date.parse(await today(database))
  const there = await logDays(database)
  for (let day = -1; day <= DAYS_AHEAD; day++) {
    const [from, to] = [dayOf(now, day), dayOf(now, day + 1)]
    if (!there.includes(from)) await makeDay(database, from, to)
  }
  for (const day of there) if (day < dayOf(now, -DAYS_KEPT)) await dropDay(database, day)
}

const dayOf = (now: number, days: number) => new Date(now + days * 86_400_000).toISOString().slice(0, 10)

/** Ends what is queued for endpoints that are closed or disabled. */
export async function endClosed(database: Database): Promise<number> {
  let all = 0
  for (;;) {
    const ended = await endDeliveries(database, BATCH)
    all += ended
    if (ended < BATCH) return all
  }
}

/** Disables endpoints that have failed for days, and says so a good while before. */
export async function judgeFailing({ database, region, log, disableAfterHours }: UpkeepNeeds): Promise<void> {
  for (const { id, failing_since } of await noticeFailing(database, NOTICE_HOURS))
    log.warn({ webhookId: id, since: failing_since.toISOString() }, 'an endpoint has failed for a day')
  if (disableAfterHours === 0) return
  for (const { seq, id } of await disableFailing(database, disableAfterHours, DISABLE_EXHAUSTED)) {
    webhookDisabled.inc({ region, reason: 'failing' })
    log.warn({ webhookId: id, hours: disableAfterHours }, 'an endpoint kept failing and was disabled')
    await notify(database, CHANGED, String(seq))
  }
}

/** Forgets what is older than the log. */
export async function forgetOld(database: Database): Promise<void> {
  while ((await deleteEvents(database, EVENT_DAYS_KEPT, BATCH)) === BATCH);
  await deleteEndpoints(database, EVENT_DAYS_KEPT)
}

/**
 * What is owed and neither queued nor ended: 0, or something was lost. Hours whose deliveries have all ended are remembered and not counted again.
 */
export async function audit(database: Database): Promise<number> {
  const since = (await logDays(database))[0]
  if (since === undefined) return 0
  let unaccounted = 0
  for (const { hour, owed, live, final, closable } of await countOwed(database, since)) {
    unaccounted += owed - live - final
    if (closable && owed === final) await closeHour(database, hour, owed, final)
  }
  return unaccounted
}

/** Audits, and sets the gauges. */
export async function measure({ database, region, log }: UpkeepNeeds): Promise<void> {
  const unaccounted = await audit(database)
  webhookUnaccounted.set({ region }, unaccounted)
  if (unaccounted !== 0) log.error({ unaccounted }, 'deliveries are owed that are neither queued nor ended')
  const { fresh, minute, hour, oldest } = await gauges(database)
  webhookDue.set({ region, age: 'under a minute' }, fresh)
  webhookDue.set({ region, age: 'a minute to an hour' }, minute)
  webhookDue.set({ region, age: 'over an hour' }, hour)
  oldestTransactionSeconds.set({ region }, oldest)
  if (oldest > OLD_TRANSACTION_SECONDS)
    log.warn(
      { seconds: Math.round(oldest) },
      'a transaction has been open for long: deliveries get slower until it ends',
    )
}
