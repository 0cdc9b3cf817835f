import type { Database } from '../db/database.ts'
import { closeEndpoint } from './close.ts'
import type { Owner } from './endpoint.ts'
import { getWebhook, noWebhook } from './read.ts'

/**
 * Deletes an endpoint. Resolves only when no attempt can begin any more, which takes milliseconds, or a few seconds when its sender is gone.
 * @throws Refusal not_found for one that the owner has not, or has deleted before
 */
export async function remove(house: { database: Database }, owner: Owner, id: string): Promise<void> {
  const { seq } = await getWebhook(house, owner, id)
  if (!(await closeEndpoint(house.database, seq))) throw noWebhook()
}
