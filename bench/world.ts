/**
 * A generated world of schedules for benchmarks where no file of real ones is given: real airports, invented flights, and the shape of the
 * world's network – few airports with very many routes, many with few, most pairs with one flight a day.
 */
import { blockMinutes } from '../src/demo/block-time.ts'
import { randomFrom } from '../src/demo/random.ts'
import { clocks, laterWeekdays, variations } from '../src/demo/variation.ts'
import { ssimWriter } from '../src/timetable/ssim-writer.ts'
import type { Airport } from '../src/travel/airport.ts'
import { MINUTES_A_DAY, zoneOffset } from '../src/travel/time.ts'
import { busiestAirports } from './world-airports.ts'
import { type Pair, worldPairs } from './world-pairs.ts'

/** A flight number: its airports, and a local departure at each but the last. */
type Flight = {
  carrier: number
  weekdays: number
  airports: Airport[]
  departures: number[]
  aircraft: string
}

const AIRPORTS = 2030
const DAYS_AHEAD = 363
const DAILY = 0b1111111

/**
 * SSIM text of a year from the day before `today` (a day number of travel/time): about 50,000 flights a day between 2,030 airports at `scale`
 * 1; the scale multiplies airports and flights alike, as far as there are airports. Equal arguments give equal bytes.
 */
export function worldSchedule({
  seed,
  today,
  scale,
}: {
  seed: number
  today: number
  scale: number
}): Uint8Array {
  const random = randomFrom(seed + 1)
  const airports = busiestAirports(Math.max(20, Math.round(AIRPORTS * scale)), seed)
  const carriersOf = carrierBases(airports)
  const single = worldPairs(airports, seed).flatMap(pair => pairFlights(pair, airports, carriersOf, random))
  const from = today - 1
  const to = today + DAYS_AHEAD
  const clockOf = clocks(from, to)
  const byCarrier = Map.groupBy(chained(single, random), flight => flight.carrier)
  const writer = ssimWriter()
  for (const [carrier, flights] of [...byCarrier].sort(([a], [b]) => a - b)) {
    const code = carrierCode(carrier)
    writer.carrier({ carrier: code, from, to, title: 'GENERATED FOR BENCHMARKS' })
    flights.forEach((flight, f) => {
      const legs = flight.departures.map((departure, i) => ({
        originZone: flight.airports[i]!.zone,
        destinationZone: flight.airports[i + 1]!.zone,
        departure,
        blockMinutes: blockMinutes(flight.airports[i]!, flight.airports[i + 1]!),
      }))
      variations(legs, from, to, flight.weekdays, clockOf).forEach((variation, v) => {
        variation.legs.forEach((times, i) => {
          writer.leg({
            carrier: code,
            number: f + 1,
            variation: v + 1,
            sequence: i + 1,
            from: variation.from + times.departureDays,
            to: variation.to + times.departureDays,
            weekdays: laterWeekdays(variation.weekdays, times.departureDays),
            origin: flight.airports[i]!.code,
            departure: flight.departures[i]!,
            departureOffset: times.departureOffset,
            destination: flight.airports[i + 1]!.code,
            arrival: times.arrival,
            arrivalOffset: times.arrivalOffset,
            aircraft: flight.aircraft,
            configuration: configuration(carrier, flight.aircraft),
            departureDays: times.departureDays,
            arrivalDays: times.arrivalDays,
          })
        })
      })
    })
  }
  return new TextEncoder().encode(writer.end())
}

const CARRIERS = 208

/** `2A` to `9Z`. */
function carrierCode(carrier: number): string {
  return `${2 + Math.floor(carrier / 26)}${String.fromCharCode(65 + (carrier % 26))}`
}

/** Carriers by country, each at home at one of the large airports. */
function carrierBases(airports: readonly Airport[]): (country: string) => readonly number[] {
  const bases = new Map<string, number[]>()
  for (let carrier = 0; carrier < CARRIERS; carrier++) {
    const { country } = airports[Math.floor(airports.length * 0.12 * (carrier / CARRIERS) ** 1.3)]!
    const known = bases.get(country)
    if (known === undefined) bases.set(country, [carrier])
    else known.push(carrier)
  }
  return country => bases.get(country) ?? []
}

/** Share of departures by local hour, from 05 to 23. */
const HOURS = [2, 6, 7, 7, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 6, 5, 3, 2, 1]
const HOURS_TOTAL = HOURS.reduce((sum, share) => sum + share, 0)

/** Local minute of the day below which a share of the departures lies. */
function departureAt(share: number): number {
  let left = share * HOURS_TOTAL
  let hour = 0
  while (hour < HOURS.length - 1 && left >= HOURS[hour]!) left -= HOURS[hour++]!
  return 5 * Math.floor(((5 + hour) * 60 + Math.min(0.999, left / HOURS[hour]!) * 60) / 5)
}

const SPLITS = [0b0010101, 0b1010101, 0b0001111, 0b0110110, 0b0001010] as const

/** Weekdays of the flight numbers that share one daily service; a pair with one service may not have it every day. */
function serviceDays(flights: number, random: () => number): number[] {
  const style = random()
  const some = SPLITS[Math.floor(random() * SPLITS.length)]!
  if (style < (flights === 1 ? 0.42 : 0.64)) return [DAILY]
  return style < (flights === 1 ? 0.54 : 0.92) ? [some, DAILY ^ some] : [random() < 0.6 ? some : DAILY ^ some]
}

function pairFlights(
  pair: Pair,
  airports: readonly Airport[],
  carriersOf: (country: string) => readonly number[],
  random: () => number,
): Flight[] {
  const [a, b] = [airports[pair.a]!, airports[pair.b]!]
  const candidates = [...carriersOf(a.country), ...carriersOf(b.country)]
  // The square makes some carriers of a country much larger than the others.
  const anyCarrier = () =>
    candidates[Math.floor(random() ** 2 * candidates.length)] ?? Math.floor(random() * CARRIERS)
  const main = anyCarrier()
  const flights: Flight[] = []
  for (let i = 0; i < pair.flights; i++) {
    const carrier = i > 0 && random() < 0.22 ? anyCarrier() : main
    const aircraft = aircraftFor(pair.km, pair.flights, random())
    for (const weekdays of serviceDays(pair.flights, random)) {
      for (const way of [
        [a, b],
        [b, a],
      ] as const) {
        const departure = departureAt((i + random()) / pair.flights)
        flights.push({ carrier, weekdays, airports: [...way], departures: [departure], aircraft })
      }
    }
  }
  return flights
}

function aircraftFor(km: number, flights: number, chance: number): string {
  if (km < 700 && flights < 3 && chance < 0.5) return chance < 0.3 ? 'AT7' : 'DH4'
  if (km < 1800 && chance < 0.35) return chance < 0.2 ? 'E90' : 'CR9'
  if (km < 4800) return chance < 0.65 ? '320' : chance < 0.85 ? '738' : '321'
  return chance < 0.4 ? '789' : chance < 0.7 ? '333' : '77W'
}

const SEATS: Readonly<Record<string, readonly [withCabins: string, economyOnly: string]>> = {
  AT7: ['Y070', 'Y070'],
  DH4: ['Y078', 'Y078'],
  E90: ['C010Y086', 'Y100'],
  CR9: ['C012Y064', 'Y090'],
  '320': ['C012Y144', 'Y180'],
  '321': ['C020Y165', 'Y220'],
  '738': ['C016Y144', 'Y189'],
  '789': ['C030Y264', 'Y340'],
  '333': ['C036Y247', 'Y377'],
  '77W': ['F008C042Y304', 'Y396'],
}

function configuration(carrier: number, aircraft: string): string {
  return SEATS[aircraft]![carrier % 4 === 3 ? 1 : 0]
}

const CHAINED_SHARE = 0.075
const LEAST_GROUND = 105
const MOST_GROUND = 200
const PLANNING_NOON = 9500 * MINUTES_A_DAY + 720

/** Joins some flights of one carrier and the same days to flights over two legs under one number. */
function chained(flights: Flight[], random: () => number): Flight[] {
  const offsets = new Map<string, number>()
  const offsetOf = (zone: string) => {
    const offset = offsets.get(zone) ?? zoneOffset(zone, PLANNING_NOON)
    offsets.set(zone, offset)
    return offset
  }
  const key = (carrier: number, weekdays: number, origin: Airport) => `${carrier} ${weekdays} ${origin.code}`
  const departing = Map.groupBy(flights, f => key(f.carrier, f.weekdays, f.airports[0]!))
  const taken = new Set<Flight>()
  const out: Flight[] = []
  let wanted = flights.length * CHAINED_SHARE
  for (const flight of flights) {
    if (taken.has(flight) || wanted < 1 || random() > 0.4) continue
    const [origin, middle] = flight.airports as [Airport, Airport]
    const arrival =
      flight.departures[0]! + blockMinutes(origin, middle) + offsetOf(middle.zone) - offsetOf(origin.zone)
    const next = departing.get(key(flight.carrier, flight.weekdays, middle))?.find(other => {
      const ground = other.departures[0]! - arrival
      return (
        ground >= LEAST_GROUND && ground <= MOST_GROUND && !taken.has(other) && other.airports[1] !== origin
      )
    })
    if (next === undefined) continue
    taken.add(flight).add(next)
    wanted--
    out.push({
      ...flight,
      airports: [...flight.airports, next.airports[1]!],
      departures: [...flight.departures, ...next.departures],
    })
  }
  return [...flights.filter(flight => !taken.has(flight)), ...out]
}
