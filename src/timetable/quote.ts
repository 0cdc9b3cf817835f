/** What a segment costs on a day and how many seats are left of it: the same rules for a search, a quote and a booking. */
import { CABINS, type Cabin } from '../travel/itinerary.ts'
import type { Money } from '../travel/money.ts'
import type { Timetable } from './image.ts'
import { cabinSeats, type Market } from './market.ts'
import { classSold, dayKey, MODES, type Mode, type Sold, soldEntry, totalSold } from './sold.ts'

/** Everything for sale: what flies, what it costs, what is gone. */
export type Stall = { timetable: Timetable; market: Market; sold: Sold }

/** A segment's price for one person. */
export type SegmentPrice = {
  /** Index into the market's classes. */
  rung: number
  bookingClass: string
  fare: Money
  /** In parts of the reference currency. */
  referencePrice: number
  /** Seats the class may sell on a departure in all. */
  authorised: number
  seatsLeft: number
}

/**
 * The cheapest class of a flight that has seats for the whole party.
 * @param day UTC departure day; whether the flight operates then is the caller's question
 * @returns undefined when the cabin is not sold or has no class with enough seats
 */
export function priceSegment(
  stall: Stall,
  mode: Mode,
  flight: number,
  day: number,
  cabin: Cabin,
  passengers: number,
): SegmentPrice | undefined {
  const cabinIndex = CABINS.indexOf(cabin)
  const rung = cheapestOpen(stall, MODES.indexOf(mode), flight, day, cabinIndex, passengers)
  return rung < 0 ? undefined : segmentPrice(stall, MODES.indexOf(mode), flight, day, cabinIndex, rung)
}

/**
 * Price and seats left of one booking class of a flight, whatever is left of it (also none, or less).
 * @returns undefined when the cabin has no such class
 */
export function priceClass(
  stall: Stall,
  mode: Mode,
  flight: number,
  day: number,
  cabin: Cabin,
  bookingClass: string,
): SegmentPrice | undefined {
  const { market, timetable } = stall
  const cabinIndex = CABINS.indexOf(cabin)
  if (cabinSeats(timetable, flight, cabinIndex) < 0) return undefined
  const ladder = CABINS.length * market.ladder[flight]! + cabinIndex
  for (let rung = market.ladderStart[ladder]!; rung < market.ladderStart[ladder + 1]!; rung++) {
    if (market.classLetter[rung] === bookingClass.charCodeAt(0)) {
      return segmentPrice(stall, MODES.indexOf(mode), flight, day, cabinIndex, rung)
    }
  }
  return undefined
}

/** Seats left of a booking class of a flight, 0 when the cabin has no such class. */
export function seatsLeft(
  stall: Stall,
  mode: Mode,
  flight: number,
  day: number,
  cabin: Cabin,
  bookingClass: string,
): number {
  return Math.max(0, priceClass(stall, mode, flight, day, cabin, bookingClass)?.seatsLeft ?? 0)
}

function segmentPrice(
  stall: Stall,
  mode: number,
  flight: number,
  day: number,
  cabin: number,
  rung: number,
): SegmentPrice {
  const { market } = stall
  return {
    rung,
    bookingClass: String.fromCharCode(market.classLetter[rung]!),
    fare: { minor: market.classMinor[rung]!, currency: market.currencies[market.classCurrency[rung]!]! },
    referencePrice: market.classReference[rung]!,
    authorised: market.classSeats[rung]!,
    seatsLeft: seatsOfRung(stall, mode, flight, day, cabin, rung),
  }
}

/** The first rung of a flight's ladder with seats for the party, an index into the market's classes; -1 when there is none. */
export function cheapestOpen(
  stall: Stall,
  mode: number,
  flight: number,
  day: number,
  cabin: number,
  passengers: number,
): number {
  const { market } = stall
  if (cabinSeats(stall.timetable, flight, cabin) < passengers) return -1
  const ladder = CABINS.length * market.ladder[flight]! + cabin
  const end = market.ladderStart[ladder + 1]!
  for (let rung = market.ladderStart[ladder]!; rung < end; rung++) {
    if (market.classSeats[rung]! < passengers) continue
    if (seatsOfRung(stall, mode, flight, day, cabin, rung) >= passengers) return rung
  }
  return -1
}

/**
 * Seats left of a rung: over the flight's legs, the least of what the class and the cabin have left. The configuration is known for the
 * flight as a whole (its smallest leg), so a leg with a larger aircraft is sold no further than that.
 */
export function seatsOfRung(
  stall: Stall,
  mode: number,
  flight: number,
  day: number,
  cabin: number,
  rung: number,
): number {
  const { timetable, market, sold } = stall
  const authorised = market.classSeats[rung]!
  const configured = cabinSeats(timetable, flight, cabin)
  let left = Math.min(authorised, configured)
  for (let at = timetable.legStart[flight]!; at < timetable.legStart[flight + 1]!; at++) {
    const entry = soldEntry(
      sold,
      timetable.flightLeg[at]!,
      dayKey(day + timetable.flightLegShift[at]!, cabin, mode),
    )
    if (entry < 0) continue
    left = Math.min(
      left,
      authorised - classSold(sold, entry, market.classLetter[rung]!),
      configured - totalSold(sold, entry),
    )
  }
  return left
}
