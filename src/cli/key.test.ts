import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseArgs } from 'node:util'
import { cloneDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import { isId } from '../id.ts'
import { admission } from '../partner/admit.ts'
import { PEPPER_PURPOSE, readKey } from '../partner/key.ts'
import { Refusal } from '../refusal.ts'
import { deriveKey } from '../secret.ts'
import { type Region, readSettings } from '../settings.ts'
import { commands as accountCommands } from './account.ts'
import type { CommandResult } from './command.ts'
import { commands as keyCommands } from './key.ts'

const SECRET = 's'.repeat(32)
const settings = readSettings({})

let clone: TestDatabase
before(async () => {
  clone = await cloneDatabase()
})
after(() => clone.drop())

/** Runs a command as it is typed. */
async function airside(line: string | string[], region: Region = 'intl'): Promise<CommandResult> {
  const words = typeof line === 'string' ? line.split(' ') : line
  const command = [...accountCommands, ...keyCommands].find(each => each.name === words.slice(0, 2).join(' '))
  assert.ok(command, `no command ${words.join(' ')}`)
  const args = parseArgs({ args: words.slice(2), options: command.options, allowPositionals: true })
  return command.run(
    { database: clone.database, region, settings, secret: SECRET },
    { values: { ...args.values }, positionals: args.positionals },
  )
}

const json = async <T>(line: string | string[], region?: Region) => (await airside(line, region)).json as T

/** What a request with this key meets right now: the mode of its caller, or the code of its refusal. */
function call(key: string): Promise<string> {
  const { admit } = admission({
    database: clone.database,
    region: 'intl',
    prefix: settings.keyPrefix,
    pepper: deriveKey(SECRET, PEPPER_PURPOSE),
    generation: () => 1,
    freshAt: () => Number.NEGATIVE_INFINITY,
  })
  return admit(['authorization', `Bearer ${key}`], Date.now()).then(
    caller => caller.mode,
    (refusal: Refusal) => refusal.code,
  )
}

test('an account and a key, from nothing to a call', async () => {
  const { accountId } = await json<{ accountId: string }>([
    'account',
    'create',
    '--name',
    'Acme Travel',
    '--plan',
    'enterprise',
  ])
  assert.ok(isId('acc', accountId))
  const made = await airside(`key create --account ${accountId} --mode live`)
  const { keyId, key } = made.json as { keyId: string; key: string }
  assert.deepEqual(Object.keys(made.json), ['keyId', 'key'])
  assert.ok(isId('key', keyId))
  assert.equal(readKey('air', key).kind, 'key')
  assert.equal(made.text.split(key).length, 2, 'the key is printed once')
  assert.match(made.text, /never shown again/)
  assert.equal(await call(key), 'live')
  const { accounts } = await json<{ accounts: object[] }>('account list')
  assert.deepEqual(accounts, [
    { accountId, name: 'Acme Travel', plan: 'enterprise', currency: 'USD', liveApproved: true },
  ])
  assert.match(
    (await airside('account list')).text,
    new RegExp(`${accountId}  enterprise  USD       yes   Acme Travel`),
  )
})

test("the currency is the region's unless given, and live waits for approval when told to", async () => {
  await airside('account create --name Lü --plan developer', 'cn')
  await airside('account create --name Eu --plan developer --currency eur', 'cn')
  const { accounts } = await json<{ accounts: { currency: string }[] }>('account list', 'cn')
  assert.deepEqual(
    accounts.map(({ currency }) => currency),
    ['CNY', 'EUR'],
  )
  const { accountId } = await json<{ accountId: string }>(
    'account create --name New --plan developer --unapproved',
  )
  const { key } = await json<{ key: string }>(
    `key create --account ${accountId} --mode live --scopes search,read --name till`,
  )
  assert.equal(await call(key), 'forbidden')
  await airside(`account approve ${accountId}`)
  assert.equal(await call(key), 'live')
})

test('revoke, delete and regenerate hold everywhere when they return, a second after the commit', async () => {
  const { accountId } = await json<{ accountId: string }>('account create --name Acme --plan developer')
  const create = () =>
    json<{ keyId: string; key: string }>(
      `key create --account ${accountId} --mode test --scopes book,search --name till`,
    )
  const [a, b, c] = [await create(), await create(), await create()]
  const timed = async (line: string) => {
    const start = performance.now()
    const result = await json<{ key: string; keyId: string; oldEndsAt: string }>(line)
    return { ...result, ms: performance.now() - start }
  }
  const [revoked, deleted, regenerated, overlapping] = await Promise.all([
    timed(`key revoke ${a.keyId}`),
    timed(`key delete ${b.keyId}`),
    timed(`key regenerate ${c.keyId}`),
    create().then(d => timed(`key regenerate ${d.keyId} --overlap 24h`).then(next => ({ ...next, old: d }))),
  ])
  for (const { ms } of [revoked, deleted, regenerated]) assert.ok(ms >= 1000, `returned after ${ms} ms`)
  assert.equal(await call(a.key), 'unauthorized')
  assert.equal(await call(b.key), 'invalid_key')
  assert.equal(await call(c.key), 'unauthorized')
  for (const key of [regenerated.key, overlapping.key, overlapping.old.key])
    assert.equal(await call(key), 'test')
  assert.ok(Math.abs(Date.parse(overlapping.oldEndsAt) - Date.now() - 86_400_000) < 60_000)

  const { keys } = await json<{ keys: { keyId: string; state: string; scopes: string[]; name: string }[] }>(
    `key list --account ${accountId}`,
  )
  const states = new Map(keys.map(({ keyId, state }) => [keyId, state]))
  assert.equal(states.get(a.keyId), 'revoked')
  assert.equal(states.has(b.keyId), false)
  assert.equal(states.get(c.keyId), 'revoked')
  assert.equal(states.get(overlapping.old.keyId), 'replaced')
  assert.equal(states.get(overlapping.keyId), 'active')
  for (const { scopes, name } of keys)
    assert.deepEqual({ scopes, name }, { scopes: ['search', 'book'], name: 'till' })
  const shown = JSON.stringify(keys) + (await airside(`key list --account ${accountId}`)).text
  for (const { key } of [a, c, regenerated, overlapping]) assert.ok(!shown.includes(key))
})

test('faulty arguments name the option and the remedy', async () => {
  const acc = `acc_${'0'.repeat(24)}`
  const key = `key_${'0'.repeat(24)}`
  const cases: [string, RegExp][] = [
    ['account create --plan developer', /^--name: is missing; give the name/],
    ['account create --name A', /^--plan: is missing; give one of enterprise, developer/],
    ['account create --name A --plan gold', /^--plan: cannot be "gold"; give one of enterprise, developer/],
    ['account create --name A --plan developer --currency XYZ', /currency: must be an ISO 4217 code/],
    ['account create Acme --plan developer', /^"Acme": is not expected/],
    ['account approve', /^ACCOUNTID: is missing; give an account id/],
    [`account approve ${acc}`, /There is no account/],
    ['account approve nonsense', /There is no account/],
    ['key create --mode live', /^--account: is missing; give an account id/],
    [`key create --account ${acc}`, /^--mode: is missing; give one of live, test/],
    [`key create --account ${acc} --mode demo`, /^--mode: cannot be "demo"/],
    [
      `key create --account ${acc} --mode test --scopes search,fly`,
      /^--scopes: cannot hold "fly"; give some of search,book,read,webhooks/,
    ],
    [`key create --account ${acc} --mode test`, /There is no account/],
    ['key revoke', /^KEYID: is missing; give a key id/],
    [`key revoke ${key} ${key}`, /^KEYID: must stand alone/],
    [`key revoke ${key}`, /There is no key/],
    [`key delete ${key}`, /There is no key/],
    [`key regenerate ${key} --overlap 8d`, /^--overlap: cannot be "8d"; give a duration from 0 to 7d/],
    [`key regenerate ${key} --overlap soon`, /^--overlap: cannot be "soon"/],
    [`key regenerate ${key}`, /There is no key/],
    ['key list', /^--account: is missing/],
    [`key list --account ${acc}`, /There is no account/],
  ]
  for (const [line, saying] of cases) {
    await assert.rejects(airside(line), error => error instanceof Refusal && saying.test(error.message), line)
  }
})
