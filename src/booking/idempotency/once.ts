import type { Database } from '../../db/database.ts'
import type { Caller } from '../../partner/account.ts'
import { Refusal } from '../../refusal.ts'
import { findKey, type KeptAnswer, keepAnswer } from './store.ts'

/** An answer as it goes out: rendered once, replayed byte for byte. */
export type Answer = { status: number; body: string; replayed: boolean }

/**
 * What to do with a key that is in use: replay its answer, or undefined when its first bearer vanished and the request may go on.
 * @throws Refusal idempotency_mismatch for another body, conflict while the first bearer still runs
 */
export function judge(kept: KeptAnswer, requestMac: Buffer): Answer | undefined {
  if (!kept.requestMac.equals(requestMac)) {
    throw new Refusal(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another body within 24 hours; send a new key for a new request.',
    )
  }
  if (kept.status !== null && kept.body !== null)
    return { status: kept.status, body: kept.body, replayed: true }
  if (kept.stale) return undefined
  throw new Refusal(
    'conflict',
    'The request with this Idempotency-Key is still running; send it again in a few seconds.',
    {
      retryAfterSeconds: 1,
    },
  )
}

/** Looks a key up before anything else is done. Undefined: nothing to replay. */
export async function replay(
  db: Database,
  caller: Caller,
  key: string,
  requestMac: Buffer,
): Promise<{ answer: Answer | undefined; known: boolean }> {
  const kept = await findKey(db, caller, key)
  return { answer: kept && judge(kept, requestMac), known: kept !== undefined }
}

/** Keeps an answer under its key and returns what every bearer of the key gets from now on. */
export async function keep(
  db: Database,
  caller: Caller,
  key: string,
  requestMac: Buffer,
  answer: { status: number; body: string },
): Promise<Answer> {
  const kept = await keepAnswer(db, caller, key, requestMac, answer)
  const settled = judge(kept, requestMac)
  if (settled === undefined) throw new Error('An answer was kept without its status')
  return { ...settled, replayed: settled.body !== answer.body }
}
