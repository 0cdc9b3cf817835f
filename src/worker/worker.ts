import { markUncertain, type SendHouse, sendConfirmations } from '../booking/confirmation/confirm.ts'
import { forgetKeys } from '../booking/idempotency/store.ts'
import { followOperations } from '../booking/operation/follow.ts'
import { type ReconcileHouse, reconcile } from '../booking/reconcile.ts'
import { pruneRequestLog } from '../partner/request-log.ts'
import { type Loop, loop } from './loop.ts'

const RECONCILE_EVERY_MS = 1_000
const CONFIRM_EVERY_MS = 1_000
const FOLLOW_EVERY_MS = 1_000
const TIDY_EVERY_MS = 10 * 60_000
/** Rows forgotten in one statement. */
const FORGET_BATCH = 1_000

/** The door for time, one region's worth: what is pending is settled, what is owed is sent, what is old goes. */
export function startWorker(house: ReconcileHouse & SendHouse & { now(): number }): {
  stop(): Promise<void>
} {
  const loops: Loop[] = [
    loop('reconcile', RECONCILE_EVERY_MS, house.log, async () => (await reconcile(house)) > 0),
    loop('operations', FOLLOW_EVERY_MS, house.log, () => followOperations(house)),
    loop('confirm', CONFIRM_EVERY_MS, house.log, async () => (await sendConfirmations(house)) > 0),
    loop('tidy', TIDY_EVERY_MS, house.log, async () => {
      await markUncertain(house)
      await pruneRequestLog(house.database)
      return (await forgetKeys(house.database, FORGET_BATCH)) === FORGET_BATCH
    }),
  ]
  return {
    async stop() {
      await Promise.all(loops.map(one => one.stop()))
    },
  }
}
