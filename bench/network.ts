/** What the search benchmark searches: a timetable from a file or generated, fares, and seats sold. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { compile } from '../src/timetable/compile.ts'
import type { FareRow } from '../src/timetable/fares.ts'
import { openImage, type Timetable } from '../src/timetable/image.ts'
import type { Market } from '../src/timetable/market.ts'
import { createSold, type Sold, setSold } from '../src/timetable/sold.ts'
import { ssimReader } from '../src/timetable/ssim.ts'
import { airports } from '../src/travel/airport.ts'
import { CABINS, type Cabin } from '../src/travel/itinerary.ts'
import { dayNumber } from '../src/travel/time.ts'
import { type Random, random } from '../test/support/random.ts'
import { worldSchedule } from './world.ts'

/** First day of the generated world. */
const GENERATED_FROM = dayNumber('2026-11-01')!

/** The timetable of an SSIM file (plain or gzip), or a generated one of the world's shape. */
export function loadTimetable(file: string | undefined, seed: number): Timetable {
  const text =
    file === undefined ? worldSchedule({ seed, today: GENERATED_FROM, scale: 1 }) : readFileSync(file)
  const reader = ssimReader()
  reader.push(text[0] === 0x1f && text[1] === 0x8b ? gunzipSync(text) : text)
  return openImage(compile([reader.end()], airports()).buffer)
}

/** Classes of a cabin, cheapest first: letter, factor on the cabin's price, seats. */
const CLASSES: Readonly<Record<Cabin, readonly (readonly [string, number, number])[]>> = {
  economy: [
    ['O', 0.5, 9],
    ['Q', 0.62, 12],
    ['L', 0.75, 20],
    ['M', 1, 40],
    ['B', 1.4, 60],
    ['Y', 2.1, 200],
  ],
  business: [
    ['Z', 2.6, 6],
    ['D', 3.4, 12],
    ['C', 4.4, 60],
    ['J', 5.2, 80],
  ],
  first: [
    ['A', 6.5, 4],
    ['F', 8.5, 14],
  ],
}
/** Share of routes on which one carrier has fares of its own, and of carriers with a level of their own. */
const ROUTES_APART = 0.05
const CARRIERS_APART = 0.8

/** Fares for every flight: a general ladder, most carriers with a level of their own, some routes with fares apart. */
export function inventFares(timetable: Timetable, seed: number): FareRow[] {
  const r = random(seed)
  const rows = ladder('*', '*', '*', 1, r)
  const carriers = [...new Set(timetable.carrier)].map(index => timetable.text(index)).sort()
  for (const carrier of carriers) {
    if (r.chance(CARRIERS_APART)) rows.push(...ladder(carrier, '*', '*', 0.6 + r.next(), r))
  }
  const code = (airport: number) => timetable.text(timetable.airportCode[airport]!)
  for (let route = 0; route < timetable.counts.routes; route++) {
    if (!r.chance(ROUTES_APART) || timetable.flightStart[route] === timetable.flightStart[route + 1]) continue
    const carrier = timetable.text(timetable.carrier[timetable.flightStart[route]!]!)
    const [from, to] = [code(timetable.routeFrom[route]!), code(timetable.routeTo[route]!)]
    rows.push(...ladder(carrier, from, to, 0.4 + r.next(), r))
  }
  return rows
}

function ladder(carrier: string, origin: string, destination: string, level: number, r: Random): FareRow[] {
  const currency = r.of(['USD', 'USD', 'EUR'])
  return CABINS.flatMap(cabin =>
    CLASSES[cabin].map(([bookingClass, factor, seats]) => ({
      carrier,
      origin,
      destination,
      cabin,
      bookingClass,
      currency,
      base: Math.round(4000 * level * factor),
      perKm: { digits: BigInt(Math.round(900 * level * factor)), scale: 4 },
      seats,
    })),
  )
}

/** Reference prices of the currencies in which fares are invented. */
export function inventedRate({ minor, currency }: { minor: number; currency: string }): number {
  return currency === 'EUR' ? Math.round(minor * 108.5) : minor * 100
}

/** Sales on half of all departures of some days: a random part of what each class has. */
export function sellHalf(
  timetable: Timetable,
  market: Market,
  firstDay: number,
  days: number,
  seed: number,
): Sold {
  const r = random(seed)
  const { counts } = timetable
  const sold = createSold(counts.legs * days * 2)
  const done = new Uint8Array(counts.legs)
  for (let flight = 0; flight < counts.flights; flight++) {
    const at = timetable.legStart[flight]!
    const leg = timetable.flightLeg[at]!
    if (timetable.legStart[flight + 1]! - at > 1 || done[leg] === 1) continue
    done[leg] = 1
    for (let day = firstDay; day < firstDay + days; day++) {
      if (!r.chance(0.5)) continue
      for (const [index, cabin] of CABINS.entries()) {
        const rung = CABINS.length * market.ladder[flight]! + index
        if (market.cheapest[index * counts.flights + flight] === Infinity) continue
        for (let c = market.ladderStart[rung]!; c < market.ladderStart[rung + 1]!; c++) {
          const letter = String.fromCharCode(market.classLetter[c]!)
          const seats = r.whole(0, market.classSeats[c]!)
          if (!setSold(sold, { mode: 'live', leg, day, cabin }, letter, seats))
            throw new Error('Table of seats is too small')
        }
      }
    }
  }
  return sold
}
