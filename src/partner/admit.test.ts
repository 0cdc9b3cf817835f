import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Queryable } from '../db/database.ts'
import { DatabaseBusy } from '../db/failure.ts'
import { newId } from '../id.ts'
import { Refusal, type RefusalCode } from '../refusal.ts'
import { deriveKey } from '../secret.ts'
import type { Mode } from '../supplier/supplier.ts'
import { SCOPES } from './account.ts'
import { admission, monotonicMs, requireScope } from './admit.ts'
import { hashKey, makeKey, PEPPER_PURPOSE } from './key.ts'

const PEPPER = deriveKey('s'.repeat(32), PEPPER_PURPOSE)
const NOW = Date.UTC(2026, 5, 1)

type Row = {
  revoked?: boolean
  expires_at?: Date | null
  live_approved?: boolean
  mode?: Mode
  scopes?: string[]
}

/** A database of keys that counts its questions, and an admission before it whose knowledge the test controls. */
function house() {
  const rows = new Map<string, object>()
  const world = { questions: 0, generation: 1, staleMs: 0, before: async () => {} }
  const database: Queryable = {
    async query<R>(_text: string, values: readonly unknown[] = []): Promise<R[]> {
      world.questions++
      const row = rows.get((values[0] as Buffer).toString('hex'))
      await world.before()
      return row === undefined ? [] : [row as R]
    },
  }
  const { admit } = admission({
    database,
    region: 'intl',
    prefix: 'air',
    pepper: PEPPER,
    generation: () => world.generation,
    freshAt: () => monotonicMs() - world.staleMs,
  })
  const put = (key: string, row: Row = {}) => {
    const hash = hashKey(PEPPER, key)
    const stands = {
      mode: 'live',
      scopes: [...SCOPES],
      expires_at: null,
      revoked: false,
      live_approved: true,
    }
    const account = { id: newId('key'), account_id: newId('acc'), plan: 'enterprise', currency: 'USD' }
    rows.set(hash.toString('hex'), { hash, ...account, ...stands, ...row })
  }
  const add = (row: Row = {}) => {
    const key = makeKey('air', row.mode ?? 'live')
    put(key, row)
    return key
  }
  const remove = (key: string) => rows.delete(hashKey(PEPPER, key).toString('hex'))
  const bearer = (key: string, now = NOW) => admit(['Host', 'x', 'Authorization', `Bearer ${key}`], now)
  return { world, admit, add, put, remove, bearer }
}

const refused = (code: RefusalCode, saying: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Refusal, String(error))
  assert.equal(error.code, code)
  assert.match(error.message, saying)
  return true
}

test('section 5.2: a missing, foreign, empty or doubled header is unauthorized, without a question', async () => {
  const { world, admit, add } = house()
  const key = add()
  const cases: [string, string[], RegExp][] = [
    ['no header', ['Host', 'x'], /Send your API key/],
    ['no headers', [], /Send your API key/],
    ['empty', ['Authorization', ''], /Send your API key/],
    ['scheme alone', ['Authorization', 'Bearer'], /Send your API key/],
    ['scheme and blanks', ['Authorization', 'Bearer    '], /Send your API key/],
    ['key without scheme', ['Authorization', key], /Send your API key/],
    ['other scheme', ['Authorization', `Basic ${key}`], /Send your API key/],
    ['scheme run together', ['Authorization', `Bearer${key}`], /Send your API key/],
    ['twice', ['Authorization', `Bearer ${key}`, 'authorization', `Bearer ${key}`], /Send it once/],
    ['twice, one empty', ['Authorization', `Bearer ${key}`, 'AUTHORIZATION', ''], /Send it once/],
    ['joined by a proxy', ['Authorization', `Bearer ${key}, Bearer ${key}`], /Send it once/],
    ['two words', ['Authorization', `Bearer ${key} ${key}`], /Send it once/],
    ['no known prefix', ['Authorization', `Bearer sk_live_${key.slice(9)}`], /air_live_ or air_test_/],
    ['prefix of no mode', ['Authorization', `Bearer air_${key.slice(9)}`], /air_live_ or air_test_/],
  ]
  for (const [name, headers, saying] of cases)
    await assert.rejects(admit(headers, NOW), refused('unauthorized', saying), name)
  assert.equal(world.questions, 0)
})

test('a key that is not whole or mistyped is invalid_key, without a question', async () => {
  const { world, add, bearer } = house()
  const key = add()
  const last = key.endsWith('0') ? '1' : '0'
  await assert.rejects(bearer('air_live_'), refused('invalid_key', /not whole: a key has 47/))
  await assert.rejects(bearer(key.slice(0, -1)), refused('invalid_key', /not whole/))
  await assert.rejects(bearer(`${key}é`), refused('invalid_key', /not whole/))
  await assert.rejects(bearer(key.slice(0, -1) + last), refused('invalid_key', /checksum/))
  await assert.rejects(bearer(key.replace('live', 'test')), refused('invalid_key', /checksum/))
  assert.equal(world.questions, 0)
})

test('a good key is admitted, whatever the case of header name and scheme', async () => {
  const { add, admit } = house()
  const key = add({ mode: 'test', scopes: ['search'] })
  for (const [name, scheme] of [
    ['Authorization', 'Bearer'],
    ['authorization', 'bearer'],
    ['AUTHORIZATION', 'BEARER  '],
  ]) {
    const caller = await admit([name!, `${scheme} ${key}`], NOW)
    assert.equal(caller.mode, 'test')
    assert.equal(caller.region, 'intl')
    assert.deepEqual(caller.scopes, new Set(['search']))
  }
})

test('sections 5.4 and 5.5: unknown is invalid_key, revoked and expired unauthorized, live before approval forbidden', async () => {
  const { add, bearer } = house()
  await assert.rejects(bearer(makeKey('air', 'live')), refused('invalid_key', /international or China/))
  await assert.rejects(bearer(add({ revoked: true })), refused('unauthorized', /revoked/))
  await assert.rejects(bearer(add({ expires_at: new Date(NOW) })), refused('unauthorized', /expired/))
  await assert.rejects(
    bearer(add({ live_approved: false })),
    refused('forbidden', /not approved for live.*air_test_/),
  )
  await bearer(add({ live_approved: false, mode: 'test' }))
  const key = add({ expires_at: new Date(NOW + 1) })
  await bearer(key)
  await assert.rejects(
    bearer(key, NOW + 1),
    refused('unauthorized', /expired/),
    'a remembered key expires too',
  )
})

test('a key is asked for once as long as the generation stands and is known to', async () => {
  const { world, add, bearer } = house()
  const key = add()
  const stranger = makeKey('air', 'live')
  for (let i = 0; i < 5; i++) {
    await bearer(key)
    await assert.rejects(bearer(stranger))
  }
  assert.equal(world.questions, 2)
  world.generation++
  await bearer(key)
  await assert.rejects(bearer(stranger))
  assert.equal(world.questions, 4, 'a new generation asks again')
  world.staleMs = 1001
  await bearer(key)
  await bearer(key)
  assert.equal(world.questions, 6, 'a generation not seen for a second proves nothing')
  world.staleMs = 0
  await bearer(key)
  assert.equal(world.questions, 6)
})

test('a revocation is obeyed as soon as the generation is read, and a made-up key may become real', async () => {
  const { world, add, put, bearer } = house()
  const key = add()
  const later = makeKey('air', 'live')
  await bearer(key)
  await assert.rejects(bearer(later), refused('invalid_key', /not known/))
  put(key, { revoked: true })
  put(later)
  world.generation++
  await assert.rejects(bearer(key), refused('unauthorized', /revoked/))
  await bearer(later)
})

test('an answer that was on its way when the generation rose is not remembered, and not shared with who comes later', async () => {
  const { world, add, remove, bearer } = house()
  const key = add()
  const gate = Promise.withResolvers<void>()
  world.before = () => gate.promise
  const early = bearer(key)
  await Promise.resolve()
  remove(key)
  world.generation++
  world.before = async () => {}
  await assert.rejects(bearer(key), refused('invalid_key', /not known/))
  gate.resolve()
  await early
  await assert.rejects(bearer(key), refused('invalid_key', /not known/))
})

test('one question serves all who ask for the same key at once, and not too many keys are asked for at once', async () => {
  const { world, add, bearer } = house()
  const gate = Promise.withResolvers<void>()
  world.before = () => gate.promise
  const key = add()
  const same = Array.from({ length: 100 }, () => bearer(key))
  const flood = Array.from({ length: 100 }, () =>
    bearer(makeKey('air', 'live')).catch((error: Refusal) => error.code),
  )
  gate.resolve()
  const outcomes = await Promise.all(flood)
  assert.equal(outcomes.filter(code => code === 'invalid_key').length, 63)
  assert.equal(outcomes.filter(code => code === 'service_unavailable').length, 37)
  assert.equal(world.questions, 64)
  assert.equal(new Set((await Promise.all(same)).map(caller => caller.keyId)).size, 1)
})

test('strangers do not push out the keys that are known, and are not all remembered', async () => {
  const { world, add, bearer } = house()
  const key = add()
  await bearer(key)
  const strangers = Array.from({ length: 1001 }, () => makeKey('air', 'live'))
  for (const stranger of strangers) await assert.rejects(bearer(stranger))
  assert.equal(world.questions, 1002)
  await bearer(key)
  await assert.rejects(bearer(strangers.at(-1)!))
  assert.equal(world.questions, 1002)
  await assert.rejects(bearer(strangers[0]!))
  assert.equal(world.questions, 1003, 'the first one was forgotten')
})

test('trouble with the database is service_unavailable with a wait, and is not remembered; a defect stays a defect', async () => {
  const { world, add, bearer } = house()
  const key = add()
  world.before = () => Promise.reject(new DatabaseBusy('full'))
  await assert.rejects(bearer(key), error => {
    assert.ok(error instanceof Refusal)
    assert.equal(error.code, 'service_unavailable')
    assert.equal(error.more.retryAfterSeconds, 1)
    assert.ok(error.cause instanceof DatabaseBusy)
    return true
  })
  world.before = () => Promise.reject(new TypeError('a defect'))
  await assert.rejects(bearer(key), TypeError)
  world.before = async () => {}
  await bearer(key)
})

test('an answer older than a second is not trusted', async t => {
  const { world, add, bearer } = house()
  const key = add()
  const real = process.hrtime
  let skipped = 0
  const late = () => {
    const [seconds, nanoseconds] = real()
    return [seconds + skipped, nanoseconds] as [number, number]
  }
  t.mock.method(process, 'hrtime', late)
  world.before = async () => {
    skipped = 2
  }
  await assert.rejects(bearer(key), refused('service_unavailable', /Try again/))
})

test('a missing scope is forbidden by name', async () => {
  const { add, bearer } = house()
  const caller = await bearer(add({ scopes: ['search', 'read'] }))
  requireScope(caller, 'search')
  assert.throws(() => requireScope(caller, 'book'), refused('forbidden', /scope "book"/))
})
