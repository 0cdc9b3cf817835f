import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../db/database.ts'
import { newId } from '../id.ts'
import { invalidParams } from '../refusal.ts'
import { hostOf, judgeAddress, judgeUrl, type Networks } from './address.ts'
import { makeSecret, type Owner, type SecretKey, sealSecret, type Webhook } from './endpoint.ts'
import type { EventType } from './event.ts'
import { addressesOf, type NameResolver } from './resolve.ts'
import { insertEndpoint } from './store.ts'

/** A name that takes longer to resolve is judged at the first connection. */
const RESOLVE_WITHIN_MS = 2_500
/** Endpoints of one account in one mode. */
export const WEBHOOKS_MAX = 20

export type RegisterHouse = {
  database: Database
  secretKey: SecretKey
  /** Networks that may be reached although they are not public. */
  allow: Networks
  resolver: NameResolver
}

/** What a partner asks for. Without a secret one is made that nobody sees, until a rotation replaces it. */
export type NewWebhook = { url: string; events: readonly EventType[]; secret: string | undefined }

/**
 * Registers an endpoint: events that happen from now on are owed to it. Its URL is judged as at every connection; a name that does not resolve
 * yet may be registered.
 * @param wanted event types without repetition
 * @throws Refusal invalid_params for a URL that must not be connected to, or when the account has `WEBHOOKS_MAX` already
 */
export async function register(house: RegisterHouse, owner: Owner, wanted: NewWebhook): Promise<Webhook> {
  await judge(house, wanted.url)
  const id = newId('whk')
  const sealed = sealSecret(house.secretKey, id, wanted.secret ?? makeSecret())
  const endpoint = {
    id,
    url: wanted.url,
    events: wanted.events,
    sealed,
    secretGiven: wanted.secret !== undefined,
  }
  const made = await house.database.transaction(tx => insertEndpoint(tx, owner, endpoint, WEBHOOKS_MAX))
  if (made !== undefined) return made
  throw fault(
    'limit_reached',
    `cannot be registered: the account has ${WEBHOOKS_MAX} webhooks in this mode; delete one first`,
  )
}

/** @throws Refusal invalid_params */
async function judge({ allow, resolver }: RegisterHouse, text: string): Promise<void> {
  const judgement = judgeUrl(text, allow)
  if (!judgement.ok) throw fault('not_allowed', judgement.message)
  const host = hostOf(judgement.url)
  // A literal address was judged with the URL.
  if (isIP(host) !== 0) return
  const late = new AbortController()
  const addresses = await Promise.race([
    addressesOf(resolver, host).catch(() => []),
    sleep(RESOLVE_WITHIN_MS, [], { signal: late.signal }).catch(() => []),
  ])
  late.abort()
  if (addresses.some(address => !judgeAddress(address, allow)))
    throw fault('not_allowed', 'must have a host with a public address')
}

const fault = (code: string, message: string) => invalidParams([{ param: 'url', code, message }])
