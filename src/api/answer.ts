import { z } from 'zod'
import { BOOKING_STATUSES, CHANGE_KINDS, CHANGES_KEPT } from '../booking/booking.ts'
import { OFFERS_MAX } from '../offer/offer.ts'
import { REFUSALS, type RefusalCode } from '../refusal.ts'
import { CABINS } from '../travel/itinerary.ts'
import { DOCUMENT_TYPES } from '../travel/passenger.ts'

/** The shapes of all answers: what `render.ts` must give, by its types, and what the OpenAPI document promises. */
export const requestId = z
  .string()
  .regex(/^req_[0-9A-Za-z]{24}$/)
  .meta({
    description: 'Names this request; quote it when you ask for help. Also in `X-Request-Id`.',
    examples: ['req_7Yw0cBqfJ3uXo1sVaE5tLk2Z'],
  })
export const ok = z.literal('ok')
const iata = z.string().regex(/^[A-Z]{3}$/)
const localTime = (what: string) =>
  z.string().meta({
    format: 'date-time',
    description: `${what}: local time at the airport with its UTC offset on that day.`,
    examples: ['2027-03-28T09:40:00+01:00'],
  })
export const instant = (what: string) =>
  z
    .string()
    .regex(/Z$/)
    .meta({ format: 'date-time', description: `${what}, in UTC.`, examples: ['2026-11-21T10:15:00.000Z'] })
const duration = (what: string) =>
  z
    .string()
    .regex(/^PT(?:\d+H)?(?:\d+M)?$/)
    .meta({ description: `${what}, as an ISO 8601 duration.`, examples: ['PT8H5M'] })
const named = (what: string) =>
  z.object({
    code: z.string().meta({ description: `${what} code.` }),
    name: z.string().meta({ description: `${what} in words.` }),
  })

export const Price = z
  .object({
    amount: z
      .number()
      .min(0)
      .meta({ description: 'Taxes and fees included.', examples: [412.5] }),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .meta({ description: 'ISO 4217 code.', examples: ['USD'] }),
  })
  .meta({ title: 'Price' })

export const SegmentAnswer = z
  .object({
    marketingCarrier: named('Airline that sells the flight: its IATA').meta({
      description: 'The airline whose flight number this is.',
    }),
    operatingCarrier: named('Airline that flies: its IATA').meta({
      description: 'The airline that flies it.',
    }),
    flightNumber: z
      .string()
      .meta({ description: 'Marketing carrier and number, no blank.', examples: ['BA15'] }),
    operatingFlightNumber: z
      .string()
      .meta({ description: 'Operating carrier and number; equal unless it is a codeshare.' }),
    origin: iata,
    destination: iata,
    departureTime: localTime('Departure'),
    arrivalTime: localTime('Arrival'),
    departureTerminal: z.string().optional().meta({ description: 'Left out where the schedule names none.' }),
    arrivalTerminal: z.string().optional().meta({ description: 'Left out where the schedule names none.' }),
    duration: duration('From take-off to landing, stops included'),
    stops: z.int().min(0).meta({ description: 'Landings on the way under this flight number.' }),
    aircraft: named('Aircraft type').meta({ description: 'Planned aircraft; may change.' }),
    cabin: z.enum(CABINS),
    bookingClass: z.string().meta({ description: "The airline's letter for this fare.", examples: ['Y'] }),
    seats: z
      .array(
        z.object({
          passenger: z.int().min(0).meta({ description: 'Position in `passengers`, from 0.' }),
          seat: z.string().meta({ examples: ['12A'] }),
        }),
      )
      .optional()
      .meta({ description: 'Seat numbers, once the airline has assigned any.' }),
  })
  .meta({ title: 'Segment', description: 'What one flight number carries you from boarding to leaving.' })

export const SliceAnswer = z
  .object({
    origin: iata,
    destination: iata,
    departureTime: localTime('First departure'),
    arrivalTime: localTime('Last arrival'),
    duration: duration('From first departure to last arrival'),
    stops: z.int().min(0).meta({ description: 'Landings between first departure and last arrival.' }),
    segments: z.array(SegmentAnswer),
  })
  .meta({ title: 'Slice', description: 'One direction of travel.' })

const permission = z.object({ allowed: z.boolean() })

export const OfferAnswer = z
  .object({
    offerId: z
      .string()
      .meta({ description: 'Send it to book. Valid until `expiresAt`.', examples: ['off_3vQb…'] }),
    type: z.enum(['flight', 'package']).meta({ description: 'What is offered.' }),
    carrier: z
      .string()
      .meta({ description: 'Airline that sells the first outbound flight.', examples: ['British Airways'] }),
    flightNumber: z.string().meta({ description: 'First outbound flight.', examples: ['BA15'] }),
    origin: iata.meta({ description: 'Airport of the first outbound departure.' }),
    destination: iata.meta({ description: 'Airport of the last outbound arrival.' }),
    departureTime: localTime('First outbound departure'),
    arrivalTime: localTime('Last outbound arrival'),
    duration: duration('Outbound, from first departure to last arrival'),
    stops: z.int().min(0).meta({ description: 'Landings on the way out.' }),
    price: Price.extend({ perPerson: z.literal(true) }).meta({
      description: 'For one person, the whole trip: the way back is included.',
    }),
    totalPrice: Price.meta({ description: 'For all passengers of the search.' }),
    seatsAvailable: z
      .int()
      .min(1)
      .meta({ description: 'Seats left at this price; never fewer than your passengers.' }),
    expiresAt: instant('Last moment at which it can be booked'),
    slices: z.array(SliceAnswer).meta({ description: 'The way out and, for a round trip, the way back.' }),
    conditions: z
      .object({ refundBeforeDeparture: permission, changeBeforeDeparture: permission })
      .meta({ description: 'What the fare allows after booking.' }),
    requirements: z
      .array(z.enum(['date_of_birth', 'travel_document']))
      .meta({ description: 'What every passenger has to give to book.' }),
  })
  .meta({ title: 'Offer' })

export const SearchAnswerBody = z
  .object({
    status: ok,
    requestId,
    results: z.array(OfferAnswer).max(OFFERS_MAX).meta({ description: 'Best first.' }),
    totalResults: z.int().min(0).meta({ description: 'Number of offers in `results`.' }),
    warnings: z
      .array(z.object({ code: z.string(), message: z.string() }))
      .optional()
      .meta({
        description:
          'What to know about an answer that is otherwise complete; left out when there is nothing to say.',
      }),
  })
  .meta({ title: 'Search answer' })

export const PassengerAnswer = z
  .object({
    firstName: z.string(),
    lastName: z.string(),
    dateOfBirth: z.string().meta({ format: 'date' }),
    documentType: z
      .enum(DOCUMENT_TYPES)
      .optional()
      .meta({ description: 'Left out once the document has been erased.' }),
    documentLastFour: z
      .string()
      .max(4)
      .optional()
      .meta({ description: 'Last four characters of the document number.', examples: ['4567'] }),
    documentExpiry: z.string().optional().meta({ format: 'date' }),
  })
  .meta({ title: 'Passenger of a booking' })

const bookingFields = {
  bookingId: z.string().meta({
    description: 'Names the booking; retrieve takes it.',
    examples: ['bkg_Vn4Xr0Tq8kZpYw2LcJ6uHs1D'],
  }),
  bookingStatus: z
    .enum(BOOKING_STATUSES)
    .meta({ description: 'Where the booking stands; `failed` and `cancelled` are final.' }),
  pnr: z.string().meta({
    description: "The airline's record locator; empty while the booking is pending.",
    examples: ['K7QX2M'],
  }),
  totalPrice: Price.meta({ description: 'For all passengers.' }),
  confirmationEmail: z
    .string()
    .meta({ description: 'Where the confirmation is sent.', examples: ['ada@example.com'] }),
  mode: z.enum(['live', 'test']).meta({ description: 'Which kind of key made it.' }),
  pricePerPerson: Price.meta({ description: 'For one person.' }),
  contactPhone: z.string().meta({ examples: ['+442079460018'] }),
  passengers: z.array(PassengerAnswer),
  slices: z.array(SliceAnswer),
  statusHistory: z
    .array(z.object({ status: z.enum(BOOKING_STATUSES), at: instant('Since when') }))
    .meta({ description: 'Every status the booking has had, oldest first.' }),
  changes: z
    .array(
      z.object({
        version: z.int().min(2).meta({ description: 'The version that the change made.' }),
        at: instant('When it happened'),
        kind: z
          .enum(CHANGE_KINDS)
          .meta({ description: 'Times of flights, seat numbers, the record locator, or the contact.' }),
        fields: z
          .array(
            z.object({
              path: z.string().meta({
                description: 'Field of this answer.',
                examples: ['slices[0].segments[0].departureTime'],
              }),
              from: z
                .string()
                .optional()
                .meta({ description: 'What it was; left out where it was nothing.' }),
              to: z.string().optional().meta({ description: 'What it became.' }),
            }),
          )
          .meta({ description: 'A contact is named without its values.' }),
      }),
    )
    .max(CHANGES_KEPT)
    .meta({
      description: 'What changed while the status stayed the same, oldest first; the latest are kept.',
    }),
  version: z.int().min(1).meta({ description: 'Raised by one with every change.' }),
  createdAt: instant('When it was made'),
  updatedAt: instant('When it last changed'),
}

export const BookingItem = z.object(bookingFields).meta({ title: 'Booking' })
export const BookingAnswer = z
  .object({ status: ok, requestId, ...bookingFields })
  .meta({ title: 'Booking answer' })

export const BookingsAnswer = z
  .object({
    status: ok,
    requestId,
    bookings: z.array(BookingItem).meta({ description: 'Newest first.' }),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: 'Send it as `cursor` for the next page; null on the last one.' }),
  })
  .meta({ title: 'Page of bookings' })

export const HealthAnswer = z.object({ status: ok, requestId }).meta({ title: 'Health' })

const codes = Object.keys(REFUSALS) as [RefusalCode, ...RefusalCode[]]

export const ErrorAnswer = z
  .object({
    status: z.literal('error'),
    requestId,
    error: z.object({
      code: z.enum(codes).meta({ description: 'Stable name of the condition; branch on this.' }),
      message: z.string().meta({ description: 'What to do next, in words. May change; do not parse it.' }),
      param: z
        .string()
        .optional()
        .meta({ description: 'Path of the first faulty field.', examples: ['passengers[0].documentExpiry'] }),
      details: z
        .array(z.object({ param: z.string(), code: z.string(), message: z.string() }))
        .optional()
        .meta({ description: 'Every faulty field.' }),
      priceChange: z.object({ from: Price, to: Price }).optional().meta({
        description: 'With `unavailable`: the quoted price for one person and the one that holds now.',
      }),
      retryable: z.boolean().meta({ description: 'Whether the same request can succeed later.' }),
      docUrl: z.string().meta({ format: 'uri-reference', description: 'Where this code is explained.' }),
    }),
  })
  .meta({ title: 'Error' })
