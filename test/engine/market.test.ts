import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FareRow } from '../../src/timetable/fares.ts'
import { findFlight } from '../../src/timetable/find.ts'
import { buildMarket, openMarket } from '../../src/timetable/market.ts'
import { priceClass, priceSegment, type Stall, seatsLeft } from '../../src/timetable/quote.ts'
import { createSold, type SoldAt, setClosed, setSold } from '../../src/timetable/sold.ts'
import { buildImage, type PlainFlight } from '../support/network.ts'

const DAY = 9_800
const BA15: PlainFlight = {
  carrier: 'BA',
  number: 15,
  suffix: '',
  from: 'LHR',
  to: 'SIN',
  firstDay: DAY,
  endDay: DAY + 10,
  weekdays: 127,
  departure: 1380,
  elapsed: 780,
  departureOffset: 60,
  arrivalOffset: 480,
  stops: 0,
  restriction: 0,
  operating: { carrier: 'BA', number: 15, suffix: '' },
  seats: [6, 4, -1],
  // 23:00 UTC is 00:00 of the next day in London.
  legs: [{ name: 'BA15/LHR', shift: 1 }],
}
const AIRPORTS = ['LHR', 'SIN', 'SYD'].map((code, i) => ({
  code,
  country: code,
  latitude: 0,
  longitude: i * 40,
}))
const ROW: FareRow = {
  carrier: '*',
  origin: '*',
  destination: '*',
  cabin: 'economy',
  bookingClass: 'Y',
  currency: 'USD',
  base: 50_000,
  perKm: { digits: 0n, scale: 0 },
  seats: 9,
}
const FARES: FareRow[] = [
  ROW,
  { ...ROW, bookingClass: 'M', base: 30_000, seats: 5 },
  { ...ROW, bookingClass: 'Q', currency: 'EUR', base: 20_000, seats: 2 },
  { ...ROW, bookingClass: 'F', cabin: 'first', base: 90_000 },
  { ...ROW, bookingClass: 'X', currency: 'VND', base: 1, seats: 9 },
]
const RATES: Record<string, number> = { USD: 100, EUR: 110 }

function stallOf(flights: PlainFlight[]): Stall {
  const timetable = buildImage({ airports: AIRPORTS, flights })
  const market = buildMarket(timetable, FARES, ({ minor, currency }) =>
    RATES[currency] === undefined ? undefined : minor * RATES[currency],
  )
  return { timetable, market, sold: createSold(16) }
}

test('a party takes the cheapest class that has seats for all of it', () => {
  const stall = stallOf([BA15])
  const classFor = (passengers: number) =>
    priceSegment(stall, 'live', 0, DAY, 'economy', passengers)?.bookingClass
  assert.deepEqual([1, 2, 3, 5, 6, 7].map(classFor), ['Q', 'Q', 'M', 'M', 'Y', undefined])
  assert.deepEqual(priceSegment(stall, 'live', 0, DAY, 'economy', 2), {
    rung: priceClass(stall, 'live', 0, DAY, 'economy', 'Q')!.rung,
    bookingClass: 'Q',
    fare: { minor: 20_000, currency: 'EUR' },
    referencePrice: 2_200_000,
    authorised: 2,
    seatsLeft: 2,
  })
})

test('seats sold count by the local day of the leg, by mode and by cabin', () => {
  const stall = stallOf([BA15])
  const left = (bookingClass: string, day = DAY) => seatsLeft(stall, 'live', 0, day, 'economy', bookingClass)
  const at: SoldAt = { mode: 'live', leg: 0, day: DAY + 1, cabin: 'economy' }
  setSold(stall.sold, at, 'M', 3)
  assert.deepEqual([left('Q'), left('M'), left('Y')], [2, 2, 3])
  assert.deepEqual([left('Q', DAY + 1), left('M', DAY - 1)], [2, 5])
  assert.equal(seatsLeft(stall, 'test', 0, DAY, 'economy', 'M'), 5)
  setSold(stall.sold, { ...at, cabin: 'business' }, 'M', 9)
  assert.equal(left('M'), 2)
  setSold(stall.sold, at, 'Y', 5)
  assert.equal(left('Y'), 0, 'never less than none')
  setSold(stall.sold, at, 'Y', 0)
  setClosed(stall.sold, at, true)
  assert.equal(left('Y'), 0)
  assert.equal(priceSegment(stall, 'live', 0, DAY, 'economy', 1), undefined)
})

test('a cabin without seats in the configuration, without fares or without a rate is not sold', () => {
  const stall = stallOf([BA15])
  assert.equal(priceSegment(stall, 'live', 0, DAY, 'first', 1), undefined)
  assert.equal(priceClass(stall, 'live', 0, DAY, 'first', 'F'), undefined)
  assert.equal(priceSegment(stall, 'live', 0, DAY, 'business', 1), undefined)
  assert.equal(priceClass(stall, 'live', 0, DAY, 'economy', 'X'), undefined)
  assert.deepEqual(stall.market.unrated, ['VND'])
})

test('a through flight has the seats of its fullest leg', () => {
  const onward = { ...BA15, from: 'SIN', to: 'SYD', legs: [{ name: 'BA15/SIN', shift: 1 }] }
  const through = { ...BA15, to: 'SYD', stops: 1, elapsed: 1400, legs: [...BA15.legs, ...onward.legs] }
  const stall = stallOf([BA15, onward, through])
  const legNamed = (name: string) =>
    stall.timetable.legName.findIndex(text => stall.timetable.text(text) === name)
  const find = (from: string, to: string) =>
    findFlight(stall.timetable, 'BA', 15, '', from, to, DAY * 1440 + 1380)!.flight
  setSold(stall.sold, { mode: 'live', leg: legNamed('BA15/SIN'), day: DAY + 1, cabin: 'economy' }, 'M', 4)
  const left = (from: string, to: string) => seatsLeft(stall, 'live', find(from, to), DAY, 'economy', 'M')
  assert.deepEqual([left('LHR', 'SIN'), left('SIN', 'SYD'), left('LHR', 'SYD')], [5, 1, 1])
})

test('a flight is found by its natural key and by no other', () => {
  const { timetable } = stallOf([
    BA15,
    { ...BA15, suffix: 'A' },
    { ...BA15, from: 'SIN', to: 'LHR', weekdays: 1 },
  ])
  const minute = (DAY + 2) * 1440 + 1380
  const found = findFlight(timetable, 'BA', 15, 'A', 'LHR', 'SIN', minute)!
  assert.equal(timetable.suffix[found.flight], 65)
  assert.equal(found.day, DAY + 2)
  assert.equal(timetable.suffix[findFlight(timetable, 'BA', 15, '', 'LHR', 'SIN', minute)!.flight], 0)
  for (const [carrier, number, from, to, at] of [
    ['AA', 15, 'LHR', 'SIN', minute],
    ['BA', 16, 'LHR', 'SIN', minute],
    ['BA', 15, 'LHR', 'SYD', minute],
    ['BA', 15, 'LHR', 'ZZZ', minute],
    ['BA', 15, 'LHR', 'SIN', minute + 1],
    ['BA', 15, 'LHR', 'SIN', minute + 10 * 1440],
  ] as const) {
    assert.equal(findFlight(timetable, carrier, number, '', from, to, at), undefined)
  }
  const mondays = [0, 1, 2, 3, 4, 5, 6].filter(d =>
    findFlight(timetable, 'BA', 15, '', 'SIN', 'LHR', minute + d * 1440),
  )
  assert.equal(mondays.length, 1)
})

test('a market opens from its buffer alone, and from nothing else', () => {
  const { market } = stallOf([BA15])
  const opened = openMarket(market.buffer)
  assert.deepEqual(opened.classReference, market.classReference)
  assert.deepEqual(opened.currencies, ['EUR', 'USD', 'VND'])
  assert.throws(() => openMarket(new SharedArrayBuffer(64)), /Not a market/)
  const cut = new SharedArrayBuffer(market.buffer.byteLength - 8)
  new Uint8Array(cut).set(new Uint8Array(market.buffer, 0, cut.byteLength))
  assert.throws(() => openMarket(cut), /cut short/)
})
