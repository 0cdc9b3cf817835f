import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXAMPLE_BOOK, EXAMPLE_BOOKING } from '../../src/api/reference/example.ts'
import { DatabaseBusy } from '../../src/db/failure.ts'
import { REFUSALS, Refusal, type RefusalCode } from '../../src/refusal.ts'
import { ask } from '../support/openapi.ts'
import { KEY, SEARCH, serveApi } from './support.ts'

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
const BOOK = JSON.stringify(EXAMPLE_BOOK)

test('a defect is answered 500 and tells nothing of itself', async () => {
  const api = await serveApi({
    search: async () => {
      throw new TypeError('secret of the house')
    },
  })
  const { status, json, text } = await ask(`${api.url}/v1/travel/search`, {
    method: 'POST',
    headers,
    body: SEARCH,
  })
  assert.deepEqual([status, json.error.code, json.error.retryable], [500, 'internal_error', true])
  assert.doesNotMatch(text, /secret|TypeError|\.ts/)
  await api.stop()
})

test('a busy database is 503 with Retry-After, wherever it is met', async () => {
  const busy = async () => {
    throw new DatabaseBusy('no connection')
  }
  for (const some of [{ admit: busy }, { book: busy }]) {
    const api = await serveApi(some)
    const {
      status,
      json,
      headers: sent,
    } = await ask(`${api.url}/v1/travel/book`, { method: 'POST', headers, body: BOOK })
    assert.deepEqual([status, json.error.code], [503, 'service_unavailable'])
    assert.equal(sent.get('retry-after'), '2')
    await api.stop()
  }
})

test('too many bookings at once: those beyond the cap are refused at once, the others go through', async () => {
  const gate = Promise.withResolvers<void>()
  const api = await serveApi({
    book: async (_caller, _request, reply) => {
      await gate.promise
      return { status: 200, body: reply.booking(EXAMPLE_BOOKING), replayed: false }
    },
  })
  const calls = Array.from({ length: 300 }, () =>
    ask(`${api.url}/v1/travel/book`, { method: 'POST', headers, body: BOOK }),
  )
  let refused = 0
  await new Promise<void>(resolve => {
    for (const call of calls) {
      void call.then(({ status }) => {
        if (status === 503 && ++refused === 44) resolve()
      })
    }
  })
  gate.resolve()
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  assert.deepEqual(
    [statuses.filter(status => status === 200).length, statuses.filter(status => status === 503).length],
    [256, 44],
  )
  const after = await ask(`${api.url}/v1/travel/book`, { method: 'POST', headers, body: BOOK })
  assert.equal(after.status, 200, 'room again')
  await api.stop()
})

test('a refusal of another room keeps its details, its price change and its wait', async () => {
  const from = { amount: 10, currency: 'USD' }
  const to = { amount: 12.5, currency: 'USD' }
  const api = await serveApi({
    book: async () => {
      throw new Refusal('unavailable', 'Search again.', { param: 'offerId', priceChange: { from, to } })
    },
    search: async () => {
      throw new Refusal('service_unavailable', 'Later.', { retryAfterSeconds: 7 })
    },
  })
  const booked = await ask(`${api.url}/v1/travel/book`, { method: 'POST', headers, body: BOOK })
  assert.deepEqual([booked.status, booked.json.error.priceChange], [422, { from, to }])
  assert.equal(booked.json.error.docUrl, '/docs#unavailable')
  const searched = await ask(`${api.url}/v1/travel/search`, { method: 'POST', headers, body: SEARCH })
  assert.equal(searched.headers.get('retry-after'), '7')
  await api.stop()
})

const STATUSES: [RefusalCode, number][] = [
  ['invalid_params', 400],
  ['unauthorized', 401],
  ['invalid_key', 401],
  ['forbidden', 403],
  ['not_found', 404],
  ['method_not_allowed', 405],
  ['conflict', 409],
  ['payload_too_large', 413],
  ['unsupported_media_type', 415],
  ['expired_offer', 422],
  ['unavailable', 422],
  ['no_results', 422],
  ['idempotency_mismatch', 422],
  ['not_cancellable', 422],
  ['rate_limited', 429],
  ['internal_error', 500],
  ['service_unavailable', 503],
]

test('every code goes out with its status, and there is no other', async () => {
  assert.deepEqual(STATUSES.map(([code]) => code).sort(), Object.keys(REFUSALS).sort())
  let code: RefusalCode = 'conflict'
  const api = await serveApi({
    book: async () => {
      throw new Refusal(code, 'Do this.')
    },
  })
  for (const [next, status] of STATUSES) {
    code = next
    const answer = await fetch(`${api.url}/v1/travel/book`, { method: 'POST', headers, body: BOOK })
    const { requestId, ...rest } = (await answer.json()) as Record<string, unknown>
    assert.equal(answer.status, status)
    assert.equal(answer.headers.get('x-request-id'), requestId)
    assert.deepEqual(rest, {
      status: 'error',
      error: { code, message: 'Do this.', retryable: REFUSALS[code].retryable, docUrl: `/docs#${code}` },
    })
    assert.equal(answer.headers.has('retry-after'), status === 429 || status === 503)
  }
  await api.stop()
})

test('a replay is sent as it was kept', async () => {
  const kept = JSON.stringify({
    status: 'error',
    requestId: 'req_000000000000000000000000',
    error: { code: 'unavailable', message: 'm', retryable: false, docUrl: '/docs#unavailable' },
  })
  const api = await serveApi({ book: async () => ({ status: 422, body: kept, replayed: true }) })
  const {
    status,
    text,
    headers: sent,
  } = await ask(`${api.url}/v1/travel/book`, { method: 'POST', headers, body: BOOK })
  assert.deepEqual([status, text, sent.get('idempotent-replayed')], [422, kept, 'true'])
  await new Promise(resolve => setTimeout(resolve, 20))
  assert.equal(api.lines[0]!.code, 'unavailable')
  await api.stop()
})

test('the allowance is asked by mode and plan, and its headers go with every answer', async () => {
  const asked: string[] = []
  const { CALLER } = await import('./support.ts')
  let caller = CALLER
  const api = await serveApi({
    admit: async () => caller,
    take: name => {
      asked.push(name)
      return {
        allowed: asked.length < 3,
        headers: { 'RateLimit-Policy': '"search";q=2;w=60', RateLimit: '"search";r=0;t=9' },
      }
    },
  })
  const search = (body: string) => ask(`${api.url}/v1/travel/search`, { method: 'POST', headers, body })
  assert.equal((await search(SEARCH)).headers.get('ratelimit'), '"search";r=0;t=9')
  caller = { ...CALLER, mode: 'live' }
  assert.equal((await search('{')).headers.get('ratelimit-policy'), '"search";q=2;w=60')
  caller = { ...CALLER, mode: 'live', plan: 'enterprise' }
  const over = await search('{')
  assert.deepEqual(
    [over.status, over.json.error.code, over.headers.get('retry-after')],
    [429, 'rate_limited', '1'],
  )
  assert.deepEqual(asked, ['search.test', 'search.developer', 'search.enterprise'])
  await api.stop()
})

test('not ready is 503 without detail; the root leads to the reference', async () => {
  const api = await serveApi({ ready: async () => false })
  assert.equal((await ask(`${api.url}/readyz`)).status, 503)
  assert.equal((await ask(`${api.url}/healthz`)).status, 200)
  assert.equal((await ask(`${api.url}/healthz`, { method: 'HEAD' })).status, 200)
  const root = await ask(`${api.url}/`)
  assert.deepEqual([root.status, root.headers.get('location')], [302, '/docs'])
  await api.stop()
})

test('while it stops, requests under way are answered and the connection ends', async () => {
  const gate = Promise.withResolvers<void>()
  const api = await serveApi({
    search: async () => {
      await gate.promise
      return { offers: [], warnings: [] }
    },
  })
  const call = ask(`${api.url}/v1/travel/search`, { method: 'POST', headers, body: SEARCH })
  await new Promise(resolve => setTimeout(resolve, 50))
  const stopping = api.stop()
  gate.resolve()
  assert.equal((await call).status, 200)
  await stopping
})
