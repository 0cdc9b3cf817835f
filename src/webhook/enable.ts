import type { Database } from '../db/database.ts'
import { notify } from './delivery/store.ts'
import type { Owner, Webhook } from './endpoint.ts'
import { getWebhook, noWebhook } from './read.ts'
import { openLane } from './store.ts'
import { CHANGED } from './wake.ts'

/**
 * Opens a disabled endpoint again: what happens from now on is owed to it. Harmless when it is open.
 * @returns the endpoint, and the instant since which it may have missed something: recover from there. Undefined where nothing was missed
 * @throws Refusal not_found
 */
export async function enable(
  house: { database: Database },
  owner: Owner,
  id: string,
): Promise<{ webhook: Webhook; missedSince: Date | undefined }> {
  const before = await getWebhook(house, owner, id)
  if (before.state === 'open') return { webhook: before, missedSince: undefined }
  const opened = await house.database.transaction(async tx => {
    await notify(tx, CHANGED, String(before.seq))
    return openLane(tx, owner, before.id)
  })
  if (!opened) throw noWebhook()
  const webhook = await getWebhook(house, owner, id)
  return { webhook, missedSince: before.lastSuccessAt ?? before.createdAt }
}
