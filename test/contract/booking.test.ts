import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bookingOf, day, openPartner, passenger, withoutRequestId } from './support.ts'

const partner = await openPartner()
const { house, call, search, offer, book } = partner
after(() => house.stop())

/** Until the airline has answered. */
async function settled(id: string) {
  for (;;) {
    const answer = await call(`/travel/booking/${id}`)
    if (answer.json.bookingStatus !== 'pending') return answer
    await sleep(100)
  }
}

test('4.2 and 4.3 book, then retrieve: the same booking in the same shape', async () => {
  const { json: found } = await search({ passengers: 2, returnDate: day(37) })
  const wanted = found.results[0]!
  const { status, json } = await call('/travel/book', { body: bookingOf(wanted.offerId, 2) })
  assert.equal(status, 200)
  assert.ok(['confirmed', 'pending'].includes(json.bookingStatus))
  assert.deepEqual(json.totalPrice, wanted.totalPrice)
  assert.equal(json.confirmationEmail, 'ada@example.com')
  assert.equal(json.mode, 'test')
  assert.deepEqual(json.slices, wanted.slices)
  const { json: later } = await settled(json.bookingId)
  assert.equal(later.bookingStatus, 'confirmed')
  assert.match(later.pnr, /^[0-9A-Z]{5,8}$/)
  assert.deepEqual(Object.keys(later).sort(), Object.keys(json).sort())
  assert.deepEqual(
    later.statusHistory.map(entry => entry.status),
    ['pending', 'confirmed'],
  )
})

test('2.4 pnr is text in every state, and only the last four of a document are shown', async () => {
  const { json } = await book(await offer())
  assert.equal(typeof json.pnr, 'string')
  assert.equal(json.passengers[0]!.documentLastFour, '5067')
  assert.doesNotMatch(JSON.stringify(json), /X12345067/)
})

test('2.3 names are trimmed and composed', async () => {
  const decomposed = 'Zoë'.normalize('NFD')
  const { json } = await book(await offer(), {
    passengers: [passenger(0, { firstName: `  ${decomposed} `, lastName: '李' })],
  })
  assert.deepEqual([json.passengers[0]!.firstName, json.passengers[0]!.lastName], ['Zoë', '李'])
})

test('4.2 the passenger count must be that of the search', async () => {
  const { status, json } = await call('/travel/book', { body: bookingOf(await offer({ passengers: 2 }), 1) })
  assert.equal(status, 400)
  assert.equal(json.error.param, 'passengers')
})

test('2.3 a document must be valid through the last arrival', async () => {
  const { status, json } = await book(await offer({ returnDate: day(60) }), {
    passengers: [passenger(0, { documentExpiry: day(45) })],
  })
  assert.equal(status, 400)
  assert.equal(json.error.param, 'passengers[0].documentExpiry')
})

test('4.2 an altered, foreign or invented offerId is invalid_params', async () => {
  const offerId = await offer()
  const last = offerId.at(-1) === 'A' ? 'B' : 'A'
  const china = { key: house.cn.test, base: house.cn.baseUrl }
  for (const [wrong, how] of [
    [offerId.slice(0, -5) + last + offerId.slice(-4), {}],
    [`${offerId}A`, {}],
    ['off_invented', {}],
    ['x', {}],
    ['💥', {}],
    [offerId, { key: house.intl.live }],
    [offerId, china],
  ] as const) {
    const { status, json } = await book(wrong, {}, how)
    assert.equal(status, 400, wrong)
    assert.equal(json.error.code, 'invalid_params')
    assert.equal(json.error.param, 'offerId')
  }
})

test('7 the same offer and body again gives the same booking; another body is unavailable', async () => {
  const offerId = await offer()
  const first = await book(offerId)
  const again = await book(offerId)
  assert.equal(again.json.bookingId, first.json.bookingId)
  const other = await book(offerId, { contactEmail: 'else@example.com' })
  assert.equal(other.status, 422)
  assert.equal(other.json.error.code, 'unavailable')
})

test('an Idempotency-Key replays status and body byte for byte', async () => {
  const offerId = await offer()
  const headers = { 'idempotency-key': randomUUID() }
  const first = await book(offerId, {}, { headers })
  const again = await book(offerId, {}, { headers })
  assert.equal(first.headers.get('idempotent-replayed'), null)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual([again.status, again.text], [first.status, first.text])
  assert.notEqual(again.headers.get('x-request-id'), first.headers.get('x-request-id'))
  const mismatch = await book(offerId, { contactEmail: 'else@example.com' }, { headers })
  assert.equal(mismatch.status, 422)
  assert.equal(mismatch.json.error.code, 'idempotency_mismatch')
})

test('an Idempotency-Key replays a refusal as well', async () => {
  const offerId = await offer()
  await book(offerId)
  const headers = { 'idempotency-key': randomUUID() }
  const some = { contactEmail: 'else@example.com' }
  const first = await book(offerId, some, { headers })
  const again = await book(offerId, some, { headers })
  assert.equal(first.json.error.code, 'unavailable')
  assert.deepEqual([again.status, again.text], [422, first.text])
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
})

test('eight at once with one Idempotency-Key: one booking, the others replay it or are told conflict', async () => {
  const offerId = await offer()
  const headers = { 'idempotency-key': randomUUID() }
  const answers = await Promise.all(Array.from({ length: 8 }, () => book(offerId, {}, { headers })))
  const bookings = new Set(answers.filter(({ status }) => status === 200).map(({ json }) => json.bookingId))
  assert.equal(bookings.size, 1)
  for (const { status, json } of answers)
    if (status !== 200) assert.deepEqual([status, json.error.code], [409, 'conflict'])
})

for (const [what, key] of [
  ['empty', ''],
  ['with a blank', 'a b'],
  ['beyond 255 characters', 'a'.repeat(256)],
  ['not ASCII', 'ü'],
] as const) {
  test(`an Idempotency-Key ${what} is invalid_params`, async () => {
    const { status, json } = await book('off_x', {}, { headers: { 'idempotency-key': key } })
    assert.equal(status, 400)
    assert.equal(json.error.param, 'Idempotency-Key')
  })
}

test('4.3 a booking of another account or mode is not_found, with the bytes of one that does not exist', async () => {
  const { json } = await book(await offer())
  const { accountId } = await house.command('account', 'create', '--name', 'Other', '--plan', 'developer')
  const { key } = await house.command('key', 'create', '--account', String(accountId), '--mode', 'test')
  const unknown = await call('/travel/booking/bkg_000000000000000000000000')
  assert.equal(unknown.status, 404)
  assert.equal(unknown.json.error.code, 'not_found')
  for (const other of [String(key), house.intl.live]) {
    const foreign = await call(`/travel/booking/${json.bookingId}`, { key: other })
    assert.equal(foreign.status, 404)
    assert.equal(withoutRequestId(foreign.text), withoutRequestId(unknown.text))
  }
  for (const id of [
    'x',
    'bkg_',
    `${json.bookingId}x`,
    json.bookingId.toLowerCase(),
    '%00',
    '..%2f',
    "'--",
    'null',
  ]) {
    assert.equal((await call(`/travel/booking/${id}`)).status, 404, id)
  }
})

test('bookings are listed newest first, page by page, each once', async () => {
  const { accountId } = await house.command('account', 'create', '--name', 'Lister', '--plan', 'developer')
  const { key } = await house.command('key', 'create', '--account', String(accountId), '--mode', 'test')
  const how = { key: String(key) }
  const made: string[] = []
  for (let i = 0; i < 5; i++) made.unshift((await book(await offer({}, how), {}, how)).json.bookingId)
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Awaited<ReturnType<typeof call>> = await call(
      `/travel/bookings?limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      how,
    )
    assert.equal(page.status, 200)
    assert.ok(page.json.bookings.length <= 2)
    seen.push(...page.json.bookings.map(({ bookingId }) => bookingId))
    cursor = page.json.nextCursor
  }
  assert.deepEqual(seen, made)
  assert.equal((await call('/travel/bookings?status=failed', how)).json.bookings.length, 0)
  assert.equal((await call('/travel/bookings', how)).json.bookings.length, 5)
})

for (const query of [
  'limit=0',
  'limit=101',
  'limit=-1',
  'limit=1.5',
  'limit=1e2',
  'limit=',
  'limit=a',
  'status=gone',
  'status=',
  'cursor=',
  'cursor=nonsense',
  `cursor=${'a'.repeat(300)}`,
  'limit=1&limit=1',
]) {
  test(`bookings?${query.slice(0, 30)} is invalid_params`, async () => {
    const { status, json } = await call(`/travel/bookings?${query}`)
    assert.equal(status, 400)
    assert.equal(json.error.code, 'invalid_params')
  })
}
