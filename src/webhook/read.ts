import type { Queryable } from '../db/database.ts'
import { isId } from '../id.ts'
import { invalidParams, Refusal } from '../refusal.ts'
import type { Owner, Webhook } from './endpoint.ts'
import { findEndpoint } from './store.ts'

/**
 * One of the owner's endpoints. Another account's, or the other mode's, is answered as one that does not exist.
 * @throws Refusal not_found
 */
export async function getWebhook(house: { database: Queryable }, owner: Owner, id: string): Promise<Webhook> {
  const found = isId('whk', id) ? await findEndpoint(house.database, owner, id) : undefined
  if (found === undefined) throw noWebhook()
  return found
}

/**
 * One of the owner's endpoints that is not disabled.
 * @throws Refusal not_found; invalid_params when it is disabled
 */
export async function getOpenWebhook(
  house: { database: Queryable },
  owner: Owner,
  id: string,
  param = 'id',
): Promise<Webhook> {
  const found = await getWebhook(house, owner, id)
  if (found.state === 'open') return found
  throw invalidParams([
    { param, code: 'webhook_disabled', message: 'names a webhook that is disabled; enable it first' },
  ])
}

/** The same words for every webhook that a caller cannot see. */
export function noWebhook(): Refusal {
  return new Refusal(
    'not_found',
    'There is no such webhook in this account and mode; check the id and the key you use.',
  )
}
