import type { z } from 'zod'
import type { Booking, Traveller } from '../booking/booking.ts'
import type { Offer, SearchAnswer } from '../offer/offer.ts'
import { aircraftType } from '../travel/aircraft.ts'
import { carrierName } from '../travel/carrier.ts'
import {
  arrivalOf,
  departureOf,
  elapsedMinutes,
  type Segment,
  type Slice,
  type Stop,
  stopsOf,
} from '../travel/itinerary.ts'
import { type Money, toAmount } from '../travel/money.ts'
import { formatDuration, formatLocal } from '../travel/time.ts'
import type * as shape from './answer.ts'

/** The answer to a search, as text. */
export function renderSearch(answer: SearchAnswer, requestId: string): string {
  const body: z.input<typeof shape.SearchAnswerBody> = {
    status: 'ok',
    requestId,
    results: answer.offers.map(renderOffer),
    totalResults: answer.offers.length,
  }
  if (answer.warnings.length > 0)
    body.warnings = answer.warnings.map(({ code, message }) => ({ code, message }))
  return JSON.stringify(body)
}

/** The answer to book and to retrieve, as text. */
export function renderBooking(booking: Booking, requestId: string): string {
  const body: z.input<typeof shape.BookingAnswer> = { status: 'ok', requestId, ...bookingItem(booking) }
  return JSON.stringify(body)
}

/** A page of bookings, as text. */
export function renderBookings(
  bookings: readonly Booking[],
  nextCursor: string | undefined,
  requestId: string,
): string {
  const body: z.input<typeof shape.BookingsAnswer> = {
    status: 'ok',
    requestId,
    bookings: bookings.map(bookingItem),
    nextCursor: nextCursor ?? null,
  }
  return JSON.stringify(body)
}

/** The flat fields tell the way out from end to end; `slices` tells everything. */
function renderOffer(offer: Offer): z.input<typeof shape.OfferAnswer> {
  const slices = offer.slices.map(renderSlice)
  const { segments: _, ...outbound } = slices[0]!
  const first = offer.slices[0]!.segments[0]!
  return {
    offerId: offer.id,
    type: 'flight',
    carrier: carrierName(first.carrier),
    flightNumber: first.carrier + first.number,
    ...outbound,
    price: { ...price(offer.perPerson), perPerson: true },
    totalPrice: price(offer.total),
    seatsAvailable: offer.seatsAvailable,
    expiresAt: new Date(offer.expiresAt).toISOString(),
    slices,
    conditions: conditionsOf(offer),
    requirements: ['date_of_birth', 'travel_document'],
  }
}

/** What a fare allows once it is booked. No supplier of this house sells a fare that may be changed or given back yet. */
function conditionsOf(_offer: Offer): z.input<typeof shape.OfferAnswer>['conditions'] {
  return { refundBeforeDeparture: { allowed: false }, changeBeforeDeparture: { allowed: false } }
}

function bookingItem(booking: Booking): z.input<typeof shape.BookingItem> {
  return {
    bookingId: booking.id,
    bookingStatus: booking.status,
    pnr: booking.recordLocator,
    totalPrice: price(booking.total),
    confirmationEmail: booking.contactEmail,
    mode: booking.mode,
    pricePerPerson: price(booking.perPerson),
    contactPhone: booking.contactPhone,
    passengers: booking.travellers.map(renderTraveller),
    slices: booking.slices.map(renderSlice),
    statusHistory: booking.statusHistory.map(({ status, at }) => ({ status, at })),
    changes: booking.changes.map(({ version, at, kind, fields }) => ({
      version,
      at,
      kind,
      fields: [...fields],
    })),
    version: booking.version,
    createdAt: booking.createdAt.toISOString(),
    updatedAt: booking.updatedAt.toISOString(),
  }
}

function renderTraveller({
  firstName,
  lastName,
  dateOfBirth,
  document,
}: Traveller): z.input<typeof shape.PassengerAnswer> {
  const who = { firstName, lastName, dateOfBirth }
  if (document === undefined) return who
  return {
    ...who,
    documentType: document.type,
    documentLastFour: document.lastFour,
    documentExpiry: document.expiry,
  }
}

function renderSlice(slice: Slice): z.input<typeof shape.SliceAnswer> {
  const segments = slice.segments.map(renderSegment)
  return {
    origin: departureOf(slice).airport,
    destination: arrivalOf(slice).airport,
    departureTime: segments[0]!.departureTime,
    arrivalTime: segments.at(-1)!.arrivalTime,
    duration: formatDuration(elapsedMinutes(slice)),
    stops: stopsOf(slice),
    segments,
  }
}

function renderSegment(segment: Segment): z.input<typeof shape.SegmentAnswer> {
  const { departure, arrival } = segment
  return {
    marketingCarrier: { code: segment.carrier, name: carrierName(segment.carrier) },
    operatingCarrier: { code: segment.operatingCarrier, name: carrierName(segment.operatingCarrier) },
    flightNumber: segment.carrier + segment.number,
    operatingFlightNumber: segment.operatingCarrier + segment.operatingNumber,
    origin: departure.airport,
    destination: arrival.airport,
    departureTime: localTime(departure),
    arrivalTime: localTime(arrival),
    ...(departure.terminal === '' ? {} : { departureTerminal: departure.terminal }),
    ...(arrival.terminal === '' ? {} : { arrivalTerminal: arrival.terminal }),
    duration: formatDuration(arrival.minute - departure.minute),
    stops: segment.stops,
    aircraft: { code: segment.aircraft, name: aircraftType(segment.aircraft)?.name ?? segment.aircraft },
    cabin: segment.cabin,
    bookingClass: segment.bookingClass,
    ...(segment.seats === undefined
      ? {}
      : { seats: segment.seats.map(({ passenger, seat }) => ({ passenger, seat })) }),
  }
}

/** Local times written lately, by minute and offset: the offers of an answer share most of theirs. */
const written = new Map<number, string>()
const WRITTEN_MAX = 20_000

function localTime({ minute, offset }: Stop): string {
  const key = minute * 4096 + offset + 2048
  let text = written.get(key)
  if (text === undefined) {
    text = formatLocal(minute, offset)
    if (written.size >= WRITTEN_MAX) written.clear()
    written.set(key, text)
  }
  return text
}

function price(money: Money): { amount: number; currency: string } {
  return { amount: toAmount(money), currency: money.currency }
}
