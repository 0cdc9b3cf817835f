import type { Transaction } from '../db/database.ts'
import type { BookingId } from '../id.ts'
import type { Caller } from '../partner/account.ts'
import type { Money } from '../travel/money.ts'

/**
 * The four things that happen to a booking's price, each a movement between two books of the account: `partner` is what the partner can
 * spend, `held` what a pending booking has set aside, `sales` what has been charged.
 */
const MOVEMENTS = {
  hold: { debit: 'held', credit: 'partner' },
  charge: { debit: 'sales', credit: 'held' },
  release: { debit: 'partner', credit: 'held' },
  refund: { debit: 'partner', credit: 'sales' },
} as const

export type MovementKind = keyof typeof MOVEMENTS

/** Whose books an entry belongs to. */
export type LedgerOwner = Pick<Caller, 'accountId' | 'mode'>

/**
 * Writes one entry in the caller's transaction. A booking has each kind at most once: writing it again violates a key and fails the
 * transaction, so that nothing is ever charged twice.
 */
export async function record(
  tx: Transaction,
  owner: LedgerOwner,
  bookingId: BookingId,
  kind: MovementKind,
  price: Money,
): Promise<void> {
  const { debit, credit } = MOVEMENTS[kind]
  await tx.query(
    `insert into ledger_entry (account_id, mode, booking_id, kind, debit, credit, amount, currency)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [owner.accountId, owner.mode, bookingId, kind, debit, credit, price.minor, price.currency],
  )
}
