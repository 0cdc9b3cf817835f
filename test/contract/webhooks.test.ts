import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EVENT_TYPES } from '../../src/webhook/event.ts'
import { status } from '../support/receiver.ts'
import { openDoor, SECRET } from '../webhook/door-support.ts'
import { until, verify, verifyStandard } from '../webhook/support.ts'
import { withoutRequestId } from './support.ts'

const { house, call, register, received, receiver, booked, stranger, close } = await openDoor()
after(close)

const UNKNOWN = 'whk_000000000000000000000000'
const URL_OK = 'https://hooks.example.com/airside'
const REGISTRATION = { url: URL_OK, events: ['booking.confirmed'], secret: SECRET }
const remove = (id: string, key?: string) =>
  call(`/webhooks/${id}`, { method: 'DELETE', ...(key === undefined ? {} : { key }) })

test('4.4 and 2.5 registering answers status, requestId, webhookId, url and events, and never the secret', async () => {
  const { status, json, text } = await call('/webhooks/register', { body: REGISTRATION })
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(json).slice(0, 5), ['status', 'requestId', 'webhookId', 'url', 'events'])
  assert.equal(json.status, 'ok')
  assert.match(json.webhookId, /^whk_[0-9A-Za-z]{24}$/)
  assert.equal(json.url, URL_OK)
  assert.deepEqual(json.events, ['booking.confirmed'])
  const shown = [text, (await call('/webhooks')).text, (await call(`/webhooks/${json.webhookId}`)).text]
  for (const one of shown) assert.doesNotMatch(one, /"secret"|MfKQ9r8GKYqr/)
  await remove(json.webhookId)
})

test('4.4 the url is echoed as it was sent', async () => {
  for (const url of [
    'https://EXAMPLE.com',
    'https://example.com:8443/a/../b?x=1&y=%20',
    'https://bücher.example/ä',
    'https://93.184.215.14/hook',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/hook',
  ]) {
    const { status, json, text } = await call('/webhooks/register', { body: { ...REGISTRATION, url } })
    assert.equal(status, 200, text)
    assert.equal(json.url, url)
    await remove(json.webhookId)
  }
})

test('4.4 an event that stands there twice counts once; the order stays', async () => {
  const events = ['booking.updated', 'booking.failed', 'booking.updated']
  const { json } = await call('/webhooks/register', { body: { ...REGISTRATION, events } })
  assert.deepEqual(json.events, ['booking.updated', 'booking.failed'])
  await remove(json.webhookId)
})

const faulty: [string, unknown, string][] = [
  ['no url', { events: ['booking.confirmed'] }, 'url'],
  ['plain HTTP (section 8)', { ...REGISTRATION, url: 'http://hooks.example.com/' }, 'url'],
  ['url as a number', { ...REGISTRATION, url: 7 }, 'url'],
  ['an empty url', { ...REGISTRATION, url: '' }, 'url'],
  ['no events', { url: URL_OK }, 'events'],
  ['no event in the list (section 8)', { ...REGISTRATION, events: [] }, 'events'],
  ['events as text', { ...REGISTRATION, events: 'booking.confirmed' }, 'events'],
  [
    'an unrecognised event type',
    { ...REGISTRATION, events: ['booking.confirmed', 'booking.created'] },
    'events[1]',
  ],
  ['an event in capitals', { ...REGISTRATION, events: ['BOOKING.CONFIRMED'] }, 'events[0]'],
  ['all events by a star', { ...REGISTRATION, events: ['*'] }, 'events[0]'],
  ['a name of every object', { ...REGISTRATION, events: ['constructor'] }, 'events[0]'],
  ['null among the events', { ...REGISTRATION, events: [null] }, 'events[0]'],
  ['too many events', { ...REGISTRATION, events: Array(101).fill('booking.failed') }, 'events'],
  ['an empty secret', { ...REGISTRATION, secret: '' }, 'secret'],
  ['a secret as a number', { ...REGISTRATION, secret: 1 }, 'secret'],
  ['a secret of 4,097 bytes', { ...REGISTRATION, secret: 's'.repeat(4097) }, 'secret'],
  ['a secret of 4,098 bytes in fewer letters', { ...REGISTRATION, secret: '€'.repeat(1366) }, 'secret'],
  ['a list', [], 'body'],
  ['no JSON', '{', 'body'],
  ['an empty body', '', 'body'],
]
for (const [what, body, param] of faulty) {
  test(`4.4 and 7 registering with ${what} is invalid_params`, async () => {
    const { status, json } = await call('/webhooks/register', { method: 'POST', body })
    assert.deepEqual([status, json.error.code, json.error.param], [400, 'invalid_params', param])
  })
}

test('4.4 all faults are told at once', async () => {
  const { json } = await call('/webhooks/register', { body: { url: 1, events: ['x'], secret: '' } })
  const { details } = json.error as unknown as { details: { param: string }[] }
  assert.deepEqual(
    details.map(({ param }) => param),
    ['url', 'events[0]', 'secret'],
  )
})

test('4.4 unknown fields are ignored, and secrets of 1 and 4,096 bytes are taken', async () => {
  for (const secret of ['s', 's'.repeat(4096), '🔑 with blanks ']) {
    const { status, json, text } = await call('/webhooks/register', {
      body: { ...REGISTRATION, secret, colour: 'red' },
    })
    assert.equal(status, 200, text)
    await remove(json.webhookId)
  }
})

const OPERATIONS = [
  ['POST', '/webhooks/register'],
  ['GET', '/webhooks'],
  ['GET', `/webhooks/${UNKNOWN}`],
  ['GET', `/webhooks/${UNKNOWN}/deliveries`],
  ['DELETE', `/webhooks/${UNKNOWN}`],
  ['POST', `/webhooks/${UNKNOWN}/test`],
  ['POST', `/webhooks/${UNKNOWN}/rotate-secret`],
  ['POST', `/webhooks/${UNKNOWN}/enable`],
  ['POST', `/webhooks/${UNKNOWN}/recover`],
  ['GET', '/events'],
  ['GET', '/events/stream'],
  ['GET', '/events/evt_000000000000000000000000'],
  ['POST', '/events/evt_000000000000000000000000/redeliver'],
] as const

test('5 and 7 every operation is unauthorized without a key and forbidden without the scope', async () => {
  const { key } = await house.command(
    'key',
    'create',
    '--account',
    house.intl.accountId,
    '--mode',
    'test',
    '--scopes',
    'search,book,read',
  )
  for (const [method, path] of OPERATIONS) {
    const without = await call(path, { method, key: '', ...(method === 'POST' ? { body: '{' } : {}) })
    assert.deepEqual([without.status, without.json.error.code], [401, 'unauthorized'], `${method} ${path}`)
    const scopeless = await call(path, {
      method,
      key: String(key),
      ...(method === 'POST' ? { body: '{' } : {}),
    })
    assert.deepEqual([scopeless.status, scopeless.json.error.code], [403, 'forbidden'], `${method} ${path}`)
  }
})

test('4.5 deleting answers deleted, then not_found; no event comes any more', async () => {
  const { webhookId } = await register('/deleted')
  await booked()
  await received('/deleted')
  const first = await remove(webhookId)
  assert.equal(first.status, 200)
  const { requestId: _, ...json } = first.json
  assert.deepEqual(json, { status: 'ok', webhookId, deleted: true })
  const second = await remove(webhookId)
  assert.deepEqual([second.status, second.json.error.code], [404, 'not_found'])
  assert.equal((await call(`/webhooks/${webhookId}`)).status, 404)
  await booked()
  await sleep(300)
  assert.equal(receiver.of('/deleted').length, 1)
})

test('4.5 no attempt begins after the answer, with one in back-off and one on the wire', async () => {
  receiver.behave('/closing', response => setTimeout(() => response.writeHead(500).end(), 150))
  const { webhookId } = await register('/closing')
  await booked()
  await received('/closing')
  await booked()
  const { status: answered } = await remove(webhookId)
  const before = receiver.of('/closing').length
  assert.equal(answered, 200)
  await sleep(1_500)
  assert.equal(receiver.of('/closing').length, before)
})

test('4.5 a DELETE may come with any body or type: nothing of it is read', async () => {
  for (const headers of [{ 'content-type': 'application/json' }, { 'content-type': 'text/plain' }]) {
    const { webhookId } = await register('/bodied')
    const { status } = await call(`/webhooks/${webhookId}`, { method: 'DELETE', headers })
    assert.equal(status, 200)
    const { webhookId: other } = await register('/bodied')
    assert.equal((await call(`/webhooks/${other}`, { method: 'DELETE', body: '{', headers })).status, 200)
  }
})

test('4.5 and 7 a webhook of another account or mode is not_found on every operation, with the bytes of one that does not exist', async () => {
  const { webhookId } = await register('/owned')
  const others = [await stranger(), house.intl.live]
  const body = { since: new Date(Date.now() - 60_000).toISOString() }
  for (const [method, tail] of [
    ['GET', ''],
    ['GET', '/deliveries'],
    ['POST', '/test'],
    ['POST', '/rotate-secret'],
    ['POST', '/enable'],
    ['POST', '/recover'],
    ['DELETE', ''],
  ] as const) {
    const how = { method, ...(method === 'POST' ? { body } : {}) }
    const unknown = await call(`/webhooks/${UNKNOWN}${tail}`, how)
    assert.deepEqual([unknown.status, unknown.json.error.code], [404, 'not_found'], method + tail)
    for (const key of others) {
      const foreign = await call(`/webhooks/${webhookId}${tail}`, { ...how, key })
      assert.equal(foreign.status, 404, method + tail)
      assert.equal(withoutRequestId(foreign.text), withoutRequestId(unknown.text), method + tail)
    }
  }
  for (const id of ['x', 'whk_', `${webhookId}x`, webhookId.toLowerCase(), '%00', '..%2f', "'--", 'null']) {
    assert.equal((await remove(id)).status, 404, id)
  }
  for (const key of others) assert.deepEqual((await call('/webhooks', { key })).json.webhooks, [])
  assert.equal((await call(`/webhooks/${webhookId}`)).status, 200)
  await remove(webhookId)
})

test('6 an event is the contract’s body, signed over its raw bytes in both schemes', async () => {
  const { webhookId } = await register('/signed', { events: [...EVENT_TYPES] })
  const bookingId = await booked()
  const [receipt] = await received('/signed')
  assert.equal(receipt!.headers['content-type'], 'application/json')
  const own = createHmac('sha256', SECRET).update(receipt!.body).digest('hex')
  assert.equal(receipt!.headers['x-airside-signature'], own)
  verify(receipt!, SECRET)
  const body = JSON.parse(receipt!.body.toString('utf8'))
  assert.deepEqual(Object.keys(body), ['event', 'timestamp', 'data', 'id', 'version'])
  assert.equal(body.event, 'booking.confirmed')
  assert.match(body.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const { json } = await call(`/travel/booking/${bookingId}`)
  const booking = json as unknown as { bookingStatus: string; pnr: string; version: number }
  assert.deepEqual(body.data, { bookingId, bookingStatus: 'confirmed', pnr: booking.pnr })
  assert.equal(body.version, booking.version)
  assert.equal(receipt!.headers['webhook-id'], body.id)
  assert.equal(receipt!.headers['x-airside-attempt'], '1')
  await remove(webhookId)
})

test('6 without a secret there is no contract signature, and the standard’s is still there', async () => {
  const { webhookId, signatureHeader } = await register('/unsigned', { secret: undefined })
  assert.equal(signatureHeader, null)
  await booked()
  const [receipt] = await received('/unsigned')
  assert.equal(receipt!.headers['x-airside-signature'], undefined)
  assert.match(receipt!.headers['webhook-signature']!, /^v1,[0-9A-Za-z+/]{43}=$/)
  await remove(webhookId)
})

test('6 each of the four events comes with its own trigger, and only to those who asked for it', async () => {
  const all = await register('/all', { events: [...EVENT_TYPES] })
  const some = await register('/some', { events: ['booking.cancelled'] })
  for (const type of EVENT_TYPES) await house.command('trigger', type, '--key', house.intl.test)
  const receipts = await received('/all', 6)
  const seen = receipts.map(({ body }) => JSON.parse(body.toString('utf8')))
  const of = (type: string) => seen.filter(({ event }) => event === type)
  // A cancelled and an updated booking were confirmed before.
  assert.deepEqual(
    EVENT_TYPES.map(type => of(type).length),
    [3, 1, 1, 1],
  )
  assert.deepEqual(of('booking.failed')[0].data.bookingStatus, 'failed')
  assert.equal(of('booking.failed')[0].data.pnr, '')
  assert.deepEqual(of('booking.cancelled')[0].data.bookingStatus, 'cancelled')
  assert.deepEqual(of('booking.updated')[0].data.bookingStatus, 'confirmed')
  assert.deepEqual(
    (await received('/some')).map(({ body }) => JSON.parse(body.toString('utf8')).event),
    ['booking.cancelled'],
  )
  await remove(all.webhookId)
  await remove(some.webhookId)
})

test('6 and 8 only 200 acknowledges: up to three retries with the same bytes, then exhausted', async () => {
  receiver.behave('/failing', status(204))
  const { webhookId } = await register('/failing')
  await booked()
  const receipts = await received('/failing', 4)
  assert.deepEqual(
    receipts.map(({ headers }) => headers['x-airside-attempt']),
    ['1', '2', '3', '4'],
  )
  for (const receipt of receipts) {
    assert.deepEqual(receipt.body, receipts[0]!.body)
    assert.equal(receipt.headers['webhook-id'], receipts[0]!.headers['webhook-id'])
    verify(receipt, SECRET)
  }
  const exhausted = async () =>
    (await call(`/webhooks/${webhookId}/deliveries?state=exhausted`)).json.deliveries
  await until('the delivery is exhausted', async () => (await exhausted()).length === 1)
  const [delivery] = await exhausted()
  assert.deepEqual(
    delivery!.attempts.map(({ attempt, httpStatus, reason }) => [attempt, httpStatus, reason]),
    [1, 2, 3, 4].map(n => [n, 204, 'non_200_success']),
  )
  assert.equal(receiver.of('/failing').length, 4)
  await remove(webhookId)
})

test('6 a test event is a real signed delivery, marked, of the type that was asked for', async () => {
  const { webhookId } = await register('/tested', { events: ['booking.cancelled', 'booking.failed'] })
  for (const [body, type] of [
    [undefined, 'booking.cancelled'],
    [{ event: 'booking.updated' }, 'booking.updated'],
  ] as const) {
    const before = receiver.of('/tested').length
    const { json } = await call(`/webhooks/${webhookId}/test`, {
      method: 'POST',
      ...(body === undefined ? {} : { body }),
    })
    assert.equal(json.event, type)
    const receipt = (await received('/tested', before + 1))[before]!
    const sent = verify(receipt, SECRET)
    assert.deepEqual([sent.event, sent.id, sent.test], [type, json.eventId, true])
    const { json: kept } = await call(`/events/${json.eventId}`)
    assert.deepEqual([kept.test, kept.bookingId, kept.version], [true, null, null])
    assert.deepEqual(kept.payload, sent)
  }
  const wrong = await call(`/webhooks/${webhookId}/test`, { body: { event: 'booking.lost' } })
  assert.deepEqual([wrong.status, wrong.json.error.param], [400, 'event'])
  await remove(webhookId)
})

test('a body announced and not sent counts as none where it is optional', async () => {
  const { webhookId } = await register('/bodyless')
  for (const path of ['test', 'rotate-secret', 'enable']) {
    const { status, text } = await call(`/webhooks/${webhookId}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(status, 200, text)
  }
  await remove(webhookId)
})

test('rotation: both secrets sign while they overlap, in both schemes; after it only the new one', async () => {
  const { webhookId } = await register('/rotated')
  const { json } = await call(`/webhooks/${webhookId}/rotate-secret`, { body: {} })
  assert.match(json.secret!, /^whsec_[0-9A-Za-z+/]{43}=$/)
  const ends = Date.parse(json.previousSecretUntil!) - Date.now()
  assert.ok(Math.abs(ends - 24 * 3_600_000) < 60_000, `${ends}`)
  const next = json.secret!
  await booked()
  const [during] = await received('/rotated')
  assert.equal(during!.headers['webhook-signature']!.split(' ').length, 2)
  verify(during!, SECRET)
  verifyStandard(during!, next)
  const own = createHmac('sha256', next).update(during!.body).digest('hex')
  assert.equal(during!.headers['x-airside-signature-next'], own)
  assert.equal((await call(`/webhooks/${webhookId}`)).json.previousSecretUntil, json.previousSecretUntil)

  const third = 'my own secret, long enough'
  const { json: given, text } = await call(`/webhooks/${webhookId}/rotate-secret`, {
    body: { secret: third, overlapHours: 0 },
  })
  assert.equal(given.previousSecretUntil, null)
  assert.doesNotMatch(text, /my own secret/)
  await booked()
  const [, afterwards] = await received('/rotated', 2)
  assert.equal(afterwards!.headers['webhook-signature']!.split(' ').length, 1)
  assert.equal(afterwards!.headers['x-airside-signature-next'], undefined)
  verify(afterwards!, third)
  assert.throws(() => verifyStandard(afterwards!, SECRET))
  assert.throws(() => verifyStandard(afterwards!, next))
  for (const body of [{ overlapHours: 169 }, { overlapHours: -1 }, { overlapHours: 1.5 }, { secret: '' }]) {
    const { status } = await call(`/webhooks/${webhookId}/rotate-secret`, { body })
    assert.equal(status, 400, JSON.stringify(body))
  }
  await remove(webhookId)
})

test('a webhook registered without a secret is signed with the contract’s header once a rotation has told one', async () => {
  const { webhookId } = await register('/adopted', { secret: undefined })
  const { json } = await call(`/webhooks/${webhookId}/rotate-secret`, { body: { overlapHours: 0 } })
  await booked()
  verify((await received('/adopted'))[0]!, json.secret!)
  assert.equal((await call(`/webhooks/${webhookId}`)).json.signatureHeader, 'X-Airside-Signature')
  await remove(webhookId)
})

test('an event of another account or mode is not_found, and none of it is listed', async () => {
  const bookingId = await booked()
  const mine = (await call(`/events?bookingId=${bookingId}`)).json.events
  assert.equal(mine.length, 1)
  const id = mine[0]!.eventId
  const unknown = await call('/events/evt_000000000000000000000000')
  for (const key of [await stranger(), house.intl.live]) {
    assert.equal(
      withoutRequestId((await call(`/events/${id}`, { key })).text),
      withoutRequestId(unknown.text),
    )
    assert.equal((await call(`/events/${id}/redeliver`, { key, body: {} })).status, 404)
    assert.deepEqual((await call('/events', { key })).json.events, [])
    assert.equal((await call(`/events?cursor=${id}`, { key })).json.events.length, 0)
  }
  const { json } = await call(`/events/${id}`)
  assert.deepEqual([json.eventId, json.bookingId, json.payload.id], [id, bookingId, id])
})

test('secrets stand in no log', () => {
  assert.doesNotMatch(house.log() + house.output(), /MfKQ9r8GKYqr|my own secret|whsec_/)
})
