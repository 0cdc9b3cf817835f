import type { Cabin, Slice } from '../travel/itinerary.ts'
import type { Money } from '../travel/money.ts'

/** How long an offer can be booked after the search that made it. */
export const OFFER_VALID_MS = 15 * 60_000

/** Most offers in one answer. */
export const OFFERS_MAX = 50

/** Days ahead that can be searched. */
export const DAYS_AHEAD_MAX = 361

/** Bookable at a price until a moment. */
export type Offer = {
  /** The sealed token from which alone any node can book. */
  id: string
  supplier: string
  slices: readonly Slice[]
  passengers: number
  perPerson: Money
  total: Money
  seatsAvailable: number
  /** Milliseconds since 1970. */
  expiresAt: number
}

/** A search as a partner asks for it, its shape already checked. */
export type OfferQuery = {
  origin: string
  destination: string
  departDate: string
  returnDate: string | undefined
  passengers: number
  cabin: Cabin
  currency: string
}

/** Something a partner should know about an answer that is otherwise complete. */
export type Warning = { code: 'demo_rates' | 'supplier_unavailable'; message: string }

export type SearchAnswer = { offers: readonly Offer[]; warnings: readonly Warning[] }
