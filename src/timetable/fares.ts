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
  return (carrier, origin, destination, cabin) => {
    for (const [o, d] of [
      [origin, destination],
      [origin, '*'],
      ['*', destination],
      ['*', '*'],
    ] as const) {
      const set = sets.get(setKey(carrier, o, d, cabin)) ?? sets.get(setKey('*', o, d, cabin))
      if (set !== undefined) return set
    }
    return []
  }
}

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
  const parts = BigInt(Math.round(km * 2 ** KM_BITS))
  const minorUnits = 10n ** BigInt(currencyExponent(row.currency)!)
  const above = 2n * row.perKm.digits * minorUnits * parts
  const below = (10n ** BigInt(row.perKm.scale)) << BigInt(KM_BITS)
  return row.base + Number((above + below) / (2n * below))
}
