import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { cloneDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import type { Queryable } from '../db/database.ts'
import { newId } from '../id.ts'
import { deriveKey } from '../secret.ts'
import { PEPPER_PURPOSE } from './key.ts'
import { createKey, listKeys } from './keyring.ts'
import { createAccount } from './onboard.ts'
import { pruneRequestLog, requestLog } from './request-log.ts'
import { insertRequests, type RequestEntry, readGeneration, updateLastUse } from './store.ts'

const AT = Date.UTC(2026, 5, 1, 12, 34, 56, 789)
const quiet = { warn() {} }

let clone: TestDatabase
before(async () => {
  clone = await cloneDatabase()
})
after(() => clone.drop())

function entry(more: Partial<RequestEntry> = {}): RequestEntry {
  return {
    requestId: newId('req'),
    accountId: undefined,
    keyId: undefined,
    mode: undefined,
    method: 'POST',
    route: '/v1/travel/search',
    status: 200,
    code: undefined,
    durationMs: 1.5,
    at: AT,
    ...more,
  }
}

const rows = async (): Promise<number> =>
  (await clone.database.query<{ n: number }>('select count(*) as n from request_log'))[0]!.n
const empty = () => clone.database.query('delete from request_log')

/** A database that can be told to fail, or to never answer. */
function flaky() {
  const state: { fail: Error | undefined; hang: boolean; statements: number } = {
    fail: undefined,
    hang: false,
    statements: 0,
  }
  const database: Queryable = {
    async query<R>(text: string, values?: readonly unknown[]): Promise<R[]> {
      state.statements++
      if (state.hang) await new Promise(() => {})
      if (state.fail !== undefined) throw state.fail
      return clone.database.query<R>(text, values)
    },
  }
  return { state, database }
}

test('lines are written as they were added, by the timer', async () => {
  await empty()
  const log = requestLog({ database: clone.database, log: quiet })
  const full = entry({
    accountId: newId('acc'),
    keyId: newId('key'),
    mode: 'test',
    status: 422,
    code: 'no_results',
    durationMs: 12.25,
  })
  log.add(full)
  log.add(entry({ status: 401, code: 'unauthorized' }))
  for (let waited = 0; (await rows()) < 2 && waited < 5000; waited += 50) await sleep(50)
  const [row] = await clone.database.query('select * from request_log where request_id = $1', [
    full.requestId,
  ])
  assert.deepEqual(
    { ...(row as object) },
    {
      request_id: full.requestId,
      account_id: full.accountId,
      key_id: full.keyId,
      mode: 'test',
      method: 'POST',
      route: '/v1/travel/search',
      status: 422,
      code: 'no_results',
      duration_ms: 12.25,
      at: new Date(AT),
    },
  )
  await log.close()
})

test('500 lines go in one statement, at once', async () => {
  await empty()
  const { state, database } = flaky()
  const log = requestLog({ database, log: quiet })
  for (let i = 0; i < 500; i++) log.add(entry())
  assert.equal(state.statements, 1)
  await log.close()
  assert.equal(state.statements, 1)
  assert.equal(await rows(), 500)
})

test('what fails is tried again, and an unknown commit makes no second line', async () => {
  await empty()
  const { state, database } = flaky()
  const warnings: string[] = []
  const log = requestLog({ database, log: { warn: (_fields, message) => warnings.push(message) } })
  const first = entry()
  await insertRequests(clone.database, [first])
  state.fail = new Error('Connection terminated unexpectedly')
  log.add(first)
  log.add(entry())
  await sleep(700)
  assert.ok(state.statements >= 2)
  assert.equal(log.waiting(), 2)
  assert.equal(warnings.length, 1, 'said once, not at every try')
  state.fail = undefined
  await log.close()
  assert.equal(await rows(), 2)
  assert.equal(log.dropped(), 0)
})

test('beyond 10,000 waiting lines more are dropped and counted', async () => {
  await empty()
  const { state, database } = flaky()
  state.fail = new Error('Connection terminated unexpectedly')
  const log = requestLog({ database, log: quiet })
  for (let i = 0; i < 10_100; i++) log.add(entry())
  assert.equal(log.waiting(), 10_000)
  assert.equal(log.dropped(), 100)
  state.fail = undefined
  await log.close(20_000)
  assert.equal(await rows(), 10_000)
})

test('a batch that the database will never take does not hold up the rest', async () => {
  await empty()
  const log = requestLog({ database: clone.database, log: quiet })
  log.add(entry({ route: 'a\0b' }))
  await sleep(600)
  log.add(entry())
  await log.close()
  assert.equal(log.dropped(), 1)
  assert.equal(await rows(), 1)
})

test('closing ends at its deadline, and what is left is counted', async () => {
  const { state, database } = flaky()
  state.hang = true
  const log = requestLog({ database, log: quiet })
  log.add(entry())
  const start = performance.now()
  await log.close(200)
  assert.ok(performance.now() - start < 1000)
  assert.equal(log.dropped(), 1)
})

test("a key's last use is written to the minute, once a minute, and raises no generation", async () => {
  const needs = {
    database: clone.database,
    region: 'intl' as const,
    prefix: 'air',
    pepper: deriveKey('s'.repeat(32), PEPPER_PURPOSE),
  }
  const account = await createAccount(
    needs,
    { name: 'Acme', plan: 'developer', currency: 'USD', liveApproved: true },
    AT,
  )
  const { record } = await createKey(
    needs,
    { accountId: account.id, mode: 'test', scopes: ['search'], name: '', maker: 'operator' },
    AT,
  )
  const generation = await readGeneration(clone.database)
  const { state, database } = flaky()
  const log = requestLog({ database, log: quiet })
  const use = async (at: number) => {
    const before = state.statements
    log.add(entry({ keyId: record.id, accountId: account.id, mode: 'test', at }))
    for (let waited = 0; log.waiting() > 0 && waited < 5000; waited += 20) await sleep(20)
    await sleep(100)
    return state.statements - before
  }
  assert.equal(await use(AT), 2)
  const lastUsedAt = async () => (await listKeys(needs, account.id))[0]!.lastUsedAt
  assert.equal(await lastUsedAt(), Date.UTC(2026, 5, 1, 12, 34))
  assert.equal(await use(AT + 2000), 1, 'the same minute is not written again')
  assert.equal(await use(AT + 60_000), 2)
  assert.equal(await lastUsedAt(), Date.UTC(2026, 5, 1, 12, 35))
  await clone.database.transaction(async tx => {
    await tx.query('select 1 from api_key where id = $1 for update', [record.id])
    // A statement that waited would wait for this very transaction, until its time-out.
    await updateLastUse(clone.database, [[record.id, AT + 120_000]])
  })
  assert.equal(await lastUsedAt(), Date.UTC(2026, 5, 1, 12, 35), 'a locked key is left out')
  assert.equal(await readGeneration(clone.database), generation)
  await log.close()
})

test('lines older than 30 days are pruned, in batches', async () => {
  await empty()
  const day = 86_400_000
  const old = Array.from({ length: 12_000 }, () => entry({ at: Date.now() - 31 * day }))
  for (let i = 0; i < old.length; i += 4000) await insertRequests(clone.database, old.slice(i, i + 4000))
  await insertRequests(clone.database, [entry({ at: Date.now() - 29 * day }), entry({ at: Date.now() })])
  assert.equal(await pruneRequestLog(clone.database), 12_000)
  assert.equal(await rows(), 2)
  assert.equal(await pruneRequestLog(clone.database, 7), 1)
})
