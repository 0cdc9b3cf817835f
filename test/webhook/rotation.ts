import type { Database } from '../../src/db/database.ts'
import type { WebhookId } from '../../src/id.ts'
import { sealSecret } from '../../src/webhook/endpoint.ts'
import { SECRET_KEY } from './support.ts'

/** Rotates an endpoint's secret straight in the database and tells the senders. */
export async function rotateBy(
  database: Database,
  seq: number,
  id: WebhookId,
  { from, to, overlapMs }: { from: string; to: string; overlapMs: number },
): Promise<void> {
  await database.query(
    `update endpoint set previous_secret = $2, previous_given = true, cut_over_at = now() + make_interval(secs => $3 / 1000.0), secret = $4,
            secret_given = true, revision = revision + 1 where seq = $1`,
    [seq, sealSecret(SECRET_KEY, id, from), overlapMs, sealSecret(SECRET_KEY, id, to)],
  )
  await database.query("select pg_notify('airside_webhook_changed', $1)", [String(seq)])
}
