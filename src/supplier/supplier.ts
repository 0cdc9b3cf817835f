import type { Transaction } from '../db/database.ts'
import type { BookingId } from '../id.ts'
import type { Cabin, Slice } from '../travel/itinerary.ts'
import type { Money } from '../travel/money.ts'

/** Test and live have seats and bookings of their own. */
export type Mode = 'live' | 'test'

/** What a partner asks for, resolved: airports instead of cities, days instead of text. */
export type SupplierQuery = {
  mode: Mode
  origins: readonly string[]
  destinations: readonly string[]
  /** Local day at the origin, see travel/time. */
  departDay: number
  returnDay: number | undefined
  /** The present UTC minute: what has left is not for sale. */
  leavesAfter: number
  passengers: number
  cabin: Cabin
}

/** One bookable product as its supplier proposes it, before it is priced for the partner and sealed as an offer. */
export type Proposal = {
  /** Name of the supplier. */
  supplier: string
  slices: readonly Slice[]
  /** Price for one person for the whole trip: parts to be converted each and rounded once together. */
  fares: readonly Money[]
  /** Price for one person in ten-thousandths of the reference currency, for ranking. */
  referencePrice: number
  /** Seats left at this price, the least over the segments. */
  seatsAvailable: number
  /** The supplier's own handle, from which alone it can book; at most `REFERENCE_MAX` bytes. */
  reference: Uint8Array
}

export const REFERENCE_MAX = 512

/** What a reference stands for now: still there at which price, or gone. */
export type Quote =
  | { kind: 'open'; slices: readonly Slice[]; fares: readonly Money[]; seatsAvailable: number }
  /** The quoted classes have no seats for the party, but dearer or cheaper ones have. */
  | { kind: 'repriced'; fares: readonly Money[] }
  | { kind: 'gone' }

/** Why a supplier will not book. Only a closed list counts as a refusal; anything else is `unknown`. */
export type RefusalReason = 'sold_out' | 'price_changed' | 'rejected'

/** A supplier's answer to a reservation or a look-up. Silence proves nothing: it is `unknown`. */
export type Outcome =
  | { kind: 'held'; recordLocator: string }
  | { kind: 'refused'; reason: RefusalReason }
  | { kind: 'unknown' }

/** A supplier's answer to a cancellation. */
export type Cancellation = { kind: 'cancelled' } | { kind: 'refused' } | { kind: 'unknown' }

/** A look-up may also find that nothing is there (yet). */
export type LookUp = Outcome | { kind: 'absent' }

/** What a supplier is told about a booking: the reference it made and who travels. */
export type Reservation = {
  bookingId: BookingId
  mode: Mode
  reference: Uint8Array
  passengers: number
  /** What `stock.claim` returned; empty for a supplier without stock here. */
  claim: string
}

/** Seats that lie in our own database and are therefore claimed and given back inside the booking's transaction. */
export type Stock = {
  /** Claims seats for the party. Returns the claim, to be kept with the booking, or undefined when seats are gone: the caller rolls back. */
  claim(tx: Transaction, mode: Mode, reference: Uint8Array, passengers: number): Promise<string | undefined>
  /** Gives back what a claim took. The caller makes sure that it happens once. */
  release(tx: Transaction, mode: Mode, claim: string, passengers: number): Promise<void>
}

/** A leg's departure, by the name under which its seats are sold and the local date on which it leaves. */
export type LegDeparture = { leg: string; departs: string }

/** What has become of a departure since it was sold. */
export type OperatedLeg = LegDeparture & { cancelled: boolean; delayMinutes: number }

/** How many bookings have followed an operation, by what it meant for them; `failed` ones were passed over for a defect. */
export type Followed = { updated: number; cancelled: number; unchanged: number; failed: number }

/** Something a carrier did to a flight, after which the bookings on it follow in batches. */
export type FlightOperation = {
  id: number
  /** What its legs are now, which may be the work of a later operation. */
  legs: readonly OperatedLeg[]
  /** Up to where bookings have followed. */
  reached: number
  followed: Followed
  finished: boolean
}

/** How a supplier whose flights are our own tells what it did to them. */
export type Operations = {
  /** The departures on which a claim has seats, in the order they are flown. */
  legs(claim: string): readonly LegDeparture[]
  /**
   * Takes an operation for one batch: until the transaction ends nobody else works on it, and its legs stay what they are. Without an id
   * any that is unfinished and that nobody works on.
   */
  take(tx: Transaction, id: number | undefined): Promise<FlightOperation | undefined>
  /** Notes what was reached with a batch, in its transaction. */
  note(tx: Transaction, operation: FlightOperation): Promise<void>
  /** Gives back the seats of many claims in one go, so that a flight's row is written once a batch. */
  release(
    tx: Transaction,
    claims: readonly { mode: Mode; claim: string; passengers: number }[],
  ): Promise<void>
}

/**
 * Who fulfils an offer. The one port of the house: own flights and outside systems stand behind it.
 * Every call is given a deadline by `signal`; a supplier must settle soon after it fires.
 */
export type Supplier = {
  /** Short stable name, sealed into offers and stored with bookings. */
  readonly name: string
  readonly stock?: Stock
  readonly operations?: Operations
  /** How long after the last moment a call could have committed an absent reservation is final, in milliseconds. */
  readonly absentFinalAfterMs: number
  search(query: SupplierQuery, signal: AbortSignal): Promise<readonly Proposal[]>
  quote(mode: Mode, reference: Uint8Array, passengers: number, signal: AbortSignal): Promise<Quote>
  reserve(reservation: Reservation, signal: AbortSignal): Promise<Outcome>
  lookUp(reservation: Reservation, signal: AbortSignal): Promise<LookUp>
  cancel(reservation: Reservation, signal: AbortSignal): Promise<Cancellation>
}

/**
 * Asks a supplier under a deadline. What has not settled by then rejects, whether the supplier heeds its signal or not.
 * @throws Error after `deadlineMs`, or whatever the supplier threw
 */
export async function within<T>(deadlineMs: number, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const silence = new Error(`no answer within ${deadlineMs} ms`)
    controller.abort(silence)
    late.reject(silence)
  }, deadlineMs)
  // A supplier's silence keeps no process from ending: what is pending is looked up by the next one.
  timer.unref()
  try {
    return await Promise.race([ask(controller.signal), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
