/** Lays flights out as an image: airports numbered by out-degree, routes as CSR, flights by route and departure minute. */
import { type Airport, greatCircleKm } from '../travel/airport.ts'
import type { Seats } from './cabins.ts'
import { allocateImage, type Columns } from './image.ts'
import { type Days, dayBits } from './operating-days.ts'
import type { Designator } from './operator.ts'

/** One segment for sale with constant offsets; `days` are UTC departure days. */
export type Flight = {
  origin: Airport
  destination: Airport
  days: Days
  departureMinute: number
  elapsed: number
  dayShift: number
  departureOffset: number
  arrivalOffset: number
  stops: number
  restriction: number
  marketing: Designator
  operating: Designator
  departureTerminal: string
  arrivalTerminal: string
  aircraft: string
  seats: Seats
  /** Names of the operated legs, and their local departure day minus the flight's UTC departure day. */
  legs: readonly { name: string; shift: number }[]
}

/** A flight in its place: `key` is origin × airports + destination, by their numbers. */
type Placed = { flight: Flight; key: number }

/** The image of a set of flights. Equal flights in equal order give equal bytes. */
export function assemble(flights: readonly Flight[]): SharedArrayBuffer {
  const airports = numberAirports(flights)
  const place = new Map(airports.map((airport, i) => [airport.code, i]))
  const placed = flights
    .map(flight => ({
      flight,
      key: place.get(flight.origin.code)! * airports.length + place.get(flight.destination.code)!,
    }))
    .sort(byRouteAndDeparture)
  const routes = [...new Set(placed.map(p => p.key))]
  const strings = numbering([''])
  const legs = numbering([])
  const irregular = irregularTable()
  for (const airport of airports) for (const text of [airport.code, airport.country]) strings.of(text)
  let flightLegs = 0
  for (const { flight } of placed) {
    for (const text of textsOf(flight)) strings.of(text)
    for (const leg of flight.legs) legs.of(leg.name)
    irregular.of(flight.days)
    flightLegs += flight.legs.length
  }
  const legNames = legs.texts.map(strings.of)
  const encoder = new TextEncoder()
  const bytes = strings.texts.map(text => encoder.encode(text))
  const { buffer, columns } = allocateImage({
    airports: airports.length,
    routes: routes.length,
    flights: placed.length,
    flightLegs,
    legs: legNames.length,
    irregularWords: irregular.words.length,
    strings: bytes.length,
    stringLength: bytes.reduce((sum, text) => sum + text.length, 0),
  })
  fillAirports(columns, airports, strings.of)
  fillRoutes(columns, airports, routes, placed)
  fillFlights(columns, placed, strings.of, legs.of, irregular.of)
  columns.legName.set(legNames)
  columns.irregularDays.set(irregular.words)
  let end = 0
  bytes.forEach((text, i) => {
    columns.stringBytes.set(text, end)
    end += text.length
    columns.stringStart[i + 1] = end
  })
  return buffer
}

function byRouteAndDeparture(a: Placed, b: Placed): number {
  return (
    a.key - b.key ||
    a.flight.departureMinute - b.flight.departureMinute ||
    a.flight.days.from - b.flight.days.from
  )
}

/** Airports by falling number of destinations, equal ones by code. */
function numberAirports(flights: readonly Flight[]): Airport[] {
  const known = new Map<string, { airport: Airport; destinations: Set<string> }>()
  const entry = (airport: Airport) => {
    const found = known.get(airport.code) ?? { airport, destinations: new Set<string>() }
    known.set(airport.code, found)
    return found
  }
  for (const flight of flights) {
    entry(flight.origin).destinations.add(flight.destination.code)
    entry(flight.destination)
  }
  return [...known.values()]
    .sort((a, b) => b.destinations.size - a.destinations.size || (a.airport.code < b.airport.code ? -1 : 1))
    .map(found => found.airport)
}

/** Texts numbered by first use. */
function numbering(texts: string[]) {
  const index = new Map(texts.map((text, i) => [text, i]))
  const of = (text: string): number => {
    const known = index.get(text)
    if (known !== undefined) return known
    index.set(text, texts.length)
    return texts.push(text) - 1
  }
  return { texts, of }
}

/** Bit fields of days that no weekday mask expresses, equal ones stored once. */
function irregularTable() {
  const words: number[] = []
  const known = new Map<string, number>()
  return {
    words,
    of(days: Days): number {
      if (days.fortnights.length === 0) return 0
      const bits = dayBits(days)
      const key = bits.join()
      const found = known.get(key)
      if (found !== undefined) return found
      const start = words.length + 1
      known.set(key, start)
      words.push(...bits)
      return start
    },
  }
}

function textsOf(f: Flight): string[] {
  return [f.marketing.carrier, f.operating.carrier, f.departureTerminal, f.arrivalTerminal, f.aircraft]
}

type Numbered = (text: string) => number

function fillFlights(
  c: Columns,
  placed: readonly Placed[],
  string: Numbered,
  legIndex: Numbered,
  irregular: (days: Days) => number,
): void {
  let end = 0
  for (let i = 0; i < placed.length; i++) {
    const f = placed[i]!.flight
    c.departureMinute[i] = f.departureMinute
    c.elapsed[i] = f.elapsed
    c.weekdays[i] = f.days.weekdays
    c.firstDay[i] = f.days.from
    c.endDay[i] = f.days.to + 1
    c.irregular[i] = irregular(f.days)
    c.dayShift[i] = f.dayShift
    c.departureOffset[i] = f.departureOffset
    c.arrivalOffset[i] = f.arrivalOffset
    c.stops[i] = f.stops
    c.restriction[i] = f.restriction
    c.carrier[i] = string(f.marketing.carrier)
    c.number[i] = f.marketing.number
    c.suffix[i] = f.marketing.suffix.charCodeAt(0) || 0
    c.operatingCarrier[i] = string(f.operating.carrier)
    c.operatingNumber[i] = f.operating.number
    c.operatingSuffix[i] = f.operating.suffix.charCodeAt(0) || 0
    c.departureTerminal[i] = string(f.departureTerminal)
    c.arrivalTerminal[i] = string(f.arrivalTerminal)
    c.aircraft[i] = string(f.aircraft)
    c.economySeats[i] = f.seats.economy
    c.businessSeats[i] = f.seats.business
    c.firstSeats[i] = f.seats.first
    for (const leg of f.legs) {
      c.flightLeg[end] = legIndex(leg.name)
      c.flightLegShift[end++] = leg.shift
    }
    c.legStart[i + 1] = end
  }
}

function fillAirports(
  columns: Columns,
  airports: readonly Airport[],
  string: (text: string) => number,
): void {
  airports.forEach((airport, a) => {
    columns.airportCode[a] = string(airport.code)
    columns.airportCountry[a] = string(airport.country)
    columns.airportLatitude[a] = airport.latitude
    columns.airportLongitude[a] = airport.longitude
  })
}

function fillRoutes(
  columns: Columns,
  airports: readonly Airport[],
  routes: readonly number[],
  placed: readonly Placed[],
): void {
  const arriving: number[][] = airports.map(() => [])
  let flight = 0
  routes.forEach((key, r) => {
    const from = Math.floor(key / airports.length)
    const to = key % airports.length
    const [a, b] = [airports[from]!, airports[to]!]
    columns.routeFrom[r] = from
    columns.routeTo[r] = to
    columns.routeKm[r] = greatCircleKm(a.latitude, a.longitude, b.latitude, b.longitude)
    columns.routeInternational[r] = a.country === b.country ? 0 : 1
    columns.outStart[from + 1] = r + 1
    arriving[to]!.push(r)
    let least = 65_535
    for (; placed[flight]?.key === key; flight++) least = Math.min(least, placed[flight]!.flight.elapsed)
    columns.routeLeastElapsed[r] = least
    columns.flightStart[r + 1] = flight
  })
  let incoming = 0
  airports.forEach((_, a) => {
    columns.outStart[a + 1] = Math.max(columns.outStart[a]!, columns.outStart[a + 1]!)
    columns.inRoute.set(arriving[a]!, incoming)
    incoming += arriving[a]!.length
    columns.inStart[a + 1] = incoming
  })
}
