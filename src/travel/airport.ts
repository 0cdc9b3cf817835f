import airportTable from './reference/airports.json' with { type: 'json' }
import cityTable from './reference/cities.json' with { type: 'json' }

export type Airport = {
  /** IATA code. */
  code: string
  name: string
  /** The town it serves; the airport's own name where none is known. */
  city: string
  /** ISO 3166 alpha-2. */
  country: string
  /** Degrees, north and east positive. */
  latitude: number
  longitude: number
  /** IANA time zone. */
  zone: string
  /** Whether it has scheduled flights, as far as the reference data knows. */
  served: boolean
}

/** What a code in a search stands for: one airport, or a city with all its airports. */
export type Place = { kind: 'airport' | 'city'; airports: readonly string[] }

/** The airport or city with this IATA code. A code that is both, as BER or HOU, is the airport. */
export function place(code: string): Place | undefined {
  if (airport(code) !== undefined) return { kind: 'airport', airports: [code] }
  const airports = cities().get(code)
  return airports && { kind: 'city', airports }
}

/** The airport with this IATA code (upper case), or undefined. */
export function airport(code: string): Airport | undefined {
  return byCode().get(code)
}

/** All airports, by code. */
export function airports(): readonly Airport[] {
  allAirports ??= (airportTable.rows as Row[]).map(toAirport)
  return allAirports
}

const EARTH_RADIUS_KM = 6371

/** Great-circle distance between two points given in degrees, in kilometres: the length that fares and bounds are computed with. */
export function greatCircleKm(
  aLatitude: number,
  aLongitude: number,
  bLatitude: number,
  bLongitude: number,
): number {
  const radians = Math.PI / 180
  const north = Math.sin(((bLatitude - aLatitude) * radians) / 2)
  const east = Math.sin(((bLongitude - aLongitude) * radians) / 2)
  const haversine =
    north * north + Math.cos(aLatitude * radians) * Math.cos(bLatitude * radians) * east * east
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(haversine)))
}

type Row = [string, string, string, string, number, number, string, number]

// Read by index: destructuring walks an iterator, which costs three times as much over ten thousand rows.
function toAirport(row: Row): Airport {
  return {
    code: row[0],
    name: row[1],
    city: row[2],
    country: row[3],
    latitude: row[4],
    longitude: row[5],
    zone: row[6],
    served: row[7] === 1,
  }
}

// Built on first use: commands that look up no airport do not pay for ten thousand of them.
let allAirports: readonly Airport[] | undefined
let airportByCode: ReadonlyMap<string, Airport> | undefined
let airportsByCity: ReadonlyMap<string, readonly string[]> | undefined

function byCode(): ReadonlyMap<string, Airport> {
  airportByCode ??= new Map(airports().map(airport => [airport.code, airport]))
  return airportByCode
}

function cities(): ReadonlyMap<string, readonly string[]> {
  airportsByCity ??= new Map(
    (cityTable.rows as [string, string, string[]][]).map(([code, , airports]) => [code, airports]),
  )
  return airportsByCity
}
