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

/** Fills an empty database with the demo network: schedule, fares and rates, by the same imports that an operator uses. */
export async function fillDemo(database: Database, now: number): Promise<boolean> {
  const state = await readState(database)
  if (state.schedule > 0 || state.fares > 0 || state.rates > 0) return false
  const today = localDay('UTC', now)
  await importRates(database, demoRates(today), DEMO_PROVIDER)
  await importFares(database, demoFares())
  await importSchedule(database, demoSchedule(today), false)
  await writeDemoDay(database, dateOf(today))
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
