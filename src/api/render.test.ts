import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BookingAnswer, BookingsAnswer, SearchAnswerBody } from './answer.ts'
import { EXAMPLE_BOOKING, EXAMPLE_OFFER } from './reference/example.ts'
import { renderBooking, renderBookings, renderSearch } from './render.ts'

const REQUEST = 'req_000000000000000000000000'
const segment = EXAMPLE_OFFER.slices[0]!.segments[0]!

test('status and requestId come first, and warnings only when there are some', () => {
  const quiet = renderSearch({ offers: [], warnings: [] }, REQUEST)
  assert.equal(quiet, `{"status":"ok","requestId":"${REQUEST}","results":[],"totalResults":0}`)
  const loud = renderSearch(
    { offers: [EXAMPLE_OFFER], warnings: [{ code: 'demo_rates', message: 'Invented.' }] },
    REQUEST,
  )
  assert.deepEqual(SearchAnswerBody.parse(JSON.parse(loud)).warnings, [
    { code: 'demo_rates', message: 'Invented.' },
  ])
})

test('the flat fields are those of the way out, through its connections', () => {
  const later = (minutes: number) => ({ ...segment.departure, minute: segment.departure.minute + minutes })
  const out = {
    segments: [
      { ...segment, stops: 1, arrival: { ...later(300), airport: 'DXB', offset: 240, terminal: '' } },
      {
        ...segment,
        carrier: 'SQ',
        number: '495',
        departure: { ...later(400), airport: 'DXB', offset: 240 },
        arrival: { ...later(830), airport: 'SIN', offset: 480, terminal: '' },
      },
    ],
  }
  const back = {
    segments: [
      {
        ...segment,
        departure: { ...later(9000), airport: 'SIN' },
        arrival: { ...later(9800), airport: 'LHR' },
      },
    ],
  }
  const { results } = SearchAnswerBody.parse(
    JSON.parse(renderSearch({ offers: [{ ...EXAMPLE_OFFER, slices: [out, back] }], warnings: [] }, REQUEST)),
  )
  const { carrier, flightNumber, origin, destination, departureTime, arrivalTime, duration, stops, slices } =
    results[0]!
  assert.deepEqual(
    { carrier, flightNumber, origin, destination, departureTime, arrivalTime, duration, stops },
    {
      carrier: 'British Airways',
      flightNumber: 'BA15',
      origin: 'LHR',
      destination: 'SIN',
      departureTime: '2027-03-28T21:05:00+01:00',
      arrivalTime: '2027-03-29T17:55:00+08:00',
      duration: 'PT13H50M',
      stops: 2,
    },
  )
  assert.equal(slices.length, 2)
  assert.equal(
    'arrivalTerminal' in slices[0]!.segments[0]!,
    false,
    'a terminal that nobody knows is left out',
  )
})

test('amounts have the decimals of their currency', () => {
  for (const [currency, minor, amount] of [
    ['JPY', 61_240, 61_240],
    ['KWD', 61_240, 61.24],
    ['USD', 1, 0.01],
  ] as const) {
    const price = { minor, currency }
    const { results } = SearchAnswerBody.parse(
      JSON.parse(
        renderSearch(
          { offers: [{ ...EXAMPLE_OFFER, perPerson: price, total: price }], warnings: [] },
          REQUEST,
        ),
      ),
    )
    assert.deepEqual(results[0]!.price, { amount, currency, perPerson: true })
  }
})

test('an erased document leaves no trace of itself', () => {
  const erased = {
    ...EXAMPLE_BOOKING,
    travellers: [{ ...EXAMPLE_BOOKING.travellers[0]!, document: undefined }],
  }
  const { passengers } = BookingAnswer.parse(JSON.parse(renderBooking(erased, REQUEST)))
  assert.deepEqual(passengers, [{ firstName: 'Ada', lastName: 'Byron', dateOfBirth: '1990-12-10' }])
})

test('a pending booking has an empty locator; a last page has no cursor', () => {
  const pending = { ...EXAMPLE_BOOKING, status: 'pending' as const, recordLocator: '' }
  assert.equal(BookingAnswer.parse(JSON.parse(renderBooking(pending, REQUEST))).pnr, '')
  assert.equal(
    BookingsAnswer.parse(JSON.parse(renderBookings([pending], undefined, REQUEST))).nextCursor,
    null,
  )
  assert.equal(BookingsAnswer.parse(JSON.parse(renderBookings([], 'next', REQUEST))).nextCursor, 'next')
})
