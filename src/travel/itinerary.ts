/** Cabins the contract names. A cabin is not a booking class (a letter) and not a fare (a price). */
export const CABINS = ['economy', 'business', 'first'] as const
export type Cabin = (typeof CABINS)[number]

/** Where and when a segment begins or ends. `minute` counts from 2000-01-01T00:00Z, `offset` is the airport's UTC offset in minutes then. */
export type Stop = {
  airport: string
  minute: number
  offset: number
  /** Empty where the schedule names none. */
  terminal: string
  /** Minutes by which `minute` is later than it was sold; left out while it is not. */
  delay?: number
}

/** What one flight number carries a traveller from boarding to leaving: one leg or more. */
export type Segment = {
  /** Marketing carrier's IATA code. */
  carrier: string
  /** Flight number with its operational suffix, no blank: `15`, `123A`. */
  number: string
  operatingCarrier: string
  /** Operating flight number, equal to `number` unless it is a codeshare. */
  operatingNumber: string
  departure: Stop
  arrival: Stop
  /** Landings between boarding and leaving. */
  stops: number
  aircraft: string
  cabin: Cabin
  bookingClass: string
  /** Seat numbers that have been assigned, by the passenger's position in the booking. */
  seats?: readonly { passenger: number; seat: string }[]
}

/** One direction of travel: one segment or more. */
export type Slice = { segments: readonly Segment[] }

/** First departure of a slice. */
export function departureOf(slice: Slice): Stop {
  return slice.segments[0]!.departure
}

/** Last arrival of a slice. */
export function arrivalOf(slice: Slice): Stop {
  return slice.segments.at(-1)!.arrival
}

/** Elapsed minutes from first departure to last arrival. */
export function elapsedMinutes(slice: Slice): number {
  return arrivalOf(slice).minute - departureOf(slice).minute
}

/** Landings between first departure and last arrival: connections and stops of through flights. */
export function stopsOf(slice: Slice): number {
  return slice.segments.reduce((sum, segment) => sum + segment.stops, slice.segments.length - 1)
}
