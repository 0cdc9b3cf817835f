import { z } from 'zod'
import { BOOKING_STATUSES } from '../booking/booking.ts'
import { OFFERS_MAX } from '../offer/offer.ts'
import { REFUSALS, type RefusalCode } from '../refusal.ts'
import { CABINS } from '../travel/itinerary.ts'
import { currencyExponent } from '../travel/money.ts'
import { DOCUMENT_TYPES } from '../travel/passenger.ts'
import { dayNumber } from '../travel/time.ts'

/** Lengths and sizes that a request may have. */
export const PASSENGERS_MAX = 9
export const NAME_MAX = 100
export const DOCUMENT_NUMBER_MAX = 32
export const EMAIL_MAX = 254
export const OFFER_ID_LENGTH_MAX = 2048
export const CURSOR_MAX = 256
export const PAGE_DEFAULT = 25
export const PAGE_MAX = 100

/**
 * The shapes of all requests and answers. A request's field carries one message, given for whatever is wrong with it: what the partner
 * should send instead. The OpenAPI document is made from these same shapes.
 */
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** Whether `text` is `YYYY-MM-DD` and the calendar has that day. */
export function isCalendarDate(text: string): boolean {
  if (!DATE.test(text)) return false
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
}

const codePoints = (max: number) => (text: string) => text.length <= 2 * max && [...text].length <= max

const AIRPORT_REMEDY = 'give the IATA code of an airport or city in three capital letters, such as LHR'
const airportCode = () => z.string({ error: AIRPORT_REMEDY }).regex(/^[A-Z]{3}$/)

const travelDay = (remedy: string) =>
  z
    .string({ error: remedy })
    .refine(text => dayNumber(text) !== undefined, { error: remedy })
    .meta({ format: 'date' })

const calendarDate = (remedy: string) =>
  z.string({ error: remedy }).refine(isCalendarDate, { error: remedy }).meta({ format: 'date' })

export const SearchRequest = z
  .object(
    {
      origin: airportCode().meta({
        description:
          'Where the journey starts: the IATA code of an airport, or of a city for all its airports.',
        examples: ['LHR'],
      }),
      destination: airportCode().meta({
        description: 'Where the journey ends; another place than `origin`.',
        examples: ['JFK'],
      }),
      departDate: travelDay('give a calendar date as YYYY-MM-DD, such as 2027-03-28').meta({
        description: 'Local day of departure at the origin, from today there to 361 days ahead.',
        examples: ['2027-03-28'],
      }),
      returnDate: travelDay(
        'give a calendar date as YYYY-MM-DD, such as 2027-04-04, or leave it out for one way',
      )
        .optional()
        .meta({
          description: 'Local day of the flight back, not before `departDate`. Leave it out for one way.',
          examples: ['2027-04-04'],
        }),
      passengers: z
        .int({ error: 'give a whole number from 1 to 9, or leave it out for one' })
        .min(1)
        .max(PASSENGERS_MAX)
        .default(1)
        .meta({ description: 'How many people travel together on one booking.', examples: [2] }),
      class: z
        .enum(CABINS, { error: `give one of ${CABINS.join(', ')}` })
        .default('economy')
        .meta({ description: 'Cabin of every flight of the journey.' }),
      currency: z
        .string({ error: 'give a known ISO 4217 code in three capital letters, such as EUR' })
        .regex(/^[A-Z]{3}$/)
        .refine(code => currencyExponent(code) !== undefined, {
          error: 'give a known ISO 4217 code in three capital letters, such as EUR',
        })
        .optional()
        .meta({
          description: 'Currency of all prices in the answer. Left out: the currency of your account.',
          examples: ['EUR'],
        }),
    },
    { error: 'send a JSON object with at least origin, destination and departDate' },
  )
  .meta({ title: 'Search' })

const NAME_REMEDY = `give the name as on the travel document: at least one letter, no control characters, at most ${NAME_MAX} characters`
/** Line and paragraph separators and the marks that turn the direction of text would let a name rewrite what stands around it. */
const UNSEEN = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
const personName = () =>
  z
    .string({ error: NAME_REMEDY })
    .trim()
    .normalize('NFC')
    .refine(text => codePoints(NAME_MAX)(text) && /\p{L}/u.test(text) && !UNSEEN.test(text), {
      error: NAME_REMEDY,
    })
    .meta({ minLength: 1, maxLength: NAME_MAX })

export const PassengerRequest = z
  .object(
    {
      firstName: personName().meta({
        description: 'Given names, spelled as on the travel document.',
        examples: ['Ada'],
      }),
      lastName: personName().meta({
        description: 'Family name, spelled as on the travel document.',
        examples: ['Byron'],
      }),
      dateOfBirth: calendarDate(
        'give the date of birth as YYYY-MM-DD, in the past and within 120 years',
      ).meta({
        description: 'A day in the past, at most 120 years ago.',
        examples: ['1990-12-10'],
      }),
      documentType: z
        .enum(DOCUMENT_TYPES, { error: `give one of ${DOCUMENT_TYPES.join(', ')}` })
        .meta({ description: 'Which document the passenger travels on.' }),
      documentNumber: z
        .string({
          error: `give the number on the document: 4 to ${DOCUMENT_NUMBER_MAX} letters, digits or hyphens`,
        })
        .trim()
        .min(4)
        .max(DOCUMENT_NUMBER_MAX)
        .regex(/^[0-9A-Za-z][0-9A-Za-z ./()-]*$/)
        .meta({
          description: 'Number of the document. Kept encrypted; answers show its last four characters only.',
          examples: ['X1234567'],
        }),
      documentExpiry: calendarDate('give the last valid day of the document as YYYY-MM-DD').meta({
        description: 'Last day on which the document is valid; not before the last arrival of the trip.',
        examples: ['2031-06-30'],
      }),
    },
    { error: 'each passenger is an object with names, date of birth and travel document' },
  )
  .meta({ title: 'Passenger' })

export const BookingRequest = z
  .object(
    {
      offerId: z
        .string({ error: 'give the offerId of a search answer, unchanged' })
        .min(1)
        .max(OFFER_ID_LENGTH_MAX)
        .meta({
          description:
            'An offer from a search of the last 15 minutes, made by the same account in the same mode.',
          examples: ['off_3vQb…'],
        }),
      passengers: z
        .array(PassengerRequest, { error: 'list 1 to 9 passengers, exactly as many as the search asked for' })
        .min(1)
        .max(PASSENGERS_MAX)
        .meta({
          description:
            'Everyone who travels: exactly as many as the search asked for. No two share a document.',
        }),
      contactEmail: z
        .string({ error: 'give an e-mail address such as ada@example.com' })
        .trim()
        .max(EMAIL_MAX, { abort: true })
        .check(z.email({ error: 'give an e-mail address such as ada@example.com' }))
        .meta({
          description: 'Where the confirmation of the booking is sent.',
          examples: ['ada@example.com'],
        }),
      contactPhone: z
        .string({ error: 'give a phone number with its country code, such as +442079460018' })
        .trim()
        .max(32)
        .regex(/^\+[0-9 ().-]+$/)
        .meta({
          description:
            'Phone number with country code, starting with `+`. Blanks and hyphens may stand in it.',
          examples: ['+442079460018'],
        }),
    },
    { error: 'send a JSON object with offerId, passengers, contactEmail and contactPhone' },
  )
  .meta({ title: 'Booking request' })

/** The query string of a list of bookings. */
export const PageRequest = z.object({
  limit: z
    .string({ error: `give a whole number from 1 to ${PAGE_MAX}` })
    .regex(/^[1-9]\d{0,2}$/)
    .transform(Number)
    .pipe(z.int().max(PAGE_MAX, { error: `give a whole number from 1 to ${PAGE_MAX}` }))
    .default(PAGE_DEFAULT),
  cursor: z
    .string({ error: 'give the nextCursor of the page before, unchanged' })
    .min(1)
    .max(CURSOR_MAX)
    .optional(),
  status: z.enum(BOOKING_STATUSES, { error: `give one of ${BOOKING_STATUSES.join(', ')}` }).optional(),
})

/** 1 to 255 visible characters. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/

const requestId = z
  .string()
  .regex(/^req_[0-9A-Za-z]{24}$/)
  .meta({
    description: 'Names this request; quote it when you ask for help. Also in `X-Request-Id`.',
    examples: ['req_7Yw0cBqfJ3uXo1sVaE5tLk2Z'],
  })
const ok = z.literal('ok')
const iata = z.string().regex(/^[A-Z]{3}$/)
const localTime = (what: string) =>
  z.string().meta({
    format: 'date-time',
    description: `${what}: local time at the airport with its UTC offset on that day.`,
    examples: ['2027-03-28T09:40:00+01:00'],
  })
const instant = (what: string) =>
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
