import type { Database } from '../../db/database.ts'
import type { Owner } from '../endpoint.ts'
import { getEvent } from '../history/read.ts'
import { getOpenWebhook } from '../read.ts'
import { noteDue } from '../wake.ts'
import { insertSeries, type Redelivery } from './store.ts'

/**
 * Sends an event again: the same id and bytes, four attempts more. A delivery that is still pending goes on as it is, so repeating this is
 * harmless.
 * @param webhookId undefined: every open endpoint that asks for its type; for a test event the one it was made for
 * @throws Refusal not_found for the event or the endpoint; invalid_params when the endpoint is disabled
 */
export async function redeliver(
  house: { database: Database },
  owner: Owner,
  eventId: string,
  webhookId: string | undefined,
): Promise<Redelivery[]> {
  const event = await getEvent(house, owner, eventId)
  const only =
    webhookId === undefined ? undefined : await getOpenWebhook(house, owner, webhookId, 'webhookId')
  return house.database.transaction(async tx => {
    const redeliveries = await insertSeries(tx, owner, event.id, only?.id)
    noteDue(
      tx,
      redeliveries.filter(({ queued }) => queued).map(({ endpoint }) => endpoint),
    )
    return redeliveries
  })
}
