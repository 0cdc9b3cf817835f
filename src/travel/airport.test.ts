import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { airport, airports, greatCircleKm, place } from './airport.ts'
import { country } from './country.ts'
import airportTable from './reference/airports.json' with { type: 'json' }
import cityTable from './reference/cities.json' with { type: 'json' }
import { minuteOfMs, zoneOffset } from './time.ts'

const cities = cityTable.rows as [string, string, string[]][]
const offsetOn = (code: string, date: string) =>
  zoneOffset(airport(code)!.zone, minuteOfMs(Date.parse(`${date}T12:00Z`)))

test('an airport carries what a search needs', () => {
  assert.deepEqual(airport('JFK'), {
    code: 'JFK',
    name: 'John F. Kennedy International Airport',
    city: 'New York',
    country: 'US',
    latitude: 40.6423,
    longitude: -73.7882,
    zone: 'America/New_York',
    served: true,
  })
  assert.equal(airport('ZZZ'), undefined)
  assert.equal(airport('jfk'), undefined)
  assert.equal(airport('toString'), undefined)
})

test('every row is whole: code, country, place on earth, a zone that exists', () => {
  assert.ok(airports().length > 10_000)
  assert.ok(airports().filter(({ served }) => served).length > 4_500)
  assert.equal(new Set(airports().map(({ code }) => code)).size, airports().length)
  for (const { code, name, city, country: alpha2, latitude, longitude, zone } of airports()) {
    assert.match(code, /^[A-Z]{3}$/)
    assert.ok(name !== '' && city !== '', code)
    assert.ok(country(alpha2), `${code}: ${alpha2}`)
    assert.ok(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180, code)
    assert.doesNotThrow(() => zoneOffset(zone, 0), `${code}: ${zone}`)
  }
})

test('rows are sorted by code, so that a change of the data reads as one', () => {
  const codes = airportTable.rows.map(([code]) => code)
  assert.deepEqual(codes, codes.toSorted())
})

test('zones that single sources get wrong are right by their clocks', () => {
  assert.equal(airport('BSZ')!.zone, 'Asia/Bishkek')
  assert.deepEqual([offsetOn('LUZ', '2027-01-15'), offsetOn('LUZ', '2027-07-15')], [60, 120])
  assert.deepEqual([offsetOn('LHR', '2027-01-15'), offsetOn('LHR', '2027-07-15')], [0, 60])
  assert.deepEqual([offsetOn('JFK', '2027-01-15'), offsetOn('JFK', '2027-07-15')], [-300, -240])
  assert.deepEqual([offsetOn('SIN', '2027-01-15'), offsetOn('SIN', '2027-07-15')], [480, 480])
})

test('a city code means all its airports', () => {
  assert.deepEqual(place('LON'), { kind: 'city', airports: ['LHR', 'LGW', 'STN', 'LTN', 'LCY', 'SEN'] })
  assert.deepEqual(place('NYC'), { kind: 'city', airports: ['JFK', 'LGA', 'EWR'] })
  assert.deepEqual(place('PAR')!.kind, 'city')
  assert.equal(place('ZZZ'), undefined)
})

test('a code that is a city and an airport is the airport', () => {
  for (const code of ['BER', 'HOU', 'IST', 'KUL', 'SHA'])
    assert.deepEqual(place(code), { kind: 'airport', airports: [code] })
})

test('every city has served airports only, and a code that is no airport', () => {
  for (const [code, , codes] of cities) {
    assert.equal(airport(code), undefined, code)
    assert.ok(codes.length > 0, code)
    for (const each of codes) assert.ok(airport(each)?.served, `${code}: ${each}`)
  }
  const codes = cities.map(([code]) => code)
  assert.deepEqual(codes, [...new Set(codes)].toSorted())
})

test('great circles have their known lengths', () => {
  const between = (a: string, b: string) => {
    const [from, to] = [airport(a)!, airport(b)!]
    return greatCircleKm(from.latitude, from.longitude, to.latitude, to.longitude)
  }
  assert.equal(Math.round(between('LHR', 'JFK') / 10), 554)
  assert.equal(Math.round(between('SIN', 'EWR') / 10), 1534)
  // A quarter and a half of the circumference, and across the date line.
  assert.ok(Math.abs(greatCircleKm(0, 0, 90, 0) - (Math.PI / 2) * 6371) < 1e-6)
  assert.ok(Math.abs(greatCircleKm(0, 0, 0, 180) - Math.PI * 6371) < 1e-6)
  assert.ok(Math.abs(greatCircleKm(10, 179, 10, -179) - greatCircleKm(10, 1, 10, -1)) < 1e-6)
})

test('a distance is the same both ways, zero to itself, never more than half the circumference', () => {
  const degrees = fc.tuple(
    fc.double({ min: -90, max: 90, noNaN: true }),
    fc.double({ min: -180, max: 180, noNaN: true }),
  )
  fc.assert(
    fc.property(degrees, degrees, ([aLat, aLon], [bLat, bLon]) => {
      const km = greatCircleKm(aLat, aLon, bLat, bLon)
      assert.ok(km >= 0 && km <= Math.PI * 6371 + 1e-6)
      assert.ok(Math.abs(km - greatCircleKm(bLat, bLon, aLat, aLon)) < 1e-6)
      assert.equal(greatCircleKm(aLat, aLon, aLat, aLon), 0)
    }),
  )
})
