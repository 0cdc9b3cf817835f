import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { day, openPartner } from './support.ts'

const partner = await openPartner()
const { house, call, search } = partner
after(() => house.stop())

const minutes = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 60_000
const elapsed = (duration: string) => {
  const [, hours = '0', rest = '0'] = /^PT(?:(\d+)H)?(?:(\d+)M)?$/.exec(duration)!
  return Number(hours) * 60 + Number(rest)
}

test('2.2 the envelope counts its results, 1 to 50 of them', async () => {
  const { status, json } = await search()
  assert.equal(status, 200)
  assert.equal(json.status, 'ok')
  assert.equal(json.totalResults, json.results.length)
  assert.ok(json.results.length >= 1 && json.results.length <= 50)
})

test('1 the requestId is unique and the same in body and header', async () => {
  const answers = await Promise.all([search(), search(), search()])
  assert.equal(new Set(answers.map(({ json }) => json.requestId)).size, 3)
  for (const { json, headers } of answers) assert.equal(headers.get('x-request-id'), json.requestId)
})

test('2.1 the flat fields describe the way out from end to end', async () => {
  const { json } = await search({ destination: 'SYD', returnDate: day(40) })
  assert.ok(
    json.results.some(offer => offer.stops > 0),
    'journeys with connections are among them',
  )
  for (const offer of json.results) {
    assert.equal(offer.slices.length, 2)
    const [out, back] = offer.slices as [(typeof offer.slices)[0], (typeof offer.slices)[0]]
    const first = out.segments[0]!
    const last = out.segments.at(-1)!
    assert.equal(offer.carrier, first.marketingCarrier.name)
    assert.equal(offer.flightNumber, first.flightNumber)
    assert.match(offer.flightNumber, /^[0-9A-Z]{2}\d{1,4}[A-Z]?$/)
    assert.deepEqual([offer.origin, offer.destination], ['LHR', 'SYD'])
    assert.deepEqual([offer.departureTime, offer.arrivalTime], [first.departureTime, last.arrivalTime])
    assert.equal(elapsed(offer.duration), minutes(offer.departureTime, offer.arrivalTime))
    assert.equal(
      offer.stops,
      out.segments.reduce((sum, segment) => sum + segment.stops, out.segments.length - 1),
    )
    assert.deepEqual([back.origin, back.destination], ['SYD', 'LHR'])
    assert.ok(Date.parse(back.departureTime) > Date.parse(out.arrivalTime))
    assert.equal(offer.type, 'flight')
    for (const { segments } of offer.slices) {
      const places = [segments[0]!.origin, ...segments.map(segment => segment.destination)]
      assert.equal(new Set(places).size, places.length, 'no airport twice')
      assert.ok(segments.length <= 3)
      for (const [i, segment] of segments.entries()) {
        assert.equal(elapsed(segment.duration), minutes(segment.departureTime, segment.arrivalTime))
        if (i === 0) continue
        const wait = minutes(segments[i - 1]!.arrivalTime, segment.departureTime)
        assert.ok(wait >= 30 && wait <= 480, `waits ${wait} minutes`)
        assert.equal(segment.origin, segments[i - 1]!.destination)
      }
    }
  }
})

test('2.1 the price is per person and the total is for the party', async () => {
  const { json } = await search({ passengers: 3 })
  for (const { price, totalPrice, seatsAvailable } of json.results) {
    assert.equal(price.perPerson, true)
    assert.equal(Math.round(totalPrice.amount * 100), 3 * Math.round(price.amount * 100))
    assert.ok(seatsAvailable >= 3)
  }
})

test('2.1 an offer expires 15 minutes after the answer', async () => {
  const before = Date.now()
  const { json } = await search()
  for (const { expiresAt } of json.results) {
    const left = Date.parse(expiresAt) - before
    assert.ok(left >= 15 * 60_000 - 1_000 && left <= 15 * 60_000 + 5_000, `${left} ms`)
  }
})

test('4.1 one passenger, economy, one way and the currency of the region unless asked otherwise', async () => {
  const { json } = await search()
  const [first] = json.results
  assert.equal(first!.price.currency, 'USD')
  assert.deepEqual(first!.totalPrice.amount, first!.price.amount)
  assert.equal(first!.slices.length, 1)
  assert.ok(first!.slices[0]!.segments.every(({ cabin }) => cabin === 'economy'))
  const china = await search({}, { key: house.cn.test, base: house.cn.baseUrl })
  assert.equal(china.json.results[0]!.price.currency, 'CNY')
})

test('4.1 class and currency are honoured, amounts by the currency', async () => {
  const { json } = await search({ class: 'business', currency: 'JPY' })
  for (const { price, slices } of json.results) {
    assert.equal(price.currency, 'JPY')
    assert.ok(Number.isInteger(price.amount))
    assert.ok(slices.every(({ segments }) => segments.every(({ cabin }) => cabin === 'business')))
  }
})

test('4.1 the first departure is on the day at the origin', async () => {
  const { json } = await search({ origin: 'SYD', destination: 'LAX' })
  for (const { departureTime } of json.results) assert.equal(departureTime.slice(0, 10), day(30))
})

test('4.1 a city stands for all its airports', async () => {
  const { status, json } = await search({ origin: 'LON', destination: 'NYC' })
  assert.equal(status, 200)
  for (const { origin, destination } of json.results) {
    assert.ok(['LHR', 'LGW', 'STN', 'LTN', 'LCY', 'SEN'].includes(origin), origin)
    assert.ok(['JFK', 'EWR', 'LGA', 'SWF', 'ISP'].includes(destination), destination)
  }
})

test('4.1 a request field that we do not know is ignored', async () => {
  assert.equal((await search({ loyaltyNumber: 7, nested: { deep: [1] } })).status, 200)
})

test('4.1 best first: the order is the documented one', async () => {
  const { json } = await search({ destination: 'SYD' })
  const points = json.results.map(
    ({ price, duration, stops }) => 4 * price.amount + elapsed(duration) + 60 * stops,
  )
  for (let i = 1; i < points.length; i++)
    assert.ok(points[i]! >= points[i - 1]! - 0.1, `${points[i - 1]} before ${points[i]} at ${i}`)
})

const refused: [string, Record<string, unknown>, string][] = [
  ['an unknown airport', { origin: 'XXX' }, 'origin'],
  ['an unknown airport', { destination: 'QXX' }, 'destination'],
  ['the same place', { destination: 'LHR' }, 'destination'],
  ['a city against its own airport', { destination: 'LON' }, 'destination'],
  ['yesterday', { departDate: day(-2) }, 'departDate'],
  ['362 days ahead and more', { departDate: day(364) }, 'departDate'],
  ['a return before the departure', { returnDate: day(29) }, 'returnDate'],
  ['a return beyond 361 days', { returnDate: day(364) }, 'returnDate'],
  ['an unknown currency', { currency: 'XXQ' }, 'currency'],
  ['ten passengers', { passengers: 10 }, 'passengers'],
  ['no passenger', { passengers: 0 }, 'passengers'],
  ['an unknown class', { class: 'premium' }, 'class'],
]
for (const [what, some, param] of refused) {
  test(`7 search refuses ${what}: invalid_params names ${param}`, async () => {
    const { status, json } = await search(some)
    assert.equal(status, 400)
    assert.equal(json.error.code, 'invalid_params')
    assert.equal(json.error.param, param)
    assert.ok(json.error.details?.some(detail => detail.param === param))
  })
}

test('7 nothing found is no_results', async () => {
  const { status, json } = await search({ origin: 'AAB', destination: 'ADK' })
  assert.equal(status, 422)
  assert.equal(json.error.code, 'no_results')
})

test('7 rate_limited beyond the allowance, with Retry-After, and free again after it', async () => {
  const limited = await openPartner({ AIRSIDE_LIMITS: 'search.test=2/2s' })
  try {
    const answers = [await limited.search(), await limited.search(), await limited.search()]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 429],
    )
    const { headers, json } = answers[2]!
    assert.equal(json.error.code, 'rate_limited')
    assert.equal(json.error.retryable, true)
    assert.match(headers.get('ratelimit-policy')!, /^"search";q=2;w=2$/)
    assert.match(headers.get('ratelimit')!, /^"search";r=0;t=[12]$/)
    assert.equal((await limited.call('/travel/search', { body: '{' })).status, 429, '429 comes before 400')
    assert.equal(
      (await limited.search({}, { key: limited.house.intl.live })).status,
      200,
      'live has an allowance of its own',
    )
    await sleep(Number(headers.get('retry-after')) * 1000 + 50)
    assert.equal((await limited.search()).status, 200)
  } finally {
    await limited.house.stop()
  }
})

test('8 nine passengers travel together, and no part of one', async () => {
  const { json } = await search({ passengers: 9 })
  assert.ok(json.results.every(({ seatsAvailable }) => seatsAvailable >= 9))
  assert.equal(
    (
      await call('/travel/search', {
        body: { origin: 'LHR', destination: 'SIN', departDate: day(30), passengers: 9.5 },
      })
    ).status,
    400,
  )
})
