import type { Database } from '../db/database.ts'
import type { EventId } from '../id.ts'
import type { Owner } from './endpoint.ts'
import type { EventType } from './event.ts'
import { publishTest } from './publish.ts'
import { getOpenWebhook } from './read.ts'

/**
 * Sends an endpoint an event about a booking that does not exist, marked as a test: signed, retried and logged as any other.
 * @param type undefined: the first that the endpoint asks for
 * @param now milliseconds since 1970
 * @throws Refusal not_found; invalid_params when the endpoint is disabled
 */
export async function sendTestEvent(
  house: { database: Database },
  owner: Owner,
  id: string,
  type: EventType | undefined,
  now: number,
): Promise<{ eventId: EventId; type: EventType }> {
  const endpoint = await getOpenWebhook(house, owner, id)
  const chosen = type ?? endpoint.events[0]!
  const eventId = await house.database.transaction(tx =>
    publishTest(tx, owner, endpoint.seq, chosen, new Date(now)),
  )
  return { eventId, type: chosen }
}
