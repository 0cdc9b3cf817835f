import type { Database } from '../../db/database.ts'
import type { Caller } from '../../partner/account.ts'
import { Refusal } from '../../refusal.ts'
import { findKey, type KeptAnswer, keepAnswer } from './store.ts'

/** An answer as it goes out: rendered once, replayed byte for byte. */
export type Answer = { status: number; body: string; replayed: boolean }

/**
 * The answer to replay for a key that was sent before. Undefined when it is new, or its first bearer vanished: then the request goes on.
 * @throws Refusal idempotency_mismatch for another body, conflict while the first bearer still runs
 */
export async function findAnswer(
  db: Database,
  caller: Caller,
  key: string,
  requestMac: Buffer,
): Promise<Answer | undefined> {
  const kept = await findKey(db, caller, key)
  return kept && judge(kept, requestMac)
}

/**
 * Keeps an answer under its key and returns what every bearer of the key gets from now on: where another bearer has answered before, that.
 * @param claimed whether this request claimed the key; where it did not, the answer is left to the one that did
 * @throws Refusal idempotency_mismatch, conflict
 */
export async function keep(
  db: Database,
  caller: Caller,
  key: string,
  requestMac: Buffer,
  answer: { status: number; body: string },
  claimed: boolean,
): Promise<Answer> {
  const kept = judge(await keepAnswer(db, caller, key, requestMac, answer, claimed), requestMac)
  if (kept === undefined) throw stillRunning()
  return { ...kept, replayed: kept.body !== answer.body }
}

/** Undefined when the key was claimed and its bearer has not answered within its time. */
function judge(kept: KeptAnswer, requestMac: Buffer): Answer | undefined {
  if (!kept.requestMac.equals(requestMac)) {
    throw new Refusal(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another body within 24 hours; send a new key for a new request.',
    )
  }
  if (kept.status !== null && kept.body !== null)
    return { status: kept.status, body: kept.body, replayed: true }
  if (kept.stale) return undefined
  throw stillRunning()
}

const stillRunning = () =>
  new Refusal(
    'conflict',
    'The request with this Idempotency-Key is still running; send it again in a few seconds.',
    { retryAfterSeconds: 1 },
  )
