import { z } from 'zod'
import { BOOKING_STATUSES } from '../booking/booking.ts'
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
 * The shapes of all requests. A field carries one message, given for whatever is wrong with it: what the partner should send instead. The
 * OpenAPI document is made from these same shapes.
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
          description:
            'Currency of all prices in the answer. Left out: USD at the international address, CNY at the China one.',
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
