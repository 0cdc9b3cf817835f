import type { Database } from '../../db/database.ts'
import { CLASS_SEATS_MAX, type FareRow, farePrice } from '../../timetable/fares.ts'
import { CABINS, type Cabin } from '../../travel/itinerary.ts'
import { isCurrency, parseAmount } from '../../travel/money.ts'
import { lockImports, replaceFares } from './store.ts'

const HEADER = 'carrier,origin,destination,cabin,class,currency,base,per_km,seats'
/** Rows of one file. */
export const FARES_MAX = 1_000_000
/** The most that a class may cost, in minor units: nine digits and two decimals. What lies above is a slip of the pen. */
const PRICE_MAX = 99_999_999_999
const TOO_DEAR = 'comes to more than nine digits on the longest flight'
/** Half the way round the earth, a little generously: no flight is longer. */
const LONGEST_KM = 20_100
/** Faults listed of one file. */
const FAULTS_MAX = 20

/** Why a line of a fares file is refused. */
export type FareFault = { line: number; column: string; reason: string }

/** Thrown for a faulty file; nothing of it is imported. */
export class FaresRefused extends Error {
  readonly faults: readonly FareFault[]
  constructor(faults: readonly FareFault[]) {
    super(
      `The fares file is refused:\n${faults.map(f => `  line ${f.line}, ${f.column}: ${f.reason}`).join('\n')}`,
    )
    this.name = 'FaresRefused'
    this.faults = faults
  }
}

type ParsedFare = FareRow & { line: number; perKmText: string }

/**
 * Reads a fares file: CSV with a header, one booking class of a cabin a row.
 * @throws FaresRefused with the first faults, each with its line and column
 */
export function parseFares(text: string): ParsedFare[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const faults: FareFault[] = []
  const header = cellsOf(lines[0] ?? '').map(name => name.toLowerCase())
  for (const column of HEADER.split(',')) {
    const times = header.filter(name => name === column).length
    if (times !== 1) {
      const reason = `this column is ${times === 0 ? 'missing' : 'there twice'}; the header must be ${HEADER}`
      faults.push({ line: 1, column, reason })
    }
  }
  if (faults.length > 0) throw new FaresRefused(faults.slice(0, FAULTS_MAX))
  const rows: ParsedFare[] = []
  const seen = new Map<string, number>()
  for (let i = 1; i < lines.length && faults.length < FAULTS_MAX; i++) {
    if (lines[i]!.trim() === '') continue
    if (rows.length >= FARES_MAX)
      throw new FaresRefused([{ line: i + 1, column: 'carrier', reason: `more than ${FARES_MAX} rows` }])
    const cells = cellsOf(lines[i]!)
    if (cells.length > header.length) {
      const reason = `there are ${cells.length} cells for ${header.length} columns; write amounts without a thousands separator`
      faults.push({ line: i + 1, column: header.at(-1)!, reason })
      continue
    }
    const row = parseRow(i + 1, column => cells[header.indexOf(column)] ?? '', faults)
    if (row === undefined) continue
    const key = [row.carrier, row.origin, row.destination, row.cabin, row.bookingClass].join(',')
    const other = seen.get(key)
    if (other !== undefined)
      faults.push({ line: i + 1, column: 'class', reason: `the same fare stands on line ${other}` })
    seen.set(key, i + 1)
    rows.push(row)
  }
  if (rows.length === 0 && faults.length === 0)
    faults.push({ line: 1, column: 'carrier', reason: 'there is no fare in the file' })
  if (faults.length > 0) throw new FaresRefused(faults)
  return rows
}

const cellsOf = (line: string) => line.split(',').map(cell => cell.trim().replace(/^"(.*)"$/, '$1'))

function parseRow(
  line: number,
  cell: (column: string) => string,
  faults: FareFault[],
): ParsedFare | undefined {
  const before = faults.length
  const check = (column: string, ok: boolean, reason: string) => {
    if (!ok) faults.push({ line, column, reason })
  }
  const [carrier, origin, destination, cabin, bookingClass, currency] = [
    'carrier',
    'origin',
    'destination',
    'cabin',
    'class',
    'currency',
  ].map(cell) as [string, string, string, string, string, string]
  check('carrier', /^(\*|[A-Z0-9]{2,3})$/.test(carrier), 'must be an airline code such as BA, or *')
  check('origin', /^(\*|[A-Z]{3})$/.test(origin), 'must be an airport code such as LHR, or *')
  check('destination', /^(\*|[A-Z]{3})$/.test(destination), 'must be an airport code such as SIN, or *')
  check('cabin', (CABINS as readonly string[]).includes(cabin), `must be one of ${CABINS.join(', ')}`)
  check('class', /^[A-Z]$/.test(bookingClass), 'must be one letter A to Z')
  check('currency', isCurrency(currency), 'must be an ISO 4217 code such as USD')
  const base = isCurrency(currency) ? parseAmount(cell('base'), currency) : 0
  check('base', base !== undefined && base >= 0, 'must be an amount of the currency, such as 49.50')
  const perKmText = cell('per_km')
  check('per_km', /^\d{1,9}(\.\d{1,12})?$/.test(perKmText), 'must be a decimal such as 0.085')
  const seats = /^\d{1,5}$/.test(cell('seats')) ? Number(cell('seats')) : Number.NaN
  check('seats', seats <= CLASS_SEATS_MAX, `must be a number from 0 to ${CLASS_SEATS_MAX}`)
  if (faults.length > before) return undefined
  const [whole = '', decimals = ''] = perKmText.split('.')
  const row: ParsedFare = {
    line,
    carrier,
    origin,
    destination,
    cabin: cabin as Cabin,
    bookingClass,
    currency,
    base: base!,
    perKm: { digits: BigInt(whole + decimals), scale: decimals.length },
    perKmText,
    seats,
  }
  check('base', row.base <= PRICE_MAX, TOO_DEAR)
  check('per_km', row.base > PRICE_MAX || farePrice(row, LONGEST_KM) <= PRICE_MAX, TOO_DEAR)
  return faults.length > before ? undefined : row
}

/**
 * Imports a fares file in place of the one before: one transaction, and one swap in every running server.
 * @throws FaresRefused when any line is faulty; nothing changes then
 */
export async function importFares(
  database: Database,
  text: string,
): Promise<{ fares: number; currencies: string[] }> {
  const rows = parseFares(text)
  await database.transaction(async tx => {
    await lockImports(tx)
    await replaceFares(tx, rows)
  })
  return { fares: rows.length, currencies: [...new Set(rows.map(row => row.currency))].sort() }
}
