import type { Database } from '../db/database.ts'
import { isId } from '../id.ts'
import { notify } from './delivery/store.ts'
import { makeSecret, type Owner, type SecretKey, sealSecret } from './endpoint.ts'
import { noWebhook } from './read.ts'
import { updateSecret } from './store.ts'
import { CHANGED } from './wake.ts'

/** How long the old secret may sign beside the new one, in hours. */
export const OVERLAP_HOURS_MAX = 168
export const OVERLAP_HOURS_DEFAULT = 24

/**
 * Gives an endpoint a new secret. For `overlapHours` (0 to `OVERLAP_HOURS_MAX`) the old one signs beside it, so that no delivery fails
 * verification while the receiver changes over; with 0 it ends at once. A rotation during another one's overlap ends the oldest secret.
 * @param secret undefined: one is made
 * @returns the secret that was made, which is told only now
 * @throws Refusal not_found
 */
export async function rotateSecret(
  house: { database: Database; secretKey: SecretKey },
  owner: Owner,
  id: string,
  { secret, overlapHours }: { secret: string | undefined; overlapHours: number },
): Promise<{ generated: string | undefined; previousUntil: Date | undefined }> {
  if (!isId('whk', id)) throw noWebhook()
  const generated = secret === undefined ? makeSecret() : undefined
  const sealed = sealSecret(house.secretKey, id, secret ?? generated!)
  const rotated = await house.database.transaction(async tx => {
    const updated = await updateSecret(tx, owner, id, sealed, overlapHours)
    if (updated !== undefined) await notify(tx, CHANGED, String(updated.seq))
    return updated
  })
  if (rotated === undefined) throw noWebhook()
  return { generated, previousUntil: rotated.previousUntil }
}
