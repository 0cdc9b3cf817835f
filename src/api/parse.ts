import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { z } from 'zod'
import type { BookingStatus, BookRequest } from '../booking/booking.ts'
import type { OfferQuery } from '../offer/offer.ts'
import { type Fault, invalidParams } from '../refusal.ts'
import type { Passenger } from '../travel/passenger.ts'
import { BookingRequest, IDEMPOTENCY_KEY, PageRequest, SearchRequest } from './schema.ts'

const OLDEST_YEARS = 120

/**
 * A search as its body asks for it. Whether the places and days can be searched is the offer room's matter.
 * @param currency of answers where the body names none
 * @throws Refusal invalid_params naming every faulty field
 */
export function parseSearch(body: unknown, currency: string): OfferQuery {
  const request = parse(SearchRequest, body, [])
  return {
    origin: request.origin,
    destination: request.destination,
    departDate: request.departDate,
    returnDate: request.returnDate,
    passengers: request.passengers,
    cabin: request.class,
    currency: request.currency ?? currency,
  }
}

/**
 * A booking as its body asks for it, names in NFC and the phone number in E.164. Whether the party fits the offer, and the documents the
 * trip, is the booking room's matter.
 * @param now milliseconds since 1970
 * @throws Refusal invalid_params naming every faulty field
 */
export function parseBooking(body: unknown, now: number): BookRequest {
  const found: Fault[] = []
  const passengers = at(body, ['passengers'])
  if (Array.isArray(passengers) && passengers.length <= 9) {
    found.push(...birthFaults(passengers, now), ...sharedDocuments(passengers))
  }
  const typed = at(body, ['contactPhone'])
  const phone = typeof typed === 'string' && typed.length <= 64 ? phoneNumber(typed.trim()) : undefined
  if (phone === undefined) {
    found.push(
      fault(
        'contactPhone',
        'invalid_format',
        'give a phone number with its country code, such as +442079460018',
      ),
    )
  }
  const request = parse(BookingRequest, body, found)
  return {
    offerId: request.offerId,
    passengers: request.passengers,
    contactEmail: request.contactEmail,
    contactPhone: phone!,
  }
}

/**
 * Which page of bookings a query string asks for.
 * @throws Refusal invalid_params
 */
export function parsePage(query: URLSearchParams): {
  limit: number
  cursor: string | undefined
  status?: BookingStatus
} {
  const { limit, cursor, status } = parse(PageRequest, Object.fromEntries(query), [])
  return status === undefined ? { limit, cursor } : { limit, cursor, status }
}

/**
 * The Idempotency-Key header, if there is one.
 * @throws Refusal invalid_params unless it is 1 to 255 visible characters
 */
export function parseIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && IDEMPOTENCY_KEY.test(header)) return header
  throw invalidParams([
    fault(
      'Idempotency-Key',
      'invalid_format',
      'send 1 to 255 visible ASCII characters without blanks, such as a UUID',
    ),
  ])
}

const fault = (param: string, code: string, message: string): Fault => ({ param, code, message })

/**
 * Checks `body` against a shape; all faults, the shape's and those found already, are reported at once and one a field.
 * @throws Refusal invalid_params
 */
export function parse<S extends z.ZodType>(shape: S, body: unknown, found: readonly Fault[]): z.output<S> {
  const result = shape.safeParse(body)
  if (result.success && found.length === 0) return result.data
  const faults = new Map<string, Fault>()
  for (const issue of result.error?.issues ?? []) {
    const one = toFault(issue, body)
    if (!faults.has(one.param)) faults.set(one.param, one)
  }
  if (!faults.has('body')) for (const one of found) if (!faults.has(one.param)) faults.set(one.param, one)
  throw invalidParams([...faults.values()])
}

function toFault(issue: z.core.$ZodIssue, body: unknown): Fault {
  const param = pathOf(issue.path)
  if (param !== 'body' && at(body, issue.path) === undefined)
    return fault(param, 'required', `is missing: ${issue.message}`)
  return fault(param, faultCode(issue.code), issue.message)
}

function faultCode(code: z.core.$ZodIssue['code']): string {
  if (code === 'invalid_type') return 'invalid_type'
  if (code === 'too_big' || code === 'too_small') return 'out_of_range'
  return code === 'invalid_value' ? 'not_allowed' : 'invalid_format'
}

/** `passengers[0].documentExpiry` */
function pathOf(path: readonly PropertyKey[]): string {
  let text = ''
  for (const step of path)
    text += typeof step === 'number' ? `[${step}]` : text === '' ? String(step) : `.${String(step)}`
  return text === '' ? 'body' : text
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<PropertyKey, unknown>)[step]
  }
  return value
}

/** `YYYY-MM-DD` compares as text. Today counts as the future: nobody is booked on the day of birth. */
function birthFaults(passengers: readonly unknown[], now: number): Fault[] {
  const today = new Date(now).toISOString().slice(0, 10)
  const oldest = `${Number(today.slice(0, 4)) - OLDEST_YEARS}${today.slice(4)}`
  const faults: Fault[] = []
  passengers.forEach((passenger, i) => {
    const born = at(passenger, ['dateOfBirth'])
    if (typeof born !== 'string' || (born < today && born >= oldest)) return
    faults.push(
      fault(
        `passengers[${i}].dateOfBirth`,
        'out_of_range',
        'give the date of birth as YYYY-MM-DD, in the past and within 120 years',
      ),
    )
  })
  return faults
}

function sharedDocuments(passengers: readonly unknown[]): Fault[] {
  const owner = new Map<string, number>()
  const faults: Fault[] = []
  passengers.forEach((passenger, i) => {
    const { documentType, documentNumber } = (passenger ?? {}) as Partial<Passenger>
    if (typeof documentType !== 'string' || typeof documentNumber !== 'string') return
    const document = `${documentType} ${documentNumber.toUpperCase().replace(/[^0-9A-Z]/g, '')}`
    const first = owner.get(document)
    if (first === undefined) owner.set(document, i)
    else
      faults.push(
        fault(
          `passengers[${i}].documentNumber`,
          'duplicate',
          `is the document of passengers[${first}] too; give each passenger their own`,
        ),
      )
  })
  return faults
}

/** In E.164, if a number of this length can exist in the country that its code names. */
function phoneNumber(text: string): string | undefined {
  if (!text.startsWith('+')) return undefined
  const number = parsePhoneNumberFromString(text)
  return number?.isPossible() ? number.number : undefined
}
