/**
 * What the flights of a timetable cost: the fares of every carrier on every route as one SharedArrayBuffer of columns beside the image, with
 * the lower bounds a search prunes by. Built anew when the schedule, the fares or the rates change; never written afterwards.
 */
import { CABINS } from '../travel/itinerary.ts'
import type { Money } from '../travel/money.ts'
import { score } from '../travel/score.ts'
import { type FareRow, fareLadders, farePrice } from './fares.ts'
import type { Timetable } from './image.ts'

type Column = typeof Uint8Array | typeof Uint16Array | typeof Uint32Array | typeof Float64Array

/** Column name → element type and the count it has one element for. Columns of `cabinFlights` hold economy first, then business, then first. */
const COLUMNS = {
  /** Price of the cheapest class that the cabin has at all, in parts of the reference currency; Infinity where the cabin is not sold. */
  cheapest: [Float64Array, 'cabinFlights'],
  /** Of a route and cabin: least price, and least score, of any flight; Infinity where none is sold. */
  routePrice: [Float64Array, 'cabinRoutes'],
  routeScore: [Float64Array, 'cabinRoutes'],
  classReference: [Float64Array, 'classes'],
  /** Price in minor units of the fare's own currency. */
  classMinor: [Float64Array, 'classes'],
  /** Ladder of a flight: its carrier's fares on its route. */
  ladder: [Uint32Array, 'flights'],
  /** Classes of a ladder and cabin by rising price: ladderStart[3 × ladder + cabin] … the next one. */
  ladderStart: [Uint32Array, 'cabinLadders+1'],
  classSeats: [Uint16Array, 'classes'],
  classCurrency: [Uint16Array, 'classes'],
  /** Character code of the booking class. */
  classLetter: [Uint8Array, 'classes'],
  /** 1 when another number on the same route sells the same aircraft. */
  codeshared: [Uint8Array, 'flights'],
  /** Currencies, three characters each. */
  currencyCode: [Uint8Array, 'currencyBytes'],
  /** 1 when fares in the currency are not sold, for want of a rate. */
  currencyUnrated: [Uint8Array, 'currencies'],
} as const satisfies Record<string, readonly [Column, string]>

type Counts = { flights: number; routes: number; ladders: number; classes: number; currencies: number }
type Columns = { [K in keyof typeof COLUMNS]: InstanceType<(typeof COLUMNS)[K][0]> }

export type Market = Columns & {
  readonly buffer: SharedArrayBuffer
  readonly counts: Counts
  /** Currency codes by index. */
  readonly currencies: readonly string[]
  /** Currencies of the fares file that have no rate: their fares are not sold. */
  readonly unrated: readonly string[]
}

const MAGIC = 0x314b4d41
const HEADER_BYTES = 64
const COUNT_NAMES = ['flights', 'routes', 'ladders', 'classes', 'currencies'] as const

/**
 * Prices every flight of a timetable.
 * @param referencePrice an amount in ten-thousandths of the reference currency, or undefined when its currency has no rate
 * @throws Error naming the fare row when one cannot be used
 */
export function buildMarket(
  timetable: Timetable,
  fares: readonly FareRow[],
  referencePrice: (money: Money) => number | undefined,
): Market {
  const ladderOf = fareLadders(fares)
  const currencies = [...new Set(fares.map(row => row.currency))].sort()
  const unrated = new Set(currencies.filter(currency => referencePrice({ minor: 1, currency }) === undefined))
  const ladder = new Uint32Array(timetable.counts.flights)
  const starts: number[] = [0]
  const classes: { row: FareRow; minor: number; reference: number }[] = []

  const addLadder = (carrier: string, route: number): number => {
    const origin = timetable.text(timetable.airportCode[timetable.routeFrom[route]!]!)
    const destination = timetable.text(timetable.airportCode[timetable.routeTo[route]!]!)
    for (const cabin of CABINS) {
      const rungs = ladderOf(carrier, origin, destination, cabin)
        .filter(row => !unrated.has(row.currency))
        .map(row => {
          const minor = farePrice(row, timetable.routeKm[route]!)
          return { row, minor, reference: Math.round(referencePrice({ minor, currency: row.currency })!) }
        })
      rungs.sort((a, b) => a.reference - b.reference || (a.row.bookingClass < b.row.bookingClass ? -1 : 1))
      for (const rung of rungs) classes.push(rung)
      starts.push(classes.length)
    }
    return (starts.length - 1) / CABINS.length - 1
  }

  for (let route = 0; route < timetable.counts.routes; route++) {
    const byCarrier = new Map<number, number>()
    for (let flight = timetable.flightStart[route]!; flight < timetable.flightStart[route + 1]!; flight++) {
      const carrier = timetable.carrier[flight]!
      const known = byCarrier.get(carrier) ?? addLadder(timetable.text(carrier), route)
      byCarrier.set(carrier, known)
      ladder[flight] = known
    }
  }

  const market = allocate({
    flights: timetable.counts.flights,
    routes: timetable.counts.routes,
    ladders: (starts.length - 1) / CABINS.length,
    classes: classes.length,
    currencies: currencies.length,
  })
  market.ladder.set(ladder)
  market.ladderStart.set(starts)
  classes.forEach(({ row, minor, reference }, i) => {
    market.classReference[i] = reference
    market.classMinor[i] = minor
    market.classSeats[i] = row.seats
    market.classCurrency[i] = currencies.indexOf(row.currency)
    market.classLetter[i] = row.bookingClass.charCodeAt(0)
  })
  currencies.forEach((currency, i) => {
    for (let at = 0; at < 3; at++) market.currencyCode[3 * i + at] = currency.charCodeAt(at)
    market.currencyUnrated[i] = unrated.has(currency) ? 1 : 0
  })
  setBounds(timetable, market)
  setCodeshared(timetable, market)
  return openMarket(market.buffer)
}

/** Seats the configuration has in a cabin (0 economy, 1 business, 2 first), -1 where the cabin is not sold. */
export function cabinSeats(timetable: Timetable, flight: number, cabin: number): number {
  if (cabin === 0) return timetable.economySeats[flight]!
  return cabin === 1 ? timetable.businessSeats[flight]! : timetable.firstSeats[flight]!
}

function setBounds(timetable: Timetable, market: Columns): void {
  const { flights, routes } = timetable.counts
  market.cheapest.fill(Infinity)
  market.routePrice.fill(Infinity)
  market.routeScore.fill(Infinity)
  for (let cabin = 0; cabin < CABINS.length; cabin++) {
    for (let route = 0; route < routes; route++) {
      const bound = cabin * routes + route
      for (let flight = timetable.flightStart[route]!; flight < timetable.flightStart[route + 1]!; flight++) {
        const rung = CABINS.length * market.ladder[flight]! + cabin
        const first = market.ladderStart[rung]!
        if (first === market.ladderStart[rung + 1] || cabinSeats(timetable, flight, cabin) < 0) continue
        const price = market.classReference[first]!
        const least = score(price, timetable.elapsed[flight]!, timetable.stops[flight]!)
        market.cheapest[cabin * flights + flight] = price
        market.routePrice[bound] = Math.min(market.routePrice[bound]!, price)
        market.routeScore[bound] = Math.min(market.routeScore[bound]!, least)
      }
    }
  }
}

function setCodeshared(timetable: Timetable, market: Columns): void {
  for (let route = 0; route < timetable.counts.routes; route++) {
    const first = timetable.flightStart[route]!
    const end = timetable.flightStart[route + 1]!
    // Without a number that another one operates, no two numbers can share an aircraft.
    let shared = false
    for (let flight = first; flight < end && !shared; flight++) shared = !isOperator(timetable, flight)
    if (!shared) continue
    const legsOf = (flight: number) =>
      timetable.flightLeg.subarray(timetable.legStart[flight]!, timetable.legStart[flight + 1]!).join()
    const firstNumber = new Map<string, number>()
    for (let flight = first; flight < end; flight++) {
      const legs = legsOf(flight)
      const other = firstNumber.get(legs)
      if (other === undefined) firstNumber.set(legs, flight)
      else if (!sameNumber(timetable, flight, other)) market.codeshared[flight] = market.codeshared[other] = 1
    }
    for (let flight = first; flight < end; flight++) {
      if (market.codeshared[firstNumber.get(legsOf(flight))!] === 1) market.codeshared[flight] = 1
    }
  }
}

/** Whether a flight is sold under the number it operates as. */
function isOperator(timetable: Timetable, flight: number): boolean {
  return (
    timetable.carrier[flight] === timetable.operatingCarrier[flight] &&
    timetable.number[flight] === timetable.operatingNumber[flight] &&
    timetable.suffix[flight] === timetable.operatingSuffix[flight]
  )
}

function sameNumber(timetable: Timetable, a: number, b: number): boolean {
  return (
    timetable.carrier[a] === timetable.carrier[b] &&
    timetable.number[a] === timetable.number[b] &&
    timetable.suffix[a] === timetable.suffix[b]
  )
}

/**
 * Opens a market that another thread built.
 * @throws Error when the buffer is none or has the wrong size.
 */
export function openMarket(buffer: SharedArrayBuffer): Market {
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4)
  if (header[0] !== MAGIC) throw new Error('Not a market')
  const counts = Object.fromEntries(COUNT_NAMES.map((name, i) => [name, header[1 + i]])) as Counts
  if (lay(counts).bytes !== buffer.byteLength) throw new Error('The market is cut short')
  const columns = view(buffer, counts)
  const currencies = Array.from({ length: counts.currencies }, (_, i) =>
    String.fromCharCode(...columns.currencyCode.subarray(3 * i, 3 * i + 3)),
  )
  const unrated = currencies.filter((_, i) => columns.currencyUnrated[i] === 1)
  return { ...columns, buffer, counts, currencies, unrated }
}

function allocate(counts: Counts): Columns & { buffer: SharedArrayBuffer } {
  const buffer = new SharedArrayBuffer(lay(counts).bytes)
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4)
  header.set([MAGIC, ...COUNT_NAMES.map(name => counts[name])])
  return { ...view(buffer, counts), buffer }
}

/** Elements and byte offset of every column, and the bytes of all. Columns of the widest elements come first, so that all are aligned. */
function lay(counts: Counts): {
  offsets: Record<string, { offset: number; elements: number }>
  bytes: number
} {
  const sizes: Record<string, number> = {
    ...counts,
    cabinFlights: CABINS.length * counts.flights,
    cabinRoutes: CABINS.length * counts.routes,
    'cabinLadders+1': CABINS.length * counts.ladders + 1,
    currencyBytes: 3 * counts.currencies,
  }
  let bytes = HEADER_BYTES
  const offsets: Record<string, { offset: number; elements: number }> = {}
  for (const [name, [type, size]] of Object.entries(COLUMNS)) {
    offsets[name] = { offset: bytes, elements: sizes[size]! }
    bytes += sizes[size]! * type.BYTES_PER_ELEMENT
  }
  return { offsets, bytes }
}

function view(buffer: SharedArrayBuffer, counts: Counts): Columns {
  const { offsets } = lay(counts)
  const columns: Record<string, unknown> = {}
  for (const [name, [type]] of Object.entries(COLUMNS)) {
    const { offset, elements } = offsets[name]!
    const Column: new (buffer: SharedArrayBuffer, offset: number, length: number) => unknown = type
    columns[name] = new Column(buffer, offset, elements)
  }
  return columns as Columns
}
