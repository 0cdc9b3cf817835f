import { randomBytes } from 'node:crypto'
import type { AccountId, WebhookId } from '../id.ts'
import { open, seal } from '../secret.ts'
import type { Region } from '../settings.ts'
import type { Mode } from '../supplier/supplier.ts'
import type { EventType } from './event.ts'

/** Open: events are sent. Disabled: failed for days, re-enabled by one call. Closed: deleted. */
export type LaneState = 'open' | 'disabled' | 'closed'

/** Whose webhooks and events a statement may see: account and mode stand in every `where`. */
export type Owner = { accountId: AccountId; mode: Mode }

/** Where a partner wants to be told, and of what. */
export type Endpoint = {
  /** Short number for the rows that point to it; never shown. */
  seq: number
  id: WebhookId
  accountId: AccountId
  mode: Mode
  url: string
  events: readonly EventType[]
  state: LaneState
  createdAt: Date
}

/** A signing secret in the clear. `given` tells whether the partner chose it: only then is there a contract signature. */
export type Secret = { text: string; given: boolean }

/** What signs: the secret, and during a rotation also the one before it. */
export type SigningSecrets = {
  current: Secret
  /** Signs too until `until`, milliseconds since 1970 by the database's clock. */
  previous?: { secret: Secret; until: number }
}

/** What seals secrets in one region: `deriveKey(master, SECRET_PURPOSE(region))`. */
export type SecretKey = { key: Buffer; region: Region }
export const secretPurpose = (region: Region): string => `webhook secret ${region}`

const context = (region: Region, id: WebhookId) => `webhook secret ${region} ${id}`

/** Seals a secret for one endpoint of one region; it opens nowhere else. */
export function sealSecret({ key, region }: SecretKey, id: WebhookId, text: string): Buffer {
  return seal(key, Buffer.from(text, 'utf8'), context(region, id))
}

/** The secret's text; undefined when it was sealed for another endpoint, region or master secret, or altered. */
export function openSecret(
  { key, region }: SecretKey,
  id: WebhookId,
  sealed: Uint8Array,
): string | undefined {
  return open(key, sealed, context(region, id))?.toString('utf8')
}

/** An endpoint as its owner sees it: how it fares, beside where it is. */
export type Webhook = Endpoint & {
  /** Whether deliveries carry the contract's signature beside the standard's. */
  contractSignature: boolean
  /** Until when the secret before this one signs too. */
  previousSecretUntil: Date | undefined
  lastSuccessAt: Date | undefined
  /** The first failure after the last success. */
  failingSince: Date | undefined
  disabledAt: Date | undefined
  disabledReason: DisabledReason | undefined
}

/** Why nothing is sent: nothing but failures for days, four answers 410 in a row, or the operator's word. */
export type DisabledReason = 'failing' | 'gone' | 'operator'

/** A new secret in the standard's form: `whsec_` and 32 random bytes in base64. */
export function makeSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}
