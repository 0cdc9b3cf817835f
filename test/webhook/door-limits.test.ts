import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openDoor } from './door-support.ts'

/** The limits as they are without a setting. */
const { house, call, stranger, close } = await openDoor({ AIRSIDE_LIMITS: 'search.test=1000000/60s' })
after(close)

const body = { url: 'https://hooks.example.com/', events: ['booking.confirmed'] }

test('4.4 and 7 an account has 20 webhooks in each mode; the next is invalid_params until one is deleted', async () => {
  const key = await stranger()
  const made = await Promise.all(Array.from({ length: 24 }, () => call('/webhooks/register', { body, key })))
  const ids = made.flatMap(({ json, status }) => (status === 200 ? [json.webhookId] : []))
  assert.equal(ids.length, 20)
  for (const { status, json } of made) if (status !== 200) assert.equal(json.error.code, 'invalid_params')
  assert.equal((await call('/webhooks', { key })).json.webhooks.length, 20)
  await call(`/webhooks/${ids[0]}`, { method: 'DELETE', key })
  assert.equal((await call('/webhooks/register', { body, key })).status, 200)
  assert.equal((await call('/webhooks/register', { body, key })).status, 400)
})

test('8 webhook management has 30 requests a minute for an account and mode; then rate_limited', async () => {
  const key = await stranger()
  const answers = []
  for (let i = 0; i < 31; i++)
    answers.push(await call(`/webhooks/whk_${'0'.repeat(24)}`, { method: 'DELETE', key }))
  assert.deepEqual(new Set(answers.slice(0, 30).map(({ status }) => status)), new Set([404]))
  const last = answers[30]!
  assert.deepEqual([last.status, last.json.error.code], [429, 'rate_limited'])
  assert.equal(last.headers.get('ratelimit-policy'), '"webhooks";q=30;w=60')
  assert.match(last.headers.get('ratelimit')!, /^"webhooks";r=0;t=\d+$/)
  assert.ok(Number(last.headers.get('retry-after')) >= 1)
  const register = await call('/webhooks/register', { body, key })
  assert.deepEqual([register.status, register.json.error.code], [429, 'rate_limited'])
  const redeliver = await call(`/events/evt_${'0'.repeat(24)}/redeliver`, { method: 'POST', key })
  assert.equal(redeliver.status, 429)
  // Looking has no allowance, and neither have other accounts or the other mode lost theirs.
  assert.equal((await call('/webhooks', { key })).status, 200)
  assert.equal((await call('/events', { key })).status, 200)
  for (const other of [house.intl.test, house.intl.live])
    assert.equal((await call('/webhooks/register', { body, key: other })).status, 200)
})
