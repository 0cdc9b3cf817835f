import type { Queryable, Transaction } from '../db/database.ts'
import type { AccountId, KeyId, RequestId } from '../id.ts'
import type { Region } from '../settings.ts'
import type { Mode } from '../supplier/supplier.ts'
import type { Account, Caller, Plan, Scope } from './account.ts'

/** A key as it is listed: everything but the key. Instants are milliseconds since 1970. */
export type KeyRecord = {
  id: KeyId
  accountId: AccountId
  mode: Mode
  name: string
  /** `operator`, or the id of the person who made it. */
  maker: string
  scopes: readonly Scope[]
  /** Prefix and last four characters. */
  hint: string
  createdAt: number
  /** To the minute. */
  lastUsedAt: number | undefined
  expiresAt: number | undefined
  revokedAt: number | undefined
  /** The key that took its place. */
  replacedBy: KeyId | undefined
}

/** What the database says of a hash: who calls, and whether the key still opens the door. */
export type FoundKey = {
  caller: Caller
  hash: Uint8Array
  revoked: boolean
  expiresAt: number | undefined
  liveApproved: boolean
}

/** One answered request. No body, no query string, no traveller: `route` is the pattern, such as `/v1/travel/booking/{id}`. */
export type RequestEntry = {
  requestId: RequestId
  /** Undefined where nobody was admitted. */
  accountId: AccountId | undefined
  keyId: KeyId | undefined
  mode: Mode | undefined
  method: string
  route: string
  status: number
  /** The error code; undefined for a success. */
  code: string | undefined
  durationMs: number
  /** Milliseconds since 1970. */
  at: number
}

/** The number that rises, with a notification `keys` on channel `airside`, whenever a key or an account changes. */
export async function readGeneration(db: Queryable): Promise<number> {
  const [row] = await db.query<{ number: number }>('select number from key_generation')
  return row!.number
}

/** The key with this hash, if it belongs to this region and was not deleted: one look into one unique index. */
export async function findKey(db: Queryable, region: Region, hash: Buffer): Promise<FoundKey | undefined> {
  const [row] = await db.query<FoundRow>(
    `select key.hash, key.id, key.account_id, key.mode, key.scopes, key.expires_at, key.revoked_at is not null as revoked,
       account.plan, account.currency, account.live_approved_at is not null as live_approved
     from api_key key join account on account.id = key.account_id
     where key.hash = $1 and account.region = $2`,
    [hash, region],
  )
  if (row === undefined) return undefined
  return {
    caller: {
      region,
      accountId: row.account_id,
      keyId: row.id,
      mode: row.mode,
      plan: row.plan,
      currency: row.currency,
      scopes: new Set(row.scopes),
    },
    hash: row.hash,
    revoked: row.revoked,
    expiresAt: millis(row.expires_at),
    liveApproved: row.live_approved,
  }
}

export async function insertAccount(
  db: Queryable,
  region: Region,
  account: Account,
  at: Date,
): Promise<void> {
  await db.query(
    `insert into account (id, region, name, plan, currency, live_approved_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [account.id, region, account.name, account.plan, account.currency, account.liveApproved ? at : null, at],
  )
}

/** Approves for live; true when the region has such an account, approved before or not. */
export async function updateApproval(
  db: Queryable,
  region: Region,
  accountId: AccountId,
  at: Date,
): Promise<boolean> {
  const rows = await db.query(
    `update account set live_approved_at = coalesce(live_approved_at, $3) where id = $1 and region = $2 returning id`,
    [accountId, region, at],
  )
  return rows.length > 0
}

export async function accountExists(db: Queryable, region: Region, accountId: AccountId): Promise<boolean> {
  const rows = await db.query('select 1 from account where id = $1 and region = $2', [accountId, region])
  return rows.length > 0
}

/** All accounts of the region, oldest first. */
export async function selectAccounts(db: Queryable, region: Region): Promise<Account[]> {
  const rows = await db.query<AccountRow>(
    `select id, name, plan, currency, live_approved_at is not null as live_approved
     from account where region = $1 order by created_at, id`,
    [region],
  )
  return rows.map(toAccount)
}

/**
 * Locks an account against another change of its set of keys; undefined when there is none in this region.
 * @returns how many of its keys are usable at `at`
 */
export async function lockAccount(
  tx: Transaction,
  region: Region,
  accountId: AccountId,
  at: Date,
): Promise<{ usableKeys: number } | undefined> {
  const locked = await tx.query('select 1 from account where id = $1 and region = $2 for no key update', [
    accountId,
    region,
  ])
  if (locked.length === 0) return undefined
  const [row] = await tx.query<{ usable: number }>(
    `select count(*) as usable from api_key
     where account_id = $1 and revoked_at is null and deleted_at is null and (expires_at is null or expires_at > $2)`,
    [accountId, at],
  )
  return { usableKeys: row!.usable }
}

export async function insertKey(
  tx: Transaction,
  key: KeyRecord,
  hash: Buffer,
  pepperVersion: number,
): Promise<void> {
  await tx.query(
    `insert into api_key (id, account_id, mode, name, maker, scopes, hash, pepper_version, hint, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      key.id,
      key.accountId,
      key.mode,
      key.name,
      key.maker,
      key.scopes,
      hash,
      pepperVersion,
      key.hint,
      new Date(key.createdAt),
      key.expiresAt === undefined ? null : new Date(key.expiresAt),
    ],
  )
}

/** The keys of an account that are not deleted, oldest first. */
export async function selectKeys(db: Queryable, accountId: AccountId): Promise<KeyRecord[]> {
  const rows = await db.query<KeyRow>(
    `select ${KEY_COLUMNS} from api_key where account_id = $1 and deleted_at is null order by created_at, id`,
    [accountId],
  )
  return rows.map(toKey)
}

/** Locks one key that is not deleted, of this account if one is named. */
export async function lockKey(
  tx: Transaction,
  accountId: AccountId | undefined,
  keyId: KeyId,
): Promise<KeyRecord | undefined> {
  const [row] = await tx.query<KeyRow>(
    `select ${KEY_COLUMNS} from api_key
     where id = $1 and ($2::text is null or account_id = $2) and deleted_at is null for no key update`,
    [keyId, accountId ?? null],
  )
  return row === undefined ? undefined : toKey(row)
}

/** Marks a key revoked; the first revocation's instant stays. */
export async function updateRevoked(db: Queryable, keyId: KeyId, at: Date): Promise<void> {
  await db.query('update api_key set revoked_at = coalesce(revoked_at, $2) where id = $1', [keyId, at])
}

/** Marks a key replaced: it ends at `endsAt`, or at its own end if that is sooner. */
export async function updateReplaced(tx: Transaction, keyId: KeyId, by: KeyId, endsAt: Date): Promise<void> {
  await tx.query('update api_key set replaced_by = $2, expires_at = least(expires_at, $3) where id = $1', [
    keyId,
    by,
    endsAt,
  ])
}

/** Deletes a key: the record stays, the hash goes. */
export async function updateDeleted(db: Queryable, keyId: KeyId, at: Date): Promise<void> {
  await db.query('update api_key set deleted_at = $2, hash = null where id = $1 and deleted_at is null', [
    keyId,
    at,
  ])
}

/** Writes request lines; a line that is there already (a retry after an unknown commit) is left as it is. */
export async function insertRequests(db: Queryable, entries: readonly RequestEntry[]): Promise<void> {
  await db.query(
    `insert into request_log (request_id, account_id, key_id, mode, method, route, status, code, duration_ms, at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::smallint[],
       $8::text[], $9::real[], $10::timestamptz[])
     on conflict do nothing`,
    [
      entries.map(entry => entry.requestId),
      entries.map(entry => entry.accountId ?? null),
      entries.map(entry => entry.keyId ?? null),
      entries.map(entry => entry.mode ?? null),
      entries.map(entry => entry.method),
      entries.map(entry => entry.route),
      entries.map(entry => entry.status),
      entries.map(entry => entry.code ?? null),
      entries.map(entry => entry.durationMs),
      entries.map(entry => new Date(entry.at)),
    ],
  )
}

/** The line of an answered request, if it is still kept. */
export async function selectRequest(db: Queryable, requestId: RequestId): Promise<RequestEntry | undefined> {
  const [row] = await db.query<RequestRow>(
    `select account_id, key_id, mode, method, route, status, code, duration_ms, at from request_log where request_id = $1`,
    [requestId],
  )
  return (
    row && {
      requestId,
      accountId: row.account_id ?? undefined,
      keyId: row.key_id ?? undefined,
      mode: row.mode ?? undefined,
      method: row.method,
      route: row.route,
      status: row.status,
      code: row.code ?? undefined,
      durationMs: row.duration_ms,
      at: row.at.getTime(),
    }
  )
}

/**
 * Writes the last use of keys. A key that somebody else is changing this moment is left out, so this never waits and
 * never deadlocks; its next use is written.
 */
export async function updateLastUse(
  db: Queryable,
  uses: readonly (readonly [KeyId, number])[],
): Promise<void> {
  await db.query(
    `with use as (select * from unnest($1::text[], $2::timestamptz[]) as use (id, at)),
       free as (select id from api_key where id = any($1::text[]) order by id for no key update skip locked)
     update api_key key set last_used_at = use.at from use join free using (id)
     where key.id = use.id and (key.last_used_at is null or key.last_used_at < use.at)`,
    [uses.map(([keyId]) => keyId), uses.map(([, at]) => new Date(at))],
  )
}

/** Deletes up to `limit` request lines older than `days`; how many it deleted. */
export async function deleteRequests(db: Queryable, days: number, limit: number): Promise<number> {
  const [row] = await db.query<{ deleted: number }>(
    `with gone as (
       delete from request_log where ctid = any(array(
         select ctid from request_log where at < now() - make_interval(days => $1::int) limit $2::int))
       returning 1)
     select count(*) as deleted from gone`,
    [days, limit],
  )
  return row!.deleted
}

const KEY_COLUMNS = `id, account_id, mode, name, maker, scopes, hint, created_at, last_used_at, expires_at, revoked_at, replaced_by`

type FoundRow = {
  hash: Buffer
  id: KeyId
  account_id: AccountId
  mode: Mode
  scopes: Scope[]
  expires_at: Date | null
  revoked: boolean
  plan: Plan
  currency: string
  live_approved: boolean
}

type RequestRow = {
  account_id: AccountId | null
  key_id: KeyId | null
  mode: Mode | null
  method: string
  route: string
  status: number
  code: string | null
  duration_ms: number
  at: Date
}

type AccountRow = { id: AccountId; name: string; plan: Plan; currency: string; live_approved: boolean }

type KeyRow = {
  id: KeyId
  account_id: AccountId
  mode: Mode
  name: string
  maker: string
  scopes: Scope[]
  hint: string
  created_at: Date
  last_used_at: Date | null
  expires_at: Date | null
  revoked_at: Date | null
  replaced_by: KeyId | null
}

function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    currency: row.currency,
    liveApproved: row.live_approved,
  }
}

function toKey(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    mode: row.mode,
    name: row.name,
    maker: row.maker,
    scopes: row.scopes,
    hint: row.hint,
    createdAt: row.created_at.getTime(),
    lastUsedAt: millis(row.last_used_at),
    expiresAt: millis(row.expires_at),
    revokedAt: millis(row.revoked_at),
    replacedBy: row.replaced_by ?? undefined,
  }
}

function millis(instant: Date | null): number | undefined {
  return instant?.getTime()
}
