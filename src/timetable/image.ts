/**
 * The timetable as one SharedArrayBuffer of plain columns: indices instead of objects, so that all threads read one copy and it is loaded
 * without parsing. The image is immutable and depends on the schedule only; prices and seats lie elsewhere (market.ts, sold.ts).
 *
 * A *flight* here is one segment for sale: a flight number's carriage from one board point to one off point, on the days of one record, with
 * one fixed UTC offset at each end. Days and minutes are UTC, counted as in travel/time.
 */
type Column =
  | typeof Uint8Array
  | typeof Int8Array
  | typeof Uint16Array
  | typeof Int16Array
  | typeof Uint32Array
  | typeof Int32Array
  | typeof Float32Array

/** Column name → element type and the count it has one element for (`+1` columns are prefix sums). */
const COLUMNS = {
  /** Airport: its code and its country (alpha-2) as string indices; airports are numbered by falling out-degree. */
  airportCode: [Uint32Array, 'airports'],
  airportCountry: [Uint32Array, 'airports'],
  airportLatitude: [Float32Array, 'airports'],
  airportLongitude: [Float32Array, 'airports'],
  /** Routes (directed airport pairs) leaving an airport: outStart[a] … outStart[a + 1]; routes are sorted by origin, then destination. */
  outStart: [Uint32Array, 'airports+1'],
  routeFrom: [Uint16Array, 'routes'],
  routeTo: [Uint16Array, 'routes'],
  /** Routes arriving at an airport: inRoute[inStart[a] … inStart[a + 1]], sorted by the route's origin. */
  inStart: [Uint32Array, 'airports+1'],
  inRoute: [Uint32Array, 'routes'],
  routeKm: [Float32Array, 'routes'],
  /** 1 when the two ends lie in different countries. */
  routeInternational: [Uint8Array, 'routes'],
  /** Least elapsed minutes of any flight on the route. */
  routeLeastElapsed: [Uint16Array, 'routes'],
  /** Flights of a route, sorted by departureMinute: flightStart[r] … flightStart[r + 1]. */
  flightStart: [Uint32Array, 'routes+1'],
  /** UTC minute of the day of passenger departure, 0 to 1439. */
  departureMinute: [Uint16Array, 'flights'],
  elapsed: [Uint16Array, 'flights'],
  /** UTC departure weekdays, bit 0 = Monday. */
  weekdays: [Uint8Array, 'flights'],
  /** First UTC departure day, and the day after the last. */
  firstDay: [Uint16Array, 'flights'],
  endDay: [Uint16Array, 'flights'],
  /** 0, or 1 + the start in `irregularDays` of this flight's bit field over firstDay … endDay, 32 days a word; it replaces weekdays. */
  irregular: [Uint32Array, 'flights'],
  /** UTC departure day minus local departure day: -1, 0 or 1. */
  dayShift: [Int8Array, 'flights'],
  departureOffset: [Int16Array, 'flights'],
  arrivalOffset: [Int16Array, 'flights'],
  /** Landings between board and off point. */
  stops: [Uint8Array, 'flights'],
  /** A value of RESTRICTION. */
  restriction: [Uint8Array, 'flights'],
  /** Marketing carrier (string index), number and suffix (character code or 0). */
  carrier: [Uint32Array, 'flights'],
  number: [Uint16Array, 'flights'],
  suffix: [Uint8Array, 'flights'],
  operatingCarrier: [Uint32Array, 'flights'],
  operatingNumber: [Uint16Array, 'flights'],
  operatingSuffix: [Uint8Array, 'flights'],
  departureTerminal: [Uint32Array, 'flights'],
  arrivalTerminal: [Uint32Array, 'flights'],
  aircraft: [Uint32Array, 'flights'],
  /** Seats the configuration has per cabin, the least over the legs: -1 = cabin not sold, SEATS_UNKNOWN = cabin present, count not filed. */
  economySeats: [Int16Array, 'flights'],
  businessSeats: [Int16Array, 'flights'],
  firstSeats: [Int16Array, 'flights'],
  /** Legs of a flight, whose seats it takes: entries legStart[f] … legStart[f + 1] of flightLeg and flightLegShift. */
  legStart: [Uint32Array, 'flights+1'],
  /** Operated leg, an index below `legs`. */
  flightLeg: [Uint32Array, 'flightLegs'],
  /** Local departure day of the leg at its own board point minus the flight's UTC departure day. */
  flightLegShift: [Int8Array, 'flightLegs'],
  /** The leg's name, equal over all its records and imports: `BA15/LHR`, operating designator and board point (string index). */
  legName: [Uint32Array, 'legs'],
  irregularDays: [Uint32Array, 'irregularWords'],
  stringStart: [Uint32Array, 'strings+1'],
  stringBytes: [Uint8Array, 'stringLength'],
} as const satisfies Record<string, readonly [Column, string]>

export const SEATS_UNKNOWN = 32_767

/** What a traffic restriction code leaves possible, SSIM appendix G, reduced to what a search without stopovers can use. */
export const RESTRICTION = {
  none: 0,
  /** Only as part of a connection, with any carrier. */
  connectingOnly: 1,
  /** Only in connection with an international segment. */
  internationalConnectingOnly: 2,
  /** Only in connection with the same carrier. */
  onlineConnectingOnly: 3,
  /** Only in connection with an international segment of the same carrier. */
  internationalOnlineConnectingOnly: 4,
  /** Only alone. */
  localOnly: 5,
  /** Alone or in connection with domestic segments. */
  localOrDomestic: 6,
  /** Alone or in connection with the same carrier. */
  localOrOnline: 7,
} as const

export type Counts = {
  airports: number
  routes: number
  flights: number
  flightLegs: number
  legs: number
  irregularWords: number
  strings: number
  stringLength: number
}

export type Columns = { [K in keyof typeof COLUMNS]: InstanceType<(typeof COLUMNS)[K][0]> }

export type Timetable = Columns & {
  readonly buffer: SharedArrayBuffer
  readonly counts: Counts
  /** Index of an airport by its code. */
  readonly airportIndex: ReadonlyMap<string, number>
  /** Text of a string index; string 0 is empty. */
  text(index: number): string
}

const MAGIC = 0x31534141
/** Raised whenever the layout changes: an image of another version is compiled anew from its source. */
export const IMAGE_VERSION = 1
const COUNT_NAMES = [
  'airports',
  'routes',
  'flights',
  'flightLegs',
  'legs',
  'irregularWords',
  'strings',
  'stringLength',
] as const
const HEADER_BYTES = 64
const ALIGN = 64

function length(counts: Counts, size: string): number {
  return size.endsWith('+1') ? counts[size.slice(0, -2) as keyof Counts] + 1 : counts[size as keyof Counts]
}

function view(buffer: SharedArrayBuffer, counts: Counts): Columns {
  let offset = HEADER_BYTES
  const columns: Record<string, unknown> = {}
  for (const [name, [type, size]] of Object.entries(COLUMNS)) {
    const elements = length(counts, size)
    columns[name] = new (
      type as new (
        buffer: SharedArrayBuffer,
        offset: number,
        elements: number,
      ) => unknown
    )(buffer, offset, elements)
    offset = Math.ceil((offset + elements * type.BYTES_PER_ELEMENT) / ALIGN) * ALIGN
  }
  return columns as Columns
}

function totalBytes(counts: Counts): number {
  let offset = HEADER_BYTES
  for (const [type, size] of Object.values(COLUMNS)) {
    offset = Math.ceil((offset + length(counts, size) * type.BYTES_PER_ELEMENT) / ALIGN) * ALIGN
  }
  return offset
}

/** A new image of the given size, its header written and its columns zero, to be filled by the compiler. */
export function allocateImage(counts: Counts): { buffer: SharedArrayBuffer; columns: Columns } {
  const buffer = new SharedArrayBuffer(totalBytes(counts))
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4)
  header[0] = MAGIC
  header[1] = IMAGE_VERSION
  COUNT_NAMES.forEach((name, i) => {
    header[2 + i] = counts[name]
  })
  return { buffer, columns: view(buffer, counts) }
}

/**
 * Opens an image for reading.
 * @throws Error when the buffer is no image of this version or has the wrong size.
 */
export function openImage(buffer: SharedArrayBuffer): Timetable {
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4)
  if (header[0] !== MAGIC) throw new Error('Not a timetable image')
  if (header[1] !== IMAGE_VERSION)
    throw new Error(`Timetable image has version ${header[1]}, expected ${IMAGE_VERSION}`)
  const counts = Object.fromEntries(COUNT_NAMES.map((name, i) => [name, header[2 + i]])) as Counts
  if (totalBytes(counts) !== buffer.byteLength) throw new Error('Timetable image is cut short')
  const columns = view(buffer, counts)
  const decoder = new TextDecoder()
  const texts: string[] = []
  const text = (index: number): string => {
    const known = texts[index]
    if (known !== undefined) return known
    const bytes = columns.stringBytes.subarray(columns.stringStart[index]!, columns.stringStart[index + 1]!)
    const decoded = decoder.decode(Uint8Array.from(bytes))
    texts[index] = decoded
    return decoded
  }
  const airportIndex = new Map<string, number>()
  for (let a = 0; a < counts.airports; a++) airportIndex.set(text(columns.airportCode[a]!), a)
  return { ...columns, buffer, counts, airportIndex, text }
}

/** Whether a flight departs on a UTC day. */
export function operates(timetable: Timetable, flight: number, day: number): boolean {
  const first = timetable.firstDay[flight]!
  if (day < first || day >= timetable.endDay[flight]!) return false
  const irregular = timetable.irregular[flight]!
  if (irregular === 0) return ((timetable.weekdays[flight]! >> ((day + 5) % 7)) & 1) === 1
  const bit = day - first
  return ((timetable.irregularDays[irregular - 1 + (bit >> 5)]! >> (bit & 31)) & 1) === 1
}
