import type { AccountId, KeyId } from '../id.ts'
import type { Region } from '../settings.ts'
import type { Mode } from '../supplier/supplier.ts'

export type Plan = 'enterprise' | 'developer'

/** What a key may do. */
export const SCOPES = ['search', 'book', 'read', 'webhooks'] as const
export type Scope = (typeof SCOPES)[number]

export type Account = {
  id: AccountId
  name: string
  plan: Plan
  /** Currency of the account's ledger and of answers that ask for none. */
  currency: string
  /** Live keys are forbidden until the operator has approved the account. */
  liveApproved: boolean
}

/** Who stands behind a request, as its key says. Every query on partner data takes one. */
export type Caller = {
  region: Region
  accountId: AccountId
  keyId: KeyId
  mode: Mode
  plan: Plan
  currency: string
  scopes: ReadonlySet<Scope>
}
