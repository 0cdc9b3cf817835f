import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, engineOf } from '../support/ask-engine.ts'
import type { PlainAirport, PlainFlight } from '../support/network.ts'
import { CABIN_NAMES, type PlainQuery, type PlainWorld, soldKey, tryEverything } from '../support/oracle.ts'
import { type Random, random } from '../support/random.ts'

const AIRPORTS = 500
const HUBS = 20
const FLIGHTS = 4_000
const DAY = 10_000
const QUERIES = 80
const CARRIERS = ['AA', 'BB', 'CC', 'DD', 'EE', 'FF', 'GG', 'HH']

test(`${AIRPORTS} airports, ${FLIGHTS} flights: the same 50 options as trying everything`, t => {
  const r = random(500)
  const world = hubWorld(r)
  const engine = engineOf(world)
  let options = 0
  let full = 0
  for (let q = 0; q < QUERIES; q++) {
    const query = question(r, world)
    const found = ask(engine, query)
    assert.deepEqual(found, tryEverything(world, query), `query ${q}: ${JSON.stringify(query)}`)
    options += found.length
    if (found.length === 50) full++
  }
  t.diagnostic(`${options} options, ${full} full lists`)
  assert.ok(full > QUERIES / 4, 'too few lists were full')
})

/** Spokes fly to the nearest hubs, hubs to each other: few direct flights, very many connections. */
function hubWorld(r: Random): PlainWorld {
  const airports: PlainAirport[] = Array.from({ length: AIRPORTS }, (_, i) => ({
    code: i
      .toString(26)
      .padStart(3, '0')
      .replace(/./g, c => String.fromCharCode(65 + Number.parseInt(c, 26))),
    country: `C${i % 12}`,
    latitude: r.next() * 50,
    longitude: r.next() * 80,
  }))
  const flights = Array.from({ length: FLIGHTS }, (_, i): PlainFlight => {
    const hub = airports[r.whole(0, HUBS - 1)]!
    let other = airports[r.chance(0.35) ? r.whole(0, HUBS - 1) : r.whole(0, AIRPORTS - 1)]!
    while (other === hub) other = r.of(airports)
    const [from, to] = r.chance(0.5) ? [hub, other] : [other, hub]
    const offset = (airport: PlainAirport) => Math.round(airport.longitude / 15) * 60
    const departure = r.whole(0, 287) * 5
    const operating = { carrier: r.of(CARRIERS), number: i + 1, suffix: '' }
    const distance = Math.hypot(from.latitude - to.latitude, from.longitude - to.longitude) * 100
    return {
      ...operating,
      operating,
      from: from.code,
      to: to.code,
      firstDay: DAY - 20,
      endDay: DAY + 30,
      weekdays: r.chance(0.7) ? 127 : r.whole(1, 127),
      departure,
      elapsed: 35 + Math.round(distance / 13),
      departureOffset: offset(from),
      arrivalOffset: offset(to),
      stops: 0,
      restriction: 0,
      seats: [180, r.chance(0.5) ? 20 : -1, r.chance(0.2) ? 8 : -1],
      legs: [
        {
          name: `${operating.carrier}${operating.number}/${from.code}`,
          shift: Math.floor((departure + offset(from)) / 1440),
        },
      ],
    }
  })
  const sold = new Map<string, Map<string, number>>()
  for (const { legs } of flights) {
    for (let day = DAY - 2; day < DAY + 10; day++) {
      if (r.chance(0.2))
        sold.set(soldKey('live', legs[0]!.name, day, 'economy'), new Map([['Q', r.whole(0, 9)]]))
    }
  }
  return {
    network: { airports, flights },
    fares: ['*', ...CARRIERS.slice(2)].flatMap(carrier =>
      CABIN_NAMES.flatMap((cabin, c) =>
        ['Q', 'M', 'Y'].map((bookingClass, i) => ({
          carrier,
          origin: '*',
          destination: '*',
          cabin,
          bookingClass,
          currency: 'USD',
          base: (c + 1) * r.whole(2000, 6000) * (i + 1),
          perKm: ['0.06', '0.09', '0.2'][i]!,
          seats: 9 * (i + 1),
        })),
      ),
    ),
    rates: { USD: { exponent: 2, parts: 100 } },
    sold,
    rules: {
      minimum: { DD: 30, DI: 60, ID: 90, II: 90 },
      longest: 480,
      connections: 2,
      offers: 50,
      exceptions: [],
    },
  }
}

function question(r: Random, { network }: PlainWorld): PlainQuery {
  const served = network.flights.map(flight => flight.from)
  const from = r.of(served)
  const to = r.of(served.filter(code => code !== from))
  const departDay = DAY + r.whole(0, 2)
  return {
    mode: 'live',
    origins: [from],
    destinations: [to],
    departDay,
    ...(r.chance(0.2) ? { returnDay: departDay + r.whole(1, 4) } : {}),
    passengers: r.of([1, 1, 2, 4, 9]),
    cabin: r.of(['economy', 'economy', 'economy', 'business', 'first']),
  }
}
