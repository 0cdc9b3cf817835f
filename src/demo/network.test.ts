import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ssimReader } from '../timetable/ssim.ts'
import { aircraftType } from '../travel/aircraft.ts'
import { airport, greatCircleKm } from '../travel/airport.ts'
import { dateOf, dayNumber, weekday } from '../travel/time.ts'
import { demoSchedule } from './network.ts'
import { DEMO_CARRIERS } from './routes.ts'

const today = dayNumber('2026-11-21')!
const bytes = demoSchedule(today)
const records = new TextDecoder().decode(bytes).trimEnd().split('\n')
const legs = records.filter(record => record[0] === '3').map(legOf)

/** The fields of a leg record, cut out by the manual's byte numbers and not by the project's reader. */
function legOf(record: string) {
  const bytesOf = (from: number, to: number) => record.slice(from - 1, to)
  const clock = (from: number) => Number(bytesOf(from, from + 1)) * 60 + Number(bytesOf(from + 2, from + 3))
  const offset = (from: number) => (bytesOf(from, from) === '-' ? -1 : 1) * clock(from + 1)
  const variation = (at: number) => (bytesOf(at, at) === 'A' ? -1 : Number(bytesOf(at, at)))
  const departureDays = variation(193)
  return {
    designator: bytesOf(3, 5).trim() + Number(bytesOf(6, 9)),
    carrier: bytesOf(3, 5).trim(),
    itinerary: Number(bytesOf(10, 11)),
    sequence: Number(bytesOf(12, 13)),
    from: dayOf(bytesOf(15, 21)),
    to: dayOf(bytesOf(22, 28)),
    days: [...bytesOf(29, 35)].flatMap((digit, i) => (digit === ' ' ? [] : [i])),
    origin: bytesOf(37, 39),
    departure: clock(40),
    departureOffset: offset(48),
    destination: bytesOf(55, 57),
    arrival: clock(58),
    arrivalOffset: offset(66),
    aircraft: bytesOf(73, 75),
    disclosure: bytesOf(149, 149),
    departureDays,
    arrivalDays: variation(194),
    /** Days between the leg's own departure and its arrival. */
    overnight: variation(194) - departureDays,
  }
}

type Leg = ReturnType<typeof legOf>

function dayOf(ddmmmyy: string): number {
  const months = 'JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC'
  const month = String(months.indexOf(ddmmmyy.slice(2, 5)) / 3 + 1).padStart(2, '0')
  return dayNumber(`20${ddmmmyy.slice(5)}-${month}-${ddmmmyy.slice(0, 2)}`)!
}

const datesOf = (leg: Leg) =>
  Array.from({ length: leg.to - leg.from + 1 }, (_, i) => leg.from + i).filter(day =>
    leg.days.includes(weekday(day)),
  )

const elapsed = (leg: Leg) =>
  leg.overnight * 1440 + leg.arrival - leg.arrivalOffset - leg.departure + leg.departureOffset

const kmOf = (leg: Leg) => {
  const [a, b] = [airport(leg.origin)!, airport(leg.destination)!]
  return greatCircleKm(a.latitude, a.longitude, b.latitude, b.longitude)
}

test('records have 200 bytes and come in blocks of five', () => {
  assert.ok(records.every(record => record.length === 200))
  assert.equal(records.length % 5, 0)
  assert.equal(bytes.length, records.length * 201)
})

test('the same day gives the same bytes', () => {
  assert.ok(Buffer.from(bytes).equals(demoSchedule(today)))
  assert.ok(!Buffer.from(bytes).equals(demoSchedule(today + 1)))
})

test('the reader finds no fault and nothing dubious, in any season', () => {
  for (const date of ['2026-11-21', '2027-03-14', '2027-10-31', '2028-02-29']) {
    const reader = ssimReader()
    reader.push(demoSchedule(dayNumber(date)!))
    assert.deepEqual(reader.end().warnings, [], date)
  }
})

test('airports and aircraft types are known, carriers are nobody’s', () => {
  for (const leg of legs) {
    assert.ok(airport(leg.origin) && airport(leg.destination), `${leg.origin} ${leg.destination}`)
    assert.ok(aircraftType(leg.aircraft), leg.aircraft)
  }
  assert.ok(new Set(legs.map(leg => leg.origin)).size >= 60)
  // Letters of living airlines that come near to the demo's, and the largest ones.
  const living = new Set(
    'QB QC QD QE QF QG QH QI QK QL QM QN QO QP QQ QR QS QT QU QV QW QX QY QZ AA AC AF AI AM AV AY AZ BA CA CX CZ DL EK ET EY FR HU IB JL JQ KE KL LA LH LX MH MU NH NZ OS OZ SA SK SQ SU SV TG TK TP U2 UA VA VN VS W6 WN EI E9 I9 J2 J4 J5 J7 J9 M7 M9 N0 N8 XQ XE XJ XK XL XM XN XP XY XZ'.split(
      ' ',
    ),
  )
  for (const { code } of DEMO_CARRIERS) assert.ok(!living.has(code), code)
})

test('every UTC variation is the zone’s on each of its dates', () => {
  let checked = 0
  for (const leg of legs) {
    for (const day of datesOf(leg)) {
      const at = (code: string, local: number, offset: number) => {
        const instant = Temporal.Instant.from('2000-01-01T00:00Z').add({ minutes: local - offset })
        return instant.toZonedDateTimeISO(airport(code)!.zone).offsetNanoseconds / 60e9
      }
      // All dates near the edges, where an offset would be wrong first, and some between.
      if (day - leg.from > 2 && leg.to - day > 2 && day % 29 !== 0) continue
      checked++
      assert.equal(
        at(leg.origin, day * 1440 + leg.departure, leg.departureOffset),
        leg.departureOffset,
        `${leg.designator} ${leg.origin} ${dateOf(day)}`,
      )
      assert.equal(
        at(leg.destination, (day + leg.overnight) * 1440 + leg.arrival, leg.arrivalOffset),
        leg.arrivalOffset,
        `${leg.designator} ${leg.destination} ${dateOf(day)}`,
      )
    }
  }
  assert.ok(checked > 10_000)
})

test('block times fit the distances', () => {
  for (const leg of legs) {
    const [km, minutes] = [kmOf(leg), elapsed(leg)]
    const speed = km / (minutes / 60)
    assert.ok(minutes >= 40 && minutes <= 19 * 60, `${leg.designator} ${minutes} min`)
    if (km > 1000)
      assert.ok(speed > 450 && speed < 950, `${leg.designator} ${leg.origin} ${leg.destination} ${speed}`)
  }
})

test('a designator leaves its origin once a day, every day that can be searched', () => {
  const seen = new Set<string>()
  const perDay = new Map<number, number>()
  for (const leg of legs) {
    for (const day of datesOf(leg)) {
      const key = `${leg.designator} ${leg.origin} ${day}`
      assert.ok(!seen.has(key), key)
      seen.add(key)
      if (leg.disclosure === ' ') perDay.set(day, (perDay.get(day) ?? 0) + 1)
    }
  }
  for (let day = today - 1; day <= today + 365; day++) {
    const flights = perDay.get(day) ?? 0
    assert.ok(flights > 600 && flights < 800, `${flights} flights on ${dateOf(day)}`)
  }
})

test('flights over two legs keep their aircraft between 40 minutes and 5 hours on the ground', () => {
  const second = legs.filter(leg => leg.sequence === 2)
  assert.ok(second.length > 0)
  for (const leg of second) {
    const first = legs.find(
      l => l.designator === leg.designator && l.itinerary === leg.itinerary && l.sequence === 1,
    )!
    assert.equal(first.destination, leg.origin)
    const days = datesOf(leg).map(day => day - leg.departureDays)
    assert.deepEqual(days, datesOf(first))
    assert.equal(first.arrivalOffset, leg.departureOffset)
    const ground = (leg.departureDays - first.arrivalDays) * 1440 + leg.departure - first.arrival
    assert.ok(ground >= 40 && ground <= 300, `${leg.designator} ${ground} min`)
  }
})

test('the date line and the clocks have their say', () => {
  const between = (origin: string, destination: string) =>
    legs.filter(leg => leg.origin === origin && leg.destination === destination)
  for (const origin of ['SYD', 'AKL'])
    assert.ok(
      between(origin, 'HNL').every(leg => leg.overnight === -1),
      `${origin}–HNL arrives the day before`,
    )
  const home = between('NRT', 'LAX')
  assert.ok(
    home.some(leg => leg.overnight === 0 && leg.arrival < leg.departure),
    'NRT–LAX arrives before it left',
  )
  assert.ok(
    between('LAX', 'AKL').every(leg => leg.overnight === 2),
    'LAX–AKL arrives two days after',
  )
  assert.ok(
    between('JFK', 'LHR').some(leg => leg.overnight === 1),
    'JFK–LHR flies overnight',
  )
  const trunk = between('LHR', 'JFK').filter(
    leg => leg.disclosure === ' ' && leg.from <= today && leg.to >= today,
  )
  assert.ok(trunk.length >= 4)
  const kathmandu = between('DXB', 'KTM')
  assert.ok(kathmandu.length > 0 && kathmandu.every(leg => leg.arrivalOffset === 345))
  // New York and London change their clocks on different Sundays: more than two records a year.
  assert.ok(legs.filter(leg => leg.designator === 'QA1').length >= 4)
})

test('a codeshare names its operator, and the operating flight its other numbers', () => {
  const shared = records.flatMap((record, i) => (record[0] === '3' && record[148] === 'L' ? [i] : []))
  assert.ok(shared.length > 0)
  for (const i of shared) {
    const element = records[i + 1]!
    assert.equal(element.slice(0, 1) + element.slice(28, 33), '4AB050')
    const [carrier, number] = [element.slice(39, 41), element.slice(42, 46)]
    assert.equal(records[i]!.slice(128, 130), carrier)
    const operating = records.findIndex(
      r =>
        r[0] === '3' &&
        r.slice(2, 4) === carrier &&
        r.slice(5, 9) === number &&
        r.slice(9, 11) === records[i]!.slice(9, 11),
    )
    assert.ok(records[operating + 1]!.startsWith('010', 30), 'the operating leg lists its partners')
    assert.ok(records[operating + 1]!.includes(records[i]!.slice(2, 9)))
    assert.equal(records[operating]!.slice(13, 72), records[i]!.slice(13, 72))
  }
})

test('every airport reaches every other with two connections at most', () => {
  const from = new Map<string, Set<string>>()
  for (const leg of legs) from.set(leg.origin, (from.get(leg.origin) ?? new Set()).add(leg.destination))
  for (const origin of from.keys()) {
    let reached = new Set([origin])
    for (let segment = 1; segment <= 3; segment++)
      reached = new Set([...reached].flatMap(a => [a, ...from.get(a)!]))
    for (const destination of from.keys()) assert.ok(reached.has(destination), `${origin}–${destination}`)
  }
  assert.ok(
    from.get('NAN')!.has('AKL') && !from.get('NAN')!.has('LHR'),
    'a village is two connections from London',
  )
})
