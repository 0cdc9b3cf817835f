import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { day, openPartner } from './support.ts'

const { house, call, search } = await openPartner()
after(() => house.stop())

const PATHS = [
  ['POST', '/travel/search'],
  ['POST', '/travel/book'],
  ['GET', '/travel/booking/bkg_000000000000000000000000'],
  ['GET', '/travel/bookings'],
  ['GET', '/travel/nothing'],
  ['PUT', '/travel/search'],
] as const

/** The key with its last character changed. */
const mistyped = (key: string) => key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A')

const headers: [string, Record<string, string>, string][] = [
  ['no header', {}, 'unauthorized'],
  ['an empty header', { authorization: '' }, 'unauthorized'],
  ['Bearer without a key', { authorization: 'Bearer ' }, 'unauthorized'],
  ['Basic', { authorization: `Basic ${house.intl.test}` }, 'unauthorized'],
  ['the key alone', { authorization: house.intl.test }, 'unauthorized'],
  [
    'no prefix of ours',
    { authorization: 'Bearer sk_live_0123456789abcdef0123456789abcdef012345' },
    'unauthorized',
  ],
  [
    'two keys in one header',
    { authorization: `Bearer ${house.intl.test}, Bearer ${house.intl.test}` },
    'unauthorized',
  ],
  ['a prefix and nothing else', { authorization: 'Bearer air_test_' }, 'invalid_key'],
  ['a wrong checksum', { authorization: `Bearer ${mistyped(house.intl.test)}` }, 'invalid_key'],
  ['a key of the other region', { authorization: `Bearer ${house.cn.test}` }, 'invalid_key'],
  ['a live key of the other region', { authorization: `Bearer ${house.cn.live}` }, 'invalid_key'],
]
for (const [what, sent, code] of headers) {
  test(`5 ${what}: 401 ${code} on every path`, async () => {
    for (const [method, path] of PATHS) {
      const { status, json } = await call(path, {
        key: '',
        method,
        headers: sent,
        ...(method === 'GET' ? {} : { body: '{' }),
      })
      assert.deepEqual([status, json.error.code], [401, code], `${method} ${path}`)
    }
  })
}

test('5.4 an international key on the China address is invalid_key', async () => {
  const { status, json } = await search({}, { base: house.cn.baseUrl })
  assert.deepEqual([status, json.error.code], [401, 'invalid_key'])
})

test('5 the header sent twice is unauthorized, even with the same key', async () => {
  const { port, pathname } = new URL(`${house.intl.baseUrl}/travel/bookings`)
  const socket = connect(Number(port), '127.0.0.1')
  const header = `Authorization: Bearer ${house.intl.test}\r\n`
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: a\r\n${header}${header}Connection: close\r\n\r\n`)
  let text = ''
  for await (const bytes of socket) text += bytes
  assert.match(text, /^HTTP\/1\.1 401 /)
  assert.match(text, /"code":"unauthorized"/)
})

test('5.5 a key without the scope is forbidden, before the body is looked at', async () => {
  const { accountId } = await house.command('account', 'create', '--name', 'Reader', '--plan', 'developer')
  const { key } = await house.command(
    'key',
    'create',
    '--account',
    String(accountId),
    '--mode',
    'test',
    '--scopes',
    'read',
  )
  for (const path of ['/travel/search', '/travel/book']) {
    const { status, json } = await call(path, { key: String(key), body: '{' })
    assert.deepEqual([status, json.error.code], [403, 'forbidden'], path)
  }
  assert.equal((await call('/travel/bookings', { key: String(key) })).status, 200)
})

test('5.5 a live key of an account that is not approved for live is forbidden', async () => {
  const { accountId } = await house.command(
    'account',
    'create',
    '--name',
    'New',
    '--plan',
    'developer',
    '--unapproved',
  )
  const { key } = await house.command('key', 'create', '--account', String(accountId), '--mode', 'live')
  const { status, json } = await search({}, { key: String(key) })
  assert.deepEqual([status, json.error.code], [403, 'forbidden'])
})

test('5.6 a revoked key is unauthorized, a deleted one invalid_key', async () => {
  for (const [deed, code] of [
    ['revoke', 'unauthorized'],
    ['delete', 'invalid_key'],
  ] as const) {
    const { key, keyId } = await house.command(
      'key',
      'create',
      '--account',
      house.intl.accountId,
      '--mode',
      'test',
    )
    assert.equal((await call('/travel/bookings', { key: String(key) })).status, 200)
    await house.command('key', deed, String(keyId))
    const { status, json } = await call('/travel/bookings', { key: String(key) })
    assert.deepEqual([status, json.error.code], [401, code])
  }
})

test('7 an unknown path is not_found, a known one with another method method_not_allowed', async () => {
  assert.equal((await call('/nothing')).json.error.code, 'not_found')
  const wrong = await call('/travel/search')
  assert.deepEqual(
    [wrong.status, wrong.json.error.code, wrong.headers.get('allow')],
    [405, 'method_not_allowed', 'POST'],
  )
  assert.equal((await call('/travel/bookings', { method: 'DELETE' })).headers.get('allow'), 'GET')
})

test('7 other bodies than JSON are unsupported_media_type, large ones payload_too_large', async () => {
  const body = JSON.stringify({ origin: 'LHR', destination: 'SIN', departDate: day(30) })
  for (const sent of [
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'application/jsonx' },
    { 'content-type': 'application/json; charset=latin1' },
    { 'content-type': 'application/json, text/plain' },
    { 'content-type': 'text/plain; application/json' },
    { 'content-type': 'application/json\ta' },
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  ] as Record<string, string>[]) {
    const { status, json } = await call('/travel/search', { body, headers: sent })
    assert.deepEqual([status, json.error.code], [415, 'unsupported_media_type'], JSON.stringify(sent))
  }
  for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"']) {
    assert.equal(
      (await call('/travel/search', { body, headers: { 'content-type': type } })).status,
      200,
      type,
    )
  }
  const { status, json } = await call('/travel/search', { body: `${body}${' '.repeat(65_536)}` })
  assert.deepEqual([status, json.error.code], [413, 'payload_too_large'])
})

test('what needs no key answers without one', async () => {
  const root = house.intl.baseUrl.replace('/v1', '')
  for (const path of ['/healthz', '/readyz', '/metrics', '/docs', '/v1/openapi.json']) {
    assert.equal((await call(path, { base: root, key: '' })).status, 200, path)
  }
  const docs = await call('/docs', { base: root, key: '' })
  assert.match(docs.headers.get('content-security-policy')!, /default-src 'none'/)
  assert.doesNotMatch(docs.text, /<script|style=|src="http| on\w+=/)
  for (const code of ['invalid_params', 'rate_limited', 'unavailable'])
    assert.match(docs.text, new RegExp(`id="${code}"`))
})
