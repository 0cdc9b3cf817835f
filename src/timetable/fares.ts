/**
 * The fare ladder: which rows of a fares file sell a segment, and what a booking class costs on it.
 * Of all rows that match, the most specific row set wins whole, for each cabin by itself:
 * carrier and O&D, O&D, carrier and origin, origin, carrier and destination, destination, carrier, anything.
 */
import { CABINS, type Cabin } from '../travel/itinerary.ts'
import { currencyExponent } from '../travel/money.ts'

/** One booking class of a cabin on a segment. */
export type FareRow = {
  /** Marketing carrier, or `*` for any; origin and destination are airports, or `*`. */
  carrier: string
  origin: string
  destination: string
  cabin: Cabin
  /** One letter A to Z. */
  bookingClass: string
  currency: string
  /** Minor units of the currency. */
  base: number
  /** Currency units for each kilometre: `digits` / 10^`scale`, exactly. */
  perKm: { digits: bigint; scale: number }
  /** Seats authorised for the class on each departure. */
  seats: number
}

/** Seats one class can be given, at most. */
export const CLASS_SEATS_MAX = 32_766

/** The rows that sell a cabin of a carrier's segment; empty when nothing does. */
export type Ladder = (
  carrier: string,
  origin: string,
  destination: string,
  cabin: Cabin,
) => readonly FareRow[]

/**
 * Sorts fare rows into ladders.
 * @throws Error naming the row when a class appears twice in a row set, or a value cannot be sold by
 */
export function fareLadders(rows: readonly FareRow[]): Ladder {
  const sets = new Map<string, FareRow[]>()
  rows.forEach((row, i) => {
    const fault = faultOf(row)
    if (fault !== undefined) throw new Error(`Fare row ${i + 1}: ${fault}`)
    const key = setKey(row.carrier, row.origin, row.destination, row.cabin)
    const set = sets.get(key)
    if (set === undefined) sets.set(key, [row])
    else if (set.some(other => other.bookingClass === row.bookingClass)) {
      throw new Error(`Fare row ${i + 1}: class ${row.bookingClass} of ${key} is given twice`)
    } else set.push(row)
  })
  // Most files use few of the eight kinds of row set: the others need no look-up on any of a world's routes.
  const kinds = new Set(
    rows.map(row => kindOf(row.carrier !== '*', row.origin !== '*', row.destination !== '*')),
  )
  const levels = LEVELS.filter(({ carrier, origin, destination }) =>
    kinds.has(kindOf(carrier, origin, destination)),
  )
  return (carrier, origin, destination, cabin) => {
    for (const level of levels) {
      const set = sets.get(
        setKey(
          level.carrier ? carrier : '*',
          level.origin ? origin : '*',
          level.destination ? destination : '*',
          cabin,
        ),
      )
      if (set !== undefined) return set
    }
    return []
  }
}

/** Which columns a row set names, the most specific first. */
const LEVELS = [
  { carrier: true, origin: true, destination: true },
  { carrier: false, origin: true, destination: true },
  { carrier: true, origin: true, destination: false },
  { carrier: false, origin: true, destination: false },
  { carrier: true, origin: false, destination: true },
  { carrier: false, origin: false, destination: true },
  { carrier: true, origin: false, destination: false },
  { carrier: false, origin: false, destination: false },
]

const kindOf = (carrier: boolean, origin: boolean, destination: boolean) =>
  `${carrier} ${origin} ${destination}`

function setKey(carrier: string, origin: string, destination: string, cabin: string): string {
  return `${carrier},${origin},${destination},${cabin}`
}

function faultOf(row: FareRow): string | undefined {
  if (!CABINS.includes(row.cabin)) return `no cabin ${row.cabin}`
  if (!/^[A-Z]$/.test(row.bookingClass)) return `booking class "${row.bookingClass}" is not one letter A to Z`
  if (currencyExponent(row.currency) === undefined) return `unknown currency ${row.currency}`
  if (!Number.isSafeInteger(row.base) || row.base < 0) return `base ${row.base} is no amount`
  if (row.perKm.digits < 0n || !Number.isInteger(row.perKm.scale) || row.perKm.scale < 0)
    return 'per_km is no amount'
  if (!Number.isInteger(row.seats) || row.seats < 0 || row.seats > CLASS_SEATS_MAX) {
    return `${row.seats} seats, expected 0 to ${CLASS_SEATS_MAX}`
  }
  return undefined
}

/** Binary places kept of a distance: a 32-bit float of a metre or more is a whole number of these parts. */
const KM_BITS = 40

/** Price of a class in minor units for one person one way over a distance, rounded half up; exact for the distance as given. */
export function farePrice(row: FareRow, km: number): number {
  const exponent = currencyExponent(row.currency)!
  // A float is off by far less than a millionth here: unless it lies that close to a half, it rounds as the exact value does.
  const near = (Number(row.perKm.digits) / 10 ** row.perKm.scale) * km * 10 ** exponent
  if (near < NEAR_MAX && Math.abs(near - Math.floor(near) - 0.5) > 1e-6) return row.base + Math.round(near)
  const parts = BigInt(Math.round(km * 2 ** KM_BITS))
  const minorUnits = 10n ** BigInt(exponent)
  const above = 2n * row.perKm.digits * minorUnits * parts
  const below = (10n ** BigInt(row.perKm.scale)) << BigInt(KM_BITS)
  return row.base + Number((above + below) / (2n * below))
}

/** Beyond this a float's error could come near a millionth. */
const NEAR_MAX = 1e8
