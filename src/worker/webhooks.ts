import type { Database } from '../db/database.ts'
import { type Engine, type EngineNeeds, startEngine } from '../webhook/delivery/engine.ts'
import { endClosed, forgetOld, judgeFailing, keepDays, measure } from '../webhook/upkeep/upkeep.ts'
import { loop } from './loop.ts'

const MINUTE_MS = 60_000
/** A transaction that began before an endpoint was closed may still add rows for it. */
const END_EVERY_MS = 5_000

export type WebhookHouse = Omit<EngineNeeds, 'makeDays'> & {
  /** For statements that take their time: counting, making and dropping days. */
  upkeepDatabase: Database
  disableAfterHours: number
}

/** The door for time on events, one region's worth: they are sent, and what goes with it is kept in order. */
export async function startWebhooks(house: WebhookHouse): Promise<Engine> {
  const { upkeepDatabase: database, log } = house
  const upkeep = { ...house, database, region: house.secretKey.region }
  await keepDays(database)
  const engine = await startEngine({ ...house, makeDays: () => keepDays(database) })
  const loops = [
    loop('webhook log', 60 * MINUTE_MS, log, async () => {
      await keepDays(database)
      await forgetOld(database)
      return false
    }),
    loop('closed webhooks', END_EVERY_MS, log, async () => (await endClosed(house.database)) > 0),
    loop('failing webhooks', MINUTE_MS, log, async () => {
      await judgeFailing(upkeep)
      return false
    }),
    loop('webhook audit', MINUTE_MS, log, async () => {
      await measure(upkeep)
      return false
    }),
  ]
  return {
    due: engine.due,
    async stop() {
      await Promise.all([engine.stop(), ...loops.map(one => one.stop())])
    },
  }
}
