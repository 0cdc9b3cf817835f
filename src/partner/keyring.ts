import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Transaction } from '../db/database.ts'
import { type AccountId, isId, type KeyId, newId } from '../id.ts'
import { type Fault, invalidParams, Refusal } from '../refusal.ts'
import type { Region } from '../settings.ts'
import type { Mode } from '../supplier/supplier.ts'
import { SCOPES, type Scope } from './account.ts'
import { KNOWLEDGE_MAX_MS } from './admit.ts'
import { hashKey, keyHint, makeKey, PEPPER_VERSION } from './key.ts'
import { plainText, unknownAccount } from './onboard.ts'
import type { KeyRecord } from './store.ts'
import * as store from './store.ts'

/** Usable keys of one account. */
const KEYS_MAX = 100
const NAME_MAX = 100
/** Timers may fire a little early. */
const TIMER_SLACK_MS = 20
/** How long a replaced key may go on working. */
export const OVERLAP_MAX_MS = 7 * 86_400_000

export type KeyringNeeds = {
  database: Database
  region: Region
  /** Key prefix, see settings. */
  prefix: string
  /** `deriveKey(secret, PEPPER_PURPOSE)` */
  pepper: Buffer
}

export type NewKey = {
  accountId: AccountId
  mode: Mode
  scopes: readonly Scope[]
  name: string
  /** `operator`, or the id of the person who makes it. */
  maker: string
}

/** A key that was just made: the only moment its text exists outside the partner's hands. */
export type MadeKey = { key: string; record: KeyRecord }

/** Whose keys may be touched: an account's own, or, for the operator, anybody's (undefined). */
export type Owner = AccountId | undefined

/*
 * Every change here commits together with a raised key generation (a trigger sees to it), and every admission knows
 * the generation of the last second or asks. So a second after one of these returns, it is in force on all machines;
 * in the process itself it is as soon as that process reads the generation again.
 */

/**
 * Makes a key.
 * @param now milliseconds since 1970
 * @throws Refusal invalid_params for a faulty name, unknown or missing scopes, or one key too many; not_found for an unknown account
 */
export async function createKey(needs: KeyringNeeds, wanted: NewKey, now: number): Promise<MadeKey> {
  const checked = check(wanted)
  return needs.database.transaction(tx => issue(needs, tx, checked, now))
}

/**
 * The keys of an account that are not deleted, oldest first.
 * @throws Refusal not_found for an unknown account
 */
export async function listKeys(
  needs: Pick<KeyringNeeds, 'database' | 'region'>,
  accountId: AccountId,
): Promise<KeyRecord[]> {
  if (!isId('acc', accountId) || !(await store.accountExists(needs.database, needs.region, accountId))) {
    throw unknownAccount(accountId)
  }
  return store.selectKeys(needs.database, accountId)
}

/**
 * Revokes a key: from now on it is `unauthorized`. Harmless when it is revoked already.
 * @param now milliseconds since 1970
 * @throws Refusal not_found
 */
export async function revokeKey(
  needs: Pick<KeyringNeeds, 'database'>,
  owner: Owner,
  keyId: KeyId,
  now: number,
): Promise<void> {
  await needs.database.transaction(async tx => {
    const key = await lock(tx, owner, keyId)
    await store.updateRevoked(tx, key.id, new Date(now))
  })
}

/**
 * Deletes a key: from now on it is as unknown as one that never was, and it is no longer listed.
 * @param now milliseconds since 1970
 * @throws Refusal not_found
 */
export async function deleteKey(
  needs: Pick<KeyringNeeds, 'database'>,
  owner: Owner,
  keyId: KeyId,
  now: number,
): Promise<void> {
  await needs.database.transaction(async tx => {
    const key = await lock(tx, owner, keyId)
    await store.updateDeleted(tx, key.id, new Date(now))
  })
}

/**
 * Replaces a key by a new one of the same account, mode, scopes and name. The old one goes on working for
 * `overlapMs` (0 to 7 days), so that a partner can change over without an interruption; with 0 it is revoked.
 * @param now milliseconds since 1970
 * @throws Refusal not_found; invalid_params for an overlap out of range, or a key that is no longer usable or was replaced before
 */
export async function regenerateKey(
  needs: KeyringNeeds,
  owner: Owner,
  keyId: KeyId,
  { overlapMs, maker }: { overlapMs: number; maker: string },
  now: number,
): Promise<MadeKey> {
  if (!Number.isSafeInteger(overlapMs) || overlapMs < 0 || overlapMs > OVERLAP_MAX_MS) {
    throw fault('overlap', 'must be from 0 to 7 days')
  }
  return needs.database.transaction(async tx => {
    // The old key is locked before the new one raises the generation: the order in which all changes take their locks.
    const old = await lock(tx, owner, keyId)
    if (old.replacedBy !== undefined)
      throw fault('keyId', `was replaced by ${old.replacedBy} before; regenerate that one`)
    if (!isUsable(old, now)) throw fault('keyId', 'is revoked or expired; create a new key instead')
    const { accountId, mode, scopes, name } = old
    const made = await issue(
      needs,
      tx,
      { accountId, mode, scopes, name, maker },
      now,
      overlapMs === 0 ? 1 : 0,
    )
    if (overlapMs === 0) await store.updateRevoked(tx, old.id, new Date(now))
    await store.updateReplaced(tx, old.id, made.record.id, new Date(now + overlapMs))
    return made
  })
}

/** Whether a key opens the door at `now`, as far as the key itself goes. */
export function isUsable(key: KeyRecord, now: number): boolean {
  return key.revokedAt === undefined && (key.expiresAt === undefined || key.expiresAt > now)
}

/**
 * Waits until what was committed before is in force everywhere. A server trusts what it knows of a key only as long as
 * it has seen, within the last `KNOWLEDGE_MAX_MS`, that nothing changed: after that long, no knowledge from before the
 * commit is left on any machine. So whoever is told "revoked" after this can rely on it.
 */
export async function inForceEverywhere(): Promise<void> {
  await sleep(KNOWLEDGE_MAX_MS + TIMER_SLACK_MS)
}

/** Writes a new key into an open transaction; `leaving` keys of the account end in the same transaction. */
async function issue(
  needs: KeyringNeeds,
  tx: Transaction,
  wanted: NewKey,
  now: number,
  leaving = 0,
): Promise<MadeKey> {
  const account = await store.lockAccount(tx, needs.region, wanted.accountId, new Date(now))
  if (account === undefined) throw unknownAccount(wanted.accountId)
  if (account.usableKeys - leaving >= KEYS_MAX)
    throw fault('accountId', `has ${KEYS_MAX} keys; revoke or delete one first`)
  const key = makeKey(needs.prefix, wanted.mode)
  const record: KeyRecord = {
    ...wanted,
    id: newId('key'),
    hint: keyHint(needs.prefix, wanted.mode, key),
    createdAt: now,
    lastUsedAt: undefined,
    expiresAt: undefined,
    revokedAt: undefined,
    replacedBy: undefined,
  }
  await store.insertKey(tx, record, hashKey(needs.pepper, key), PEPPER_VERSION)
  return { key, record }
}

async function lock(tx: Transaction, owner: Owner, keyId: KeyId): Promise<KeyRecord> {
  const key = isId('key', keyId) ? await store.lockKey(tx, owner, keyId) : undefined
  if (key === undefined) throw new Refusal('not_found', `There is no key ${keyId}, or it was deleted.`)
  return key
}

function check(wanted: NewKey): NewKey {
  const faults: Fault[] = []
  const name = plainText(wanted.name)
  if (name === undefined || name.length > NAME_MAX) {
    faults.push({
      param: 'name',
      code: 'invalid',
      message: `must be at most ${NAME_MAX} characters without control characters`,
    })
  }
  const scopes = SCOPES.filter(scope => wanted.scopes.includes(scope))
  if (scopes.length === 0 || wanted.scopes.some(scope => !SCOPES.includes(scope))) {
    faults.push({ param: 'scopes', code: 'invalid', message: `must be one or more of ${SCOPES.join(', ')}` })
  }
  if (wanted.mode !== 'live' && wanted.mode !== 'test') {
    faults.push({ param: 'mode', code: 'invalid', message: 'must be live or test' })
  }
  if (!isId('acc', wanted.accountId)) throw unknownAccount(wanted.accountId)
  if (faults.length > 0) throw invalidParams(faults)
  return { ...wanted, name: name!, scopes }
}

function fault(param: string, message: string): Refusal {
  return invalidParams([{ param, code: 'invalid', message }])
}
