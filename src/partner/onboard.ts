import type { Database } from '../db/database.ts'
import { type AccountId, isId, newId } from '../id.ts'
import { type Fault, invalidParams, Refusal } from '../refusal.ts'
import type { Region } from '../settings.ts'
import { isCurrency } from '../travel/money.ts'
import type { Account, Plan } from './account.ts'
import { insertAccount, updateApproval } from './store.ts'

const NAME_MAX = 200

/** What a new account is made of. */
export type NewAccount = {
  name: string
  plan: Plan
  /** ISO 4217. */
  currency: string
  /** Whether live keys may be used from the start. */
  liveApproved: boolean
}

/**
 * Opens an account in a region.
 * @param now milliseconds since 1970
 * @throws Refusal invalid_params for a name that is empty, too long or not plain text, or an unknown currency
 */
export async function createAccount(
  needs: { database: Database; region: Region },
  wanted: NewAccount,
  now: number,
): Promise<Account> {
  const faults: Fault[] = []
  const name = plainText(wanted.name)
  if (name === undefined || name.length === 0 || name.length > NAME_MAX) {
    faults.push({
      param: 'name',
      code: 'invalid',
      message: `must be 1 to ${NAME_MAX} characters without control characters`,
    })
  }
  if (!isCurrency(wanted.currency)) {
    faults.push({ param: 'currency', code: 'unknown', message: 'must be an ISO 4217 code such as USD' })
  }
  if (faults.length > 0) throw invalidParams(faults)
  const account: Account = { ...wanted, id: newId('acc'), name: name! }
  await insertAccount(needs.database, needs.region, account, new Date(now))
  return account
}

/**
 * Lets an account's live keys in; harmless when they are already. In force on every machine within a second.
 * @param now milliseconds since 1970
 * @throws Refusal not_found
 */
export async function approveAccount(
  needs: { database: Database; region: Region },
  accountId: AccountId,
  now: number,
): Promise<void> {
  if (
    isId('acc', accountId) &&
    (await updateApproval(needs.database, needs.region, accountId, new Date(now)))
  )
    return
  throw unknownAccount(accountId)
}

/** The refusal for an account that this region does not have. */
export function unknownAccount(accountId: string): Refusal {
  return new Refusal('not_found', `There is no account ${accountId} in this region.`)
}

/** Text without surrounding blanks, in one Unicode form; undefined when it holds characters that are no text. */
export function plainText(text: string): string | undefined {
  const trimmed = text.normalize('NFC').trim()
  return /\p{C}/u.test(trimmed) ? undefined : trimmed
}
