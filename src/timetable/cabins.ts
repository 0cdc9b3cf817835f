/** Seats of the contract's cabins from a filed configuration or, without one, cabins from the booking classes. */
import { SEATS_UNKNOWN } from './image.ts'

/** Seats a cabin has; -1 = no such cabin, `SEATS_UNKNOWN` = the cabin is there, its seats were not filed. */
export type Seats = { readonly economy: number; readonly business: number; readonly first: number }

const COMPARTMENTS: Readonly<Record<string, keyof Seats>> = {
  F: 'first',
  A: 'first',
  P: 'first',
  J: 'business',
  C: 'business',
  D: 'business',
  I: 'business',
  Z: 'business',
}
const NONE: Seats = { economy: -1, business: -1, first: -1 }

/**
 * Seats by cabin of `F014Y119VV2`: letters of compartments with their seats, then cargo (`LL`, `PP`) and version (`VV`), which do not count.
 * Premium economy counts as economy. A blank configuration takes the cabins of the booking classes, a blank of both has economy.
 */
export function seatsOf(configuration: string, classes: string): Seats {
  const seats: Record<keyof Seats, number> = { ...NONE }
  if (configuration === '') {
    for (const letter of classes === '' ? 'Y' : classes) {
      if (/[A-Z]/.test(letter)) seats[COMPARTMENTS[letter] ?? 'economy'] = SEATS_UNKNOWN
    }
    return seats
  }
  const passengerPart = configuration.split(/LL|PP|VV/, 1)[0]!
  for (const [, letter, digits] of passengerPart.matchAll(/([A-Z])(\d{0,4})/g)) {
    const cabin = COMPARTMENTS[letter!] ?? 'economy'
    const filed = digits === '' ? SEATS_UNKNOWN : Number(digits)
    if (filed > 0) seats[cabin] = Math.min(SEATS_UNKNOWN, Math.max(0, seats[cabin]) + filed)
  }
  return seats
}

/** `seatsOf` that remembers: a schedule has few configurations and many legs. */
export function seatsTable(): typeof seatsOf {
  const known = new Map<string, Seats>()
  return (configuration, classes) => {
    const key = `${configuration}/${classes}`
    const seats = known.get(key) ?? seatsOf(configuration, classes)
    known.set(key, seats)
    return seats
  }
}

/** What legs flown one after another have in common: the least of each cabin. */
export function leastSeats(legs: readonly Seats[]): Seats {
  return legs.reduce((least, leg) => ({
    economy: Math.min(least.economy, leg.economy),
    business: Math.min(least.business, leg.business),
    first: Math.min(least.first, leg.first),
  }))
}

/** Whether any cabin can be sold. */
export function hasCabin(seats: Seats): boolean {
  return seats.economy > 0 || seats.business > 0 || seats.first > 0
}
