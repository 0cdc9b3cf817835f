import type { Queryable, Transaction } from '../../db/database.ts'
import type { Caller } from '../../partner/account.ts'

/** How long a key is honoured. */
export const KEY_HONOURED_HOURS = 24

/** Keys made before this moment are forgotten. */
const OLDEST = `now() - make_interval(hours => ${KEY_HONOURED_HOURS})`
/** The first bearer of the key came to no answer within its time. */
const VANISHED = `(i.status is null and i.running_until <= now())`

type Owner = Pick<Caller, 'accountId' | 'mode'>

/** What is known of a key: still running (no status), or the answer to replay. */
export type KeptAnswer = { requestMac: Buffer; status: number | null; body: string | null; stale: boolean }

/**
 * Claims a key in the transaction that books. False when the key is taken; a key that outlived its day, or whose first bearer vanished
 * before anything was booked, is taken over.
 */
export async function claimKey(
  tx: Transaction,
  owner: Owner,
  key: string,
  requestMac: Buffer,
  runsForSeconds: number,
): Promise<boolean> {
  const rows = await tx.query(
    `insert into idempotency as i (account_id, mode, key, request_mac, running_until)
     values ($1, $2, $3, $4, now() + make_interval(secs => $5))
     on conflict (account_id, mode, key) do update
       set request_mac = excluded.request_mac, status = null, body = null, created_at = now(), running_until = excluded.running_until
       where i.created_at <= ${OLDEST} or (${VANISHED} and i.request_mac = excluded.request_mac)
     returning 1`,
    [owner.accountId, owner.mode, key, requestMac, runsForSeconds],
  )
  return rows.length === 1
}

/** What is kept for a key, if it is still honoured. */
export async function findKey(db: Queryable, owner: Owner, key: string): Promise<KeptAnswer | undefined> {
  const rows = await db.query<KeptRow>(
    `select request_mac, status, body, running_until <= now() as stale from idempotency
      where account_id = $1 and mode = $2 and key = $3 and created_at > ${OLDEST}`,
    [owner.accountId, owner.mode, key],
  )
  return rows[0] && keptAnswer(rows[0])
}

/**
 * Keeps the answer to a key and returns what is kept now: two bearers of one key that both came to an answer give the same bytes. An answer
 * is written where there is none and the bearer has claimed the key or the one that did has vanished; also where the key outlived its day.
 */
export async function keepAnswer(
  db: Queryable,
  owner: Owner,
  key: string,
  requestMac: Buffer,
  answer: { status: number; body: string },
  claimed: boolean,
): Promise<KeptAnswer> {
  const answerable = `(i.created_at <= ${OLDEST}
    or (i.request_mac = excluded.request_mac and (${VANISHED} or (i.status is null and $7))))`
  const rows = await db.query<KeptRow>(
    `insert into idempotency as i (account_id, mode, key, request_mac, status, body, running_until)
     values ($1, $2, $3, $4, $5, $6, now())
     on conflict (account_id, mode, key) do update set
       status = case when ${answerable} then excluded.status else i.status end,
       body = case when ${answerable} then excluded.body else i.body end,
       request_mac = case when ${answerable} then excluded.request_mac else i.request_mac end,
       created_at = case when i.created_at <= ${OLDEST} then now() else i.created_at end
     returning request_mac, status, body, running_until <= now() as stale`,
    [owner.accountId, owner.mode, key, requestMac, answer.status, answer.body, claimed],
  )
  return keptAnswer(rows[0]!)
}

/** Forgets keys past their day, at most `limit` at a time. Returns how many went. */
export async function forgetKeys(db: Queryable, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from idempotency where (account_id, mode, key) in (
       select account_id, mode, key from idempotency where created_at <= ${OLDEST} order by created_at limit $1)
     returning 1`,
    [limit],
  )
  return rows.length
}

type KeptRow = { request_mac: Buffer; status: number | null; body: string | null; stale: boolean }

const keptAnswer = (row: KeptRow): KeptAnswer => ({
  requestMac: row.request_mac,
  status: row.status,
  body: row.body,
  stale: row.stale,
})
