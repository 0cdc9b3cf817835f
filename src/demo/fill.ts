import type { Database } from '../db/database.ts'
import { importFares } from '../supplier/inventory/fares.ts'
import { importRates } from '../supplier/inventory/rates.ts'
import { importSchedule } from '../supplier/inventory/schedule.ts'
import { readDemoDay, readState, writeDemoDay } from '../supplier/inventory/store.ts'
import { DEMO_PROVIDER } from '../travel/exchange.ts'
import { dateOf, localDay } from '../travel/time.ts'
import { demoFares } from './fares.ts'
import { demoSchedule } from './network.ts'
import { demoRates } from './rates.ts'

/**
 * Fills an empty database with the demo network: schedule, fares and rates, by the same imports that an operator uses. A fill that was broken
 * off is done again.
 * @returns whether the demo network is in place
 */
export async function fillDemo(database: Database, now: number): Promise<boolean> {
  const begun = (await readDemoDay(database)) !== undefined
  const state = await readState(database)
  if (state.schedule > 0 || (!begun && (state.fares > 0 || state.rates > 0))) return begun
  const today = localDay('UTC', now)
  // First, so that the next start sees what this one began; the schedule last, so that it sees whether this one came to its end.
  await writeDemoDay(database, dateOf(today))
  await importRates(database, demoRates(today), now, DEMO_PROVIDER)
  await importFares(database, demoFares())
  await importSchedule(database, demoSchedule(today), false)
  return true
}

/** Makes the demo network again when a day has passed, so that it always reaches as far ahead as can be searched. */
export async function extendDemo(database: Database, now: number): Promise<boolean> {
  const today = localDay('UTC', now)
  const madeOn = await readDemoDay(database)
  if (madeOn === undefined || madeOn >= dateOf(today)) return false
  await importSchedule(database, demoSchedule(today), false)
  await writeDemoDay(database, dateOf(today))
  return true
}
