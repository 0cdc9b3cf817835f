/**
 * Networks as plain lists, and the image of one. Written apart from the compiler that makes images from SSIM, so that the two can be held
 * against each other and the engine is tested on input of its own.
 */
import { allocateImage, openImage, type Timetable } from '../../src/timetable/image.ts'

export type PlainAirport = { code: string; country: string; latitude: number; longitude: number }

/** A flight for sale as the image has it: names instead of indices. Days and minutes are UTC. */
export type PlainFlight = {
  carrier: string
  number: number
  suffix: string
  from: string
  to: string
  /** Days of operation: a period (half open) and a weekday mask, or the days themselves. */
  firstDay: number
  endDay: number
  weekdays: number
  days?: readonly number[]
  /** Minute of the day. */
  departure: number
  elapsed: number
  departureOffset: number
  arrivalOffset: number
  stops: number
  restriction: number
  operating: { carrier: string; number: number; suffix: string }
  /** Economy, business, first. */
  seats: readonly [number, number, number]
  legs: readonly { name: string; shift: number }[]
}

export type PlainNetwork = { airports: readonly PlainAirport[]; flights: readonly PlainFlight[] }

/** Great-circle distance as the image keeps it, a 32-bit float. */
export function kmBetween(a: PlainAirport, b: PlainAirport): number {
  const rad = Math.PI / 180
  const half = (x: number) => Math.sin(x / 2) ** 2
  const h =
    half((b.latitude - a.latitude) * rad) +
    Math.cos(a.latitude * rad) * Math.cos(b.latitude * rad) * half((b.longitude - a.longitude) * rad)
  return Math.fround(2 * 6371 * Math.asin(Math.min(1, Math.sqrt(h))))
}

/** The image of a network. */
export function buildImage(network: PlainNetwork): Timetable {
  const strings = new Map<string, number>([['', 0]])
  const text = (value: string) => {
    const known = strings.get(value) ?? strings.size
    strings.set(value, known)
    return known
  }
  const destinations = new Map<string, Set<string>>()
  for (const { from, to } of network.flights) {
    destinations.set(from, (destinations.get(from) ?? new Set()).add(to))
  }
  const degree = (code: string) => destinations.get(code)?.size ?? 0
  const airports = [...network.airports].sort((a, b) => degree(b.code) - degree(a.code))
  const index = new Map(airports.map(({ code }, i) => [code, i]))

  const byRoute = new Map<number, PlainFlight[]>()
  for (const flight of network.flights) {
    const key = index.get(flight.from)! * airports.length + index.get(flight.to)!
    const list = byRoute.get(key)
    if (list === undefined) byRoute.set(key, [flight])
    else list.push(flight)
  }
  const routes = [...byRoute.entries()].sort(([a], [b]) => a - b)
  const legs = new Map<string, number>()
  const bitWords = (flight: PlainFlight) =>
    flight.days ? Math.ceil((flight.endDay - flight.firstDay) / 32) : 0
  for (const flight of network.flights) {
    for (const { name } of flight.legs) if (!legs.has(name)) legs.set(name, legs.size)
    for (const value of [flight.carrier, flight.operating.carrier]) text(value)
  }
  for (const name of legs.keys()) text(name)
  for (const { code, country } of airports) for (const value of [code, country]) text(value)
  const encoded = [...strings.keys()].map(value => new TextEncoder().encode(value))

  const { buffer, columns: c } = allocateImage({
    airports: airports.length,
    routes: routes.length,
    flights: network.flights.length,
    flightLegs: network.flights.reduce((total, flight) => total + flight.legs.length, 0),
    legs: legs.size,
    irregularWords: network.flights.reduce((total, flight) => total + bitWords(flight), 0),
    strings: encoded.length,
    stringLength: encoded.reduce((total, bytes) => total + bytes.length, 0),
  })
  encoded.forEach((bytes, i) => {
    c.stringBytes.set(bytes, c.stringStart[i]!)
    c.stringStart[i + 1] = c.stringStart[i]! + bytes.length
  })
  for (const [name, leg] of legs) c.legName[leg] = text(name)
  airports.forEach((airport, i) => {
    c.airportCode[i] = text(airport.code)
    c.airportCountry[i] = text(airport.country)
    c.airportLatitude[i] = airport.latitude
    c.airportLongitude[i] = airport.longitude
  })

  let f = 0
  let words = 0
  routes.forEach(([key, flights], route) => {
    const from = Math.floor(key / airports.length)
    const to = key % airports.length
    c.routeFrom[route] = from
    c.routeTo[route] = to
    c.outStart[from + 1]!++
    c.inStart[to + 1]!++
    c.routeKm[route] = kmBetween(airports[from]!, airports[to]!)
    c.routeInternational[route] = airports[from]!.country === airports[to]!.country ? 0 : 1
    c.routeLeastElapsed[route] = Math.min(...flights.map(flight => flight.elapsed))
    flights.sort((a, b) => a.departure - b.departure)
    for (const flight of flights) {
      c.departureMinute[f] = flight.departure
      c.elapsed[f] = flight.elapsed
      c.weekdays[f] = flight.weekdays
      c.firstDay[f] = flight.firstDay
      c.endDay[f] = flight.endDay
      c.dayShift[f] = -Math.floor((flight.departure + flight.departureOffset) / 1440)
      c.departureOffset[f] = flight.departureOffset
      c.arrivalOffset[f] = flight.arrivalOffset
      c.stops[f] = flight.stops
      c.restriction[f] = flight.restriction
      c.carrier[f] = text(flight.carrier)
      c.number[f] = flight.number
      c.suffix[f] = flight.suffix === '' ? 0 : flight.suffix.charCodeAt(0)
      c.operatingCarrier[f] = text(flight.operating.carrier)
      c.operatingNumber[f] = flight.operating.number
      c.operatingSuffix[f] = flight.operating.suffix === '' ? 0 : flight.operating.suffix.charCodeAt(0)
      const [economy, business, first] = flight.seats
      c.economySeats[f] = economy
      c.businessSeats[f] = business
      c.firstSeats[f] = first
      if (flight.days !== undefined) {
        c.irregular[f] = 1 + words
        for (const day of flight.days) {
          const bit = day - flight.firstDay
          c.irregularDays[words + (bit >> 5)]! |= 1 << (bit & 31)
        }
        words += bitWords(flight)
      }
      flight.legs.forEach(({ name, shift }, i) => {
        c.flightLeg[c.legStart[f]! + i] = legs.get(name)!
        c.flightLegShift[c.legStart[f]! + i] = shift
      })
      c.legStart[f + 1] = c.legStart[f]! + flight.legs.length
      f++
    }
    c.flightStart[route + 1] = f
  })
  for (let a = 0; a < airports.length; a++) {
    c.outStart[a + 1]! += c.outStart[a]!
    c.inStart[a + 1]! += c.inStart[a]!
  }
  const filled = c.inStart.slice()
  routes.forEach((_, route) => {
    c.inRoute[filled[c.routeTo[route]!]!++] = route
  })
  return openImage(buffer)
}
