import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { cloneDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import { connect } from '../db/database.ts'
import { type AccountId, type KeyId, newId } from '../id.ts'
import { Refusal, type RefusalCode } from '../refusal.ts'
import { deriveKey } from '../secret.ts'
import { SCOPES } from './account.ts'
import { admission, monotonicMs } from './admit.ts'
import { PEPPER_PURPOSE, readKey } from './key.ts'
import {
  createKey,
  deleteKey,
  isUsable,
  listKeys,
  type MadeKey,
  OVERLAP_MAX_MS,
  regenerateKey,
  revokeKey,
} from './keyring.ts'
import { approveAccount, createAccount } from './onboard.ts'
import { findKey, readGeneration, selectAccounts } from './store.ts'

const PEPPER = deriveKey('s'.repeat(32), PEPPER_PURPOSE)
const NOW = Date.UTC(2026, 5, 1, 12)
const DAY_MS = 86_400_000

let clone: TestDatabase
before(async () => {
  clone = await cloneDatabase()
})
after(() => clone.drop())

const needs = () => ({ database: clone.database, region: 'intl' as const, prefix: 'air', pepper: PEPPER })

async function open(liveApproved = true): Promise<AccountId> {
  const account = await createAccount(
    needs(),
    { name: 'Acme Travel', plan: 'enterprise', currency: 'USD', liveApproved },
    NOW,
  )
  return account.id
}

function make(accountId: AccountId, more: Partial<Parameters<typeof createKey>[1]> = {}): Promise<MadeKey> {
  return createKey(
    needs(),
    { accountId, mode: 'live', scopes: SCOPES, name: 'server', maker: 'operator', ...more },
    NOW,
  )
}

/** An admission that always asks, at the address of a region. */
function door(region: 'intl' | 'cn' = 'intl', database = clone.database) {
  const { admit } = admission({
    ...needs(),
    database,
    region,
    generation: () => 1,
    freshAt: () => Number.NEGATIVE_INFINITY,
  })
  return (key: string, now = NOW) => admit(['authorization', `Bearer ${key}`], now)
}

const refused =
  (code: RefusalCode, saying = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof Refusal, String(error))
    assert.equal(error.code, code)
    assert.match(error.message, saying)
    return true
  }

test('a key that was made opens the door of its region as its account, and only there', async () => {
  const accountId = await open()
  const { key, record } = await make(accountId, { mode: 'test', scopes: ['read', 'search'] })
  assert.deepEqual(readKey('air', key), { kind: 'key', mode: 'test' })
  assert.deepEqual(await door()(key), {
    region: 'intl',
    accountId,
    keyId: record.id,
    mode: 'test',
    plan: 'enterprise',
    currency: 'USD',
    scopes: new Set(['search', 'read']),
  })
  // The same rows at the other address, as if a dump were restored there: still not known.
  await assert.rejects(door('cn')(key), refused('invalid_key'))
})

test('the database holds no key, and what it shows is prefix and last four', async () => {
  const accountId = await open()
  const { key } = await make(accountId)
  const [row] = await clone.database.query<{ everything: string }>(
    'select (select json_agg(k)::text from api_key k) || (select json_agg(a)::text from account a) as everything',
  )
  const random = key.slice('air_live_'.length, -6)
  assert.ok(
    !row!.everything.includes(random.slice(0, 12)) &&
      !row!.everything.includes(Buffer.from(random).toString('hex')),
  )
  const [listed] = await listKeys(needs(), accountId)
  assert.equal(listed!.hint, `air_live_…${key.slice(-4)}`)
  assert.deepEqual(
    Object.keys(listed!).filter(name => /hash|pepper/.test(name)),
    [],
  )
})

test('revoked is unauthorized, deleted is unknown, and both can be said twice or once', async () => {
  const accountId = await open()
  const [a, b] = [await make(accountId), await make(accountId)]
  await revokeKey(needs(), undefined, a.record.id, NOW)
  await revokeKey(needs(), undefined, a.record.id, NOW + 5000)
  await assert.rejects(door()(a.key), refused('unauthorized', /revoked/))
  const listed = (await listKeys(needs(), accountId)).find(key => key.id === a.record.id)!
  assert.equal(listed.revokedAt, NOW, 'the first revocation stands')
  assert.equal(isUsable(listed, NOW), false)
  await deleteKey(needs(), undefined, a.record.id, NOW)
  await deleteKey(needs(), undefined, b.record.id, NOW)
  for (const { key } of [a, b]) await assert.rejects(door()(key), refused('invalid_key', /not known/))
  assert.deepEqual(await listKeys(needs(), accountId), [])
  await assert.rejects(deleteKey(needs(), undefined, b.record.id, NOW), refused('not_found'))
  const [row] = await clone.database.query<{ hash: null; maker: string }>(
    'select hash, maker from api_key where id = $1',
    [b.record.id],
  )
  assert.deepEqual({ ...row }, { hash: null, maker: 'operator' }, 'the record stays without the hash')
})

test('an account touches only its own keys, and unknown ids are not found', async () => {
  const [mine, theirs] = [await open(), await open()]
  const { key, record } = await make(theirs)
  for (const verb of [revokeKey, deleteKey])
    await assert.rejects(verb(needs(), mine, record.id, NOW), refused('not_found'))
  await assert.rejects(
    regenerateKey(needs(), mine, record.id, { overlapMs: 0, maker: 'p' }, NOW),
    refused('not_found'),
  )
  await door()(key)
  for (const id of [newId('key'), 'key_x', "key_' or true --"] as KeyId[]) {
    await assert.rejects(revokeKey(needs(), undefined, id, NOW), refused('not_found'))
  }
  await assert.rejects(listKeys(needs(), newId('acc')), refused('not_found'))
  await assert.rejects(make(newId('acc')), refused('not_found'))
  await assert.rejects(
    createKey(
      { ...needs(), region: 'cn' },
      { accountId: mine, mode: 'test', scopes: SCOPES, name: '', maker: 'operator' },
      NOW,
    ),
    refused('not_found'),
  )
})

test('regenerating carries everything over, and the old key ends at once or after the overlap', async () => {
  const accountId = await open()
  const old = await make(accountId, { mode: 'test', scopes: ['book'], name: 'till' })
  const next = await regenerateKey(
    needs(),
    accountId,
    old.record.id,
    { overlapMs: DAY_MS, maker: 'person' },
    NOW,
  )
  const { mode, scopes, name } = next.record
  assert.deepEqual({ mode, scopes, name }, { mode: 'test', scopes: ['book'], name: 'till' })
  await door()(next.key)
  await door()(old.key, NOW + DAY_MS - 1)
  await assert.rejects(door()(old.key, NOW + DAY_MS), refused('unauthorized', /expired/))
  await assert.rejects(
    regenerateKey(needs(), accountId, old.record.id, { overlapMs: 0, maker: 'person' }, NOW),
    refused('invalid_params', new RegExp(next.record.id)),
  )
  const last = await regenerateKey(needs(), accountId, next.record.id, { overlapMs: 0, maker: 'person' }, NOW)
  await door()(last.key)
  await assert.rejects(door()(next.key), refused('unauthorized', /revoked/))
  await revokeKey(needs(), undefined, last.record.id, NOW)
  await assert.rejects(
    regenerateKey(needs(), undefined, last.record.id, { overlapMs: 0, maker: 'p' }, NOW),
    refused('invalid_params', /revoked/),
  )
  for (const overlapMs of [-1, OVERLAP_MAX_MS + 1, Number.NaN, 0.5]) {
    await assert.rejects(
      regenerateKey(needs(), undefined, old.record.id, { overlapMs, maker: 'p' }, NOW),
      refused('invalid_params', /7 days/),
    )
  }
})

test('of eight who regenerate one key at once, one gets a new key', async () => {
  const accountId = await open()
  const { record } = await make(accountId)
  const tries = Array.from({ length: 8 }, () =>
    regenerateKey(needs(), accountId, record.id, { overlapMs: 1000, maker: 'p' }, NOW),
  )
  const outcomes = await Promise.allSettled(tries)
  assert.equal(outcomes.filter(outcome => outcome.status === 'fulfilled').length, 1)
  assert.equal((await listKeys(needs(), accountId)).length, 2)
})

test('an account has at most 100 usable keys, also when they are made at once', async () => {
  const accountId = await open()
  for (let i = 0; i < 96; i++) await make(accountId)
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => make(accountId)))
  const refusals = outcomes.filter(outcome => outcome.status === 'rejected').map(outcome => outcome.reason)
  assert.equal(refusals.length, 4)
  for (const refusal of refusals) refused('invalid_params', /100 keys/)(refusal)
  const [first] = await listKeys(needs(), accountId)
  await regenerateKey(needs(), accountId, first!.id, { overlapMs: 0, maker: 'p' }, NOW)
  await deleteKey(needs(), accountId, (await listKeys(needs(), accountId)).at(-1)!.id, NOW)
  await make(accountId)
})

test('every change of a key or an account raises the generation with a notification; a last use and a roll-back do not', async () => {
  const heard: string[] = []
  const deaf = await clone.database.listen('airside', payload => heard.push(payload))
  let last = await readGeneration(clone.database)
  const raises = async (what: string, change: () => Promise<unknown>) => {
    const result = await change()
    const now = await readGeneration(clone.database)
    assert.ok(now > last, what)
    last = now
    return result
  }
  const accountId = (await raises('account created', () => open(false))) as AccountId
  const a = (await raises('key created', () => make(accountId))) as MadeKey
  await assert.rejects(door()(a.key), refused('forbidden'))
  await raises('approved', () => approveAccount(needs(), accountId, NOW))
  await door()(a.key)
  const b = (await raises('regenerated', () =>
    regenerateKey(needs(), undefined, a.record.id, { overlapMs: 0, maker: 'p' }, NOW),
  )) as MadeKey
  await raises('revoked', () => revokeKey(needs(), undefined, b.record.id, NOW))
  await raises('deleted', () => deleteKey(needs(), undefined, b.record.id, NOW))
  await raises('by hand', () =>
    clone.database.query(`update account set plan = 'developer' where id = $1`, [accountId]),
  )
  for (let waited = 0; heard.length < 7 && waited < 5000; waited += 20) await sleep(20)
  assert.ok(heard.length >= 7 && heard.every(payload => payload === 'keys' || payload === ''), heard.join())
  await assert.rejects(approveAccount(needs(), newId('acc'), NOW), refused('not_found'))
  const settled = await readGeneration(clone.database)
  await clone.database.query('update api_key set last_used_at = now() where id = $1', [a.record.id])
  await assert.rejects(
    clone.database.transaction(async tx => {
      await tx.query('update account set live_approved_at = null')
      throw new Error('rolled back')
    }),
    /rolled back/,
  )
  assert.equal(await readGeneration(clone.database), settled)
  await deaf()
})

test('a revocation is in force within a second at a machine that polls, under way at full speed', async () => {
  const other = connect(clone.options)
  const state = { generation: await readGeneration(other), freshAt: monotonicMs() }
  let polling = true
  const poll = (async () => {
    while (polling) {
      const sentAt = monotonicMs()
      state.generation = await readGeneration(other)
      state.freshAt = sentAt
      await sleep(250)
    }
  })()
  const { admit } = admission({
    ...needs(),
    database: other,
    generation: () => state.generation,
    freshAt: () => state.freshAt,
  })
  const { key, record } = await make(await open())
  const headers = ['authorization', `Bearer ${key}`]
  await admit(headers, NOW)
  let lastAccepted = 0
  let accepted = 0
  let stop = false
  const traffic = (async () => {
    while (!stop) {
      for (let i = 0; i < 5; i++) {
        await admit(headers, NOW).then(
          () => {
            accepted++
            lastAccepted = monotonicMs()
          },
          () => {},
        )
      }
      await sleep(1)
    }
  })()
  await sleep(300)
  await revokeKey(needs(), undefined, record.id, NOW)
  const committedAt = monotonicMs()
  await sleep(1300)
  stop = true
  polling = false
  await Promise.all([traffic, poll])
  await other.close()
  assert.ok(accepted > 100, `only ${accepted} requests`)
  assert.ok(lastAccepted - committedAt < 1000, `accepted ${lastAccepted - committedAt} ms after the commit`)
})

test('a faulty account or key is refused with what would be right', async () => {
  const wanted = { name: 'Acme', plan: 'developer' as const, currency: 'USD', liveApproved: true }
  for (const name of ['', '   ', 'a\u0000b', 'x'.repeat(201), 'a\nb']) {
    await assert.rejects(createAccount(needs(), { ...wanted, name }, NOW), refused('invalid_params', /^name/))
  }
  await assert.rejects(
    createAccount(needs(), { ...wanted, currency: 'ZZZ' }, NOW),
    refused('invalid_params', /ISO 4217/),
  )
  const account = await createAccount(needs(), { ...wanted, name: '  Reise Zürich  ' }, NOW)
  assert.equal(account.name, 'Reise Zürich')
  assert.deepEqual(
    (await selectAccounts(clone.database, 'intl')).find(({ id }) => id === account.id),
    account,
  )
  assert.deepEqual(await selectAccounts(clone.database, 'cn'), [])
  await assert.rejects(make(account.id, { scopes: [] }), refused('invalid_params', /scopes/))
  await assert.rejects(
    make(account.id, { scopes: ['everything' as 'book'] }),
    refused('invalid_params', /search, book, read, webhooks/),
  )
  await assert.rejects(make(account.id, { name: 'x'.repeat(101) }), refused('invalid_params', /name/))
})

test('the look-up of a key is one index scan', async () => {
  const asked: string[] = []
  const spy = {
    async query<R>(text: string): Promise<R[]> {
      asked.push(text)
      return []
    },
  }
  await findKey(spy, 'intl', Buffer.alloc(32))
  assert.equal(asked.length, 1)
  await clone.database.query(`insert into account (id, region, name, plan, currency)
    select 'acc_' || n, 'intl', 'n', 'developer', 'USD' from generate_series(1, 5000) n`)
  await clone.database.query(`insert into api_key (id, account_id, mode, maker, scopes, hash, pepper_version, hint)
    select 'key_' || n, 'acc_' || n, 'test', 'operator', '{search}', sha256(n::text::bytea), 1, '' from generate_series(1, 5000) n`)
  await clone.database.query('analyze account')
  await clone.database.query('analyze api_key')
  const literal = asked[0]!.replace('$1', `'\\x${'00'.repeat(32)}'`).replace('$2', `'intl'`)
  const plan = (await clone.database.query<{ 'QUERY PLAN': string }>(`explain ${literal}`))
    .map(row => row['QUERY PLAN'])
    .join('\n')
  assert.match(plan, /Index Scan using api_key_hash_key/)
  assert.doesNotMatch(plan, /Seq Scan/)
})
