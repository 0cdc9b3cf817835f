/**
 * Writes SSIM chapter 7 text: 200-byte records in blocks of five. Days and weekday masks are counted as in travel/time (bit 0 = Monday),
 * times of day are minutes, and offsets are minutes east of Greenwich. A field too long for its place is a defect and throws.
 */
import { dateOf } from '../travel/time.ts'
import { RECORD_BYTES } from './ssim-framing.ts'

/** What a carrier block is opened with (record type 2). */
export type CarrierText = {
  carrier: string
  /** Local times unless `U`. */
  timeMode?: 'L' | 'U'
  /** Validity; `to` undefined leaves it open. */
  from: number
  to: number | undefined
  season?: string
  title?: string
}

/** One leg as it is filed (record type 3). */
export type LegText = {
  carrier: string
  number: number
  suffix?: string
  /** Itinerary variation, from 1. */
  variation: number
  /** Leg sequence, from 1. */
  sequence: number
  /** Service type; `J` unless given. */
  service?: string
  /** Period of operation, both ends included, and days, both at the leg's own departure station. */
  from: number
  to: number
  weekdays: number
  fortnightly?: boolean
  origin: string
  /** Passenger times; the aircraft's own are the same unless given. An arrival may be 1440, midnight of the day that ends. */
  departure: number
  aircraftDeparture?: number
  departureOffset: number
  departureTerminal?: string
  destination: string
  arrival: number
  aircraftArrival?: number
  arrivalOffset: number
  arrivalTerminal?: string
  aircraft: string
  /** Booking classes (PRBD). */
  classes?: string
  /** Compartments and seats, such as `C024Y150`. */
  configuration?: string
  /** Days from the itinerary origin's departure day, -1 to 7; both blank unless given. */
  departureDays?: number
  arrivalDays?: number
  /** Traffic restriction codes from this leg's departure to the arrival of leg 1, 2 … of the itinerary, one place each. */
  restriction?: string
  /** `L` or `Z` for codeshares, with `owner` as the operator. */
  disclosure?: string
  owner?: string
}

/** A further data element of a leg or through segment (record type 4). */
export type DataText = {
  /** Board and off indicator: `AB` is the first leg, `AC` the segment over two. */
  segment: string
  /** Data element identifier, such as 50. */
  element: number
  board: string
  off: string
  text: string
}

const BLOCK_RECORDS = 5
const PADDING = '0'.repeat(RECORD_BYTES)
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']

function left(text: string, width: number): string {
  if (text.length > width) throw new RangeError(`"${text}" has more than ${width} bytes`)
  return text.padEnd(width)
}

function right(text: string, width: number): string {
  if (text.length > width) throw new RangeError(`"${text}" has more than ${width} bytes`)
  return text.padStart(width)
}

function digits(n: number, width: number): string {
  const text = String(n).padStart(width, '0')
  if (!Number.isInteger(n) || n < 0 || text.length > width)
    throw new RangeError(`${n} does not fit ${width} digits`)
  return text
}

function date(day: number | undefined): string {
  if (day === undefined) return '00XXX00'
  const text = dateOf(day)
  return `${text.slice(8)}${MONTHS[Number(text.slice(5, 7)) - 1]}${text.slice(2, 4)}`
}

function time(minute: number): string {
  return digits(Math.floor(minute / 60), 2) + digits(minute % 60, 2)
}

function offset(minutes: number): string {
  return (minutes < 0 ? '-' : '+') + time(Math.abs(minutes))
}

function days(mask: number): string {
  return [0, 1, 2, 3, 4, 5, 6].map(i => ((mask >> i) & 1 ? String(i + 1) : ' ')).join('')
}

function dayVariation(n: number | undefined): string {
  return n === undefined ? ' ' : n === -1 ? 'A' : digits(n, 1)
}

/** Bytes 2 to 14 of a leg's records: suffix, airline, number, variation, sequence and service type. */
function key(leg: LegText): string {
  const number = String(leg.number).padStart(3, '0')
  return (
    left(leg.suffix ?? '', 1) +
    left(leg.carrier, 3) +
    right(number, 4) +
    digits(leg.variation % 100, 2) +
    digits(leg.sequence, 2) +
    left(leg.service ?? 'J', 1)
  )
}

function overflow(leg: LegText): string {
  return leg.variation < 100 ? ' ' : digits(Math.floor(leg.variation / 100), 1)
}

/** Record type 1, which opens a file. */
function headerRecord(serial: number): string {
  return `1${left('AIRLINE STANDARD SCHEDULE DATA SET', 34)}`.padEnd(191) + digits(1, 3) + digits(serial, 6)
}

/** Record type 2, which opens a carrier's block. */
function carrierRecord(c: CarrierText, serial: number): string {
  const period = date(c.from) + date(c.to)
  const head = `2${c.timeMode ?? 'L'}${left(c.carrier, 3)}`.padEnd(10) + left(c.season ?? '', 4)
  return (
    `${head}${period}${date(c.from)}${left(c.title ?? '', 29)}${' '.repeat(7)}P`.padEnd(190) +
    time(0) +
    digits(serial, 6)
  )
}

/** Record type 3, one leg. */
function legRecord(leg: LegText, serial: number): string {
  const schedule =
    `3${key(leg)}${date(leg.from)}${date(leg.to)}${days(leg.weekdays)}${leg.fortnightly ? '2' : ' '}` +
    left(leg.origin, 3) +
    time(leg.departure) +
    time(leg.aircraftDeparture ?? leg.departure) +
    offset(leg.departureOffset) +
    left(leg.departureTerminal ?? '', 2) +
    left(leg.destination, 3) +
    time(leg.aircraftArrival ?? leg.arrival) +
    time(leg.arrival) +
    offset(leg.arrivalOffset) +
    left(leg.arrivalTerminal ?? '', 2) +
    left(leg.aircraft, 3) +
    left(leg.classes ?? '', 20)
  const rest =
    overflow(leg) +
    left(leg.owner ?? leg.carrier, 3) +
    ' '.repeat(17) +
    left(leg.disclosure ?? '', 1) +
    left(leg.restriction ?? '', 11)
  const end =
    left(leg.configuration ?? '', 20) + dayVariation(leg.departureDays) + dayVariation(leg.arrivalDays)
  return schedule.padEnd(127) + rest.padEnd(45) + end + digits(serial, 6)
}

/** Record type 4, a data element of the leg it follows. */
function dataRecord(leg: LegText, d: DataText, serial: number): string {
  const head = `4${key(leg)}`.padEnd(27) + overflow(leg) + left(d.segment, 2) + digits(d.element, 3)
  return head + left(d.board, 3) + left(d.off, 3) + left(d.text, 155) + digits(serial, 6)
}

/** Record type 5, which ends a carrier's block; `last` when no other block follows. */
function trailerRecord(carrier: string, last: boolean, serial: number): string {
  return (
    `5 ${left(carrier, 3)}`.padEnd(187) + digits(before(serial), 6) + (last ? 'E' : 'C') + digits(serial, 6)
  )
}

/** Serials go on with 2 after 999999. */
function after(serial: number): number {
  return serial === 999_999 ? 2 : serial + 1
}

function before(serial: number): number {
  return serial === 2 ? 999_999 : serial - 1
}

/** A file in the making: open a carrier, write its legs, each followed by its data elements, then the next carrier. */
export type SsimWriter = {
  carrier(carrier: CarrierText): void
  leg(leg: LegText): void
  /** A data element of the leg written last. */
  data(data: DataText): void
  /** Ends the file and returns its text, records separated by line feeds. */
  end(): string
}

/** Starts a file: its header, trailers, serials and padding come by themselves. */
export function ssimWriter(): SsimWriter {
  const lines: string[] = []
  let serial = 0
  let open: string | undefined
  let last: LegText | undefined
  const next = () => (serial = serial === 0 ? 1 : after(serial))
  const fill = () => {
    while (lines.length % BLOCK_RECORDS !== 0) lines.push(PADDING)
  }
  const close = (final: boolean) => {
    if (open === undefined) return
    fill()
    lines.push(trailerRecord(open, final, next()))
    fill()
    open = undefined
    last = undefined
  }
  lines.push(headerRecord(next()))
  fill()
  return {
    carrier(carrier) {
      close(false)
      open = carrier.carrier
      lines.push(carrierRecord(carrier, next()))
      fill()
    },
    leg(leg) {
      if (open === undefined) throw new RangeError('A leg needs an open carrier')
      last = leg
      lines.push(legRecord(leg, next()))
    },
    data(data) {
      if (last === undefined) throw new RangeError('A data element needs a leg')
      lines.push(dataRecord(last, data, next()))
    },
    end() {
      close(true)
      for (let i = 0; i < 2 * BLOCK_RECORDS; i++) lines.push(PADDING)
      return `${lines.join('\n')}\n`
    },
  }
}
