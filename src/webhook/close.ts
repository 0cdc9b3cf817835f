import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../db/database.ts'
import { closeLane, isLetGo, notify } from './delivery/store.ts'
import { CHANGED } from './wake.ts'

const LOOK_EVERY_MS = 10
/** A sender that does not answer loses its lease before this. */
const LET_GO_WITHIN_MS = 8_000

/**
 * Closes an endpoint for good. Resolves when no attempt can begin any more: its sender has let go, or its lease has run out. What is still
 * queued is ended by the upkeep.
 * @param endpoint its `seq`
 * @returns false when it was closed before
 * @throws Error when the lane was not let go in time: it stays closed
 */
export async function closeEndpoint(database: Database, endpoint: number): Promise<boolean> {
  const closed = await database.transaction(tx => closeLane(tx, endpoint))
  if (!closed) return false
  await notify(database, CHANGED, String(endpoint)).catch(() => {})
  const until = performance.now() + LET_GO_WITHIN_MS
  while (!(await isLetGo(database, endpoint))) {
    if (performance.now() > until) throw new Error(`the lane of endpoint ${endpoint} was not let go in time`)
    await sleep(LOOK_EVERY_MS)
  }
  return true
}
