import type { Queryable, Transaction } from '../../db/database.ts'
import type { BookingId } from '../../id.ts'

/** Notes in the confirming transaction that the traveller is owed a confirmation. */
export async function oweConfirmation(tx: Transaction, id: BookingId): Promise<void> {
  await tx.query('insert into confirmation (booking_id) values ($1) on conflict do nothing', [id])
}

/** Drops an owed confirmation whose booking has ended before it was sent. */
export async function forgoConfirmation(db: Queryable, id: BookingId): Promise<void> {
  await db.query(`delete from confirmation where booking_id = $1 and state = 'due'`, [id])
}

/**
 * Takes one owed confirmation and marks it `sending` for `leaseSeconds`, so that no other worker sends it. The mark commits before the mail
 * server is asked: a crash in between leaves `sending`, which `findUncertain` brings to light, and never a second mail.
 */
export async function takeDueConfirmation(
  db: Queryable,
  leaseSeconds: number,
): Promise<{ id: BookingId; attempts: number } | undefined> {
  const rows = await db.query<{ id: BookingId; attempts: number }>(
    `update confirmation set state = 'sending', attempts = attempts + 1, due_at = now() + make_interval(secs => $1)
      where booking_id = (select booking_id from confirmation where state = 'due' and due_at <= now()
        order by due_at limit 1 for update skip locked)
      returning booking_id as id, attempts`,
    [leaseSeconds],
  )
  return rows[0]
}

/** Records what became of a confirmation that was taken. */
export async function settleConfirmation(
  db: Queryable,
  id: BookingId,
  state: 'sent' | 'logged' | 'uncertain' | 'refused',
  problem: string | null,
): Promise<void> {
  await db.query(
    `update confirmation set state = $2, settled_at = now(), problem = $3 where booking_id = $1 and state = 'sending'`,
    [id, state, problem],
  )
}

/** Puts a confirmation back that certainly was not accepted by the mail server. */
export async function postponeConfirmation(
  db: Queryable,
  id: BookingId,
  seconds: number,
  problem: string,
): Promise<void> {
  await db.query(
    `update confirmation set state = 'due', due_at = now() + make_interval(secs => $2), problem = $3
      where booking_id = $1 and state = 'sending'`,
    [id, seconds, problem],
  )
}

/** Drops a confirmation that was taken although its booking has ended. */
export async function dropConfirmation(db: Queryable, id: BookingId): Promise<void> {
  await db.query(`delete from confirmation where booking_id = $1 and state = 'sending'`, [id])
}

/** Confirmations whose sender vanished mid-way: whether the mail server took them is unknown. Marked so that an operator can look. */
export async function findUncertain(db: Queryable): Promise<BookingId[]> {
  const rows = await db.query<{ id: BookingId }>(
    `update confirmation set state = 'uncertain', settled_at = now(), problem = 'the sender stopped while sending'
      where state = 'sending' and due_at <= now() returning booking_id as id`,
  )
  return rows.map(row => row.id)
}

/** Makes a confirmation due again that is uncertain, given up or was only logged, by the operator's decision. False when there is none. */
export async function resendConfirmation(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(
    `update confirmation set state = 'due', due_at = now(), attempts = 0, settled_at = null
      where booking_id = $1 and state in ('uncertain', 'refused', 'logged')
     returning 1`,
    [id],
  )
  return rows.length === 1
}
