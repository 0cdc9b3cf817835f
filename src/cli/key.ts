import type { AccountId, KeyId } from '../id.ts'
import { SCOPES, type Scope } from '../partner/account.ts'
import { PEPPER_PURPOSE } from '../partner/key.ts'
import {
  createKey,
  deleteKey,
  inForceEverywhere,
  isUsable,
  type KeyringNeeds,
  listKeys,
  OVERLAP_MAX_MS,
  regenerateKey,
  revokeKey,
} from '../partner/keyring.ts'
import type { KeyRecord } from '../partner/store.ts'
import { deriveKey } from '../secret.ts'
import {
  type Command,
  type CommandContext,
  choice,
  columns,
  faulty,
  instant,
  noPositionals,
  onlyPositional,
  requiredText,
  text,
} from './command.ts'

const MAKER = 'operator'
const SHOWN_ONCE = 'Keep the key now: it is stored only as a hash and never shown again.'
const GIVE_KEY_ID = 'give a key id such as key_… (see: key list)'
const GIVE_ACCOUNT_ID = 'give an account id such as acc_… (see: account list)'

const create: Command = {
  name: 'key create',
  usage: `--account ID --mode live|test [--scopes ${SCOPES.join(',')}] [--name TEXT]`,
  summary: 'Make a key and show it once; all scopes unless some are named',
  options: {
    account: { type: 'string' },
    mode: { type: 'string' },
    scopes: { type: 'string' },
    name: { type: 'string' },
  },
  async run(context, args) {
    noPositionals(args)
    const accountId = requiredText(args, 'account', GIVE_ACCOUNT_ID) as AccountId
    const mode = choice(args, 'mode', ['live', 'test'] as const)
    const scopes = readScopes(text(args, 'scopes'))
    const name = text(args, 'name') ?? ''
    const { key, record } = await createKey(
      keyring(context),
      { accountId, mode, scopes, name, maker: MAKER },
      Date.now(),
    )
    return { json: { keyId: record.id, key }, text: `${record.id}\n${key}\n${SHOWN_ONCE}` }
  },
}

const revoke: Command = {
  name: 'key revoke',
  usage: 'KEYID',
  summary: 'End a key; it stays listed. Returns when no running server accepts it any more',
  options: {},
  async run({ database }, args) {
    const keyId = onlyPositional(args, 'KEYID', GIVE_KEY_ID) as KeyId
    await revokeKey({ database }, undefined, keyId, Date.now())
    await inForceEverywhere()
    return { json: { keyId, revoked: true }, text: `${keyId} is revoked.` }
  },
}

const remove: Command = {
  name: 'key delete',
  usage: 'KEYID',
  summary: 'End a key and take it off the list. Returns when no running server accepts it any more',
  options: {},
  async run({ database }, args) {
    const keyId = onlyPositional(args, 'KEYID', GIVE_KEY_ID) as KeyId
    await deleteKey({ database }, undefined, keyId, Date.now())
    await inForceEverywhere()
    return { json: { keyId, deleted: true }, text: `${keyId} is deleted.` }
  },
}

const regenerate: Command = {
  name: 'key regenerate',
  usage: 'KEYID [--overlap 24h]',
  summary:
    'Replace a key by a new one like it, shown once; the old one ends at once, or after the overlap (up to 7d)',
  options: { overlap: { type: 'string' } },
  async run(context, args) {
    const keyId = onlyPositional(args, 'KEYID', GIVE_KEY_ID) as KeyId
    const overlapMs = readOverlap(text(args, 'overlap') ?? '0')
    const now = Date.now()
    const { key, record } = await regenerateKey(
      keyring(context),
      undefined,
      keyId,
      { overlapMs, maker: MAKER },
      now,
    )
    if (overlapMs === 0) await inForceEverywhere()
    const oldEndsAt = instant(now + overlapMs)
    const old =
      overlapMs === 0 ? `${keyId} is revoked.` : `${keyId} works until ${oldEndsAt}, unless it ends sooner.`
    return {
      json: { keyId: record.id, key, replaces: keyId, oldEndsAt },
      text: `${record.id}\n${key}\n${SHOWN_ONCE}\n${old}`,
    }
  },
}

const list: Command = {
  name: 'key list',
  usage: '--account ID',
  summary: 'List the keys of an account, deleted ones left out',
  options: { account: { type: 'string' } },
  async run(context, args) {
    noPositionals(args)
    const keys = await listKeys(context, requiredText(args, 'account', GIVE_ACCOUNT_ID) as AccountId)
    const now = Date.now()
    return {
      json: { keys: keys.map(key => toJson(key, now)) },
      text: columns(
        ['KEY', 'SHOWN AS', 'STATE', 'LAST USED', 'SCOPES', 'NAME'],
        keys.map(key => [
          key.id,
          key.hint,
          state(key, now),
          instant(key.lastUsedAt) ?? 'never',
          key.scopes.join(','),
          key.name,
        ]),
      ),
    }
  },
}

/** `airside key …` */
export const commands: readonly Command[] = [create, revoke, remove, regenerate, list]

function keyring({ database, region, settings, secret }: CommandContext): KeyringNeeds {
  return { database, region, prefix: settings.keyPrefix, pepper: deriveKey(secret, PEPPER_PURPOSE) }
}

function readScopes(list: string | undefined): Scope[] {
  if (list === undefined) return [...SCOPES]
  const words = list.split(',').map(word => word.trim())
  const wrong = words.find(word => !(SCOPES as readonly string[]).includes(word))
  if (wrong !== undefined)
    throw faulty('--scopes', `cannot hold ${JSON.stringify(wrong)}; give some of ${SCOPES.join(',')}`)
  return SCOPES.filter(scope => words.includes(scope))
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function readOverlap(duration: string): number {
  const match = /^(\d{1,6})([smhd])$/.exec(duration)
  const overlapMs =
    duration === '0'
      ? 0
      : match === null
        ? Number.NaN
        : Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
  if (overlapMs >= 0 && overlapMs <= OVERLAP_MAX_MS) return overlapMs
  throw faulty(
    '--overlap',
    `cannot be ${JSON.stringify(duration)}; give a duration from 0 to 7d, such as 24h`,
  )
}

function state(key: KeyRecord, now: number): 'active' | 'replaced' | 'revoked' | 'expired' {
  if (key.revokedAt !== undefined) return 'revoked'
  if (!isUsable(key, now)) return 'expired'
  return key.replacedBy === undefined ? 'active' : 'replaced'
}

function toJson(key: KeyRecord, now: number): object {
  return {
    keyId: key.id,
    mode: key.mode,
    name: key.name,
    maker: key.maker,
    scopes: key.scopes,
    hint: key.hint,
    state: state(key, now),
    createdAt: instant(key.createdAt),
    lastUsedAt: instant(key.lastUsedAt),
    expiresAt: instant(key.expiresAt),
    revokedAt: instant(key.revokedAt),
    replacedBy: key.replacedBy ?? null,
  }
}
