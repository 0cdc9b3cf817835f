import { type House, startHouse } from '../support/house.ts'
import { type Answered, ask, type Json } from '../support/openapi.ts'

/** How a partner calls a house: base address and key of the international region, unless said otherwise. */
export type Call = {
  method?: string
  /** A value is sent as JSON; text and bytes as they are. */
  body?: unknown
  /** `''` sends none. */
  key?: string
  base?: string
  headers?: Record<string, string>
}

export type Partner = {
  house: House
  /** Sends a request and refuses an answer that the OpenAPI document does not describe. */
  call(path: string, call?: Call): Promise<Answered & { json: Json }>
  search(some?: Record<string, unknown>, call?: Call): Promise<Answered & { json: Json }>
  /** The offerId of the first result. */
  offer(some?: Record<string, unknown>, call?: Call): Promise<string>
  book(offerId: string, some?: Record<string, unknown>, call?: Call): Promise<Answered & { json: Json }>
}

/** A house with room for many searches, and a partner who calls it with the demo account's test key. */
export async function openPartner(env: Record<string, string> = {}): Promise<Partner> {
  const limits = 'search.test=1000000/60s,search.developer=1000000/60s,search.enterprise=1000000/60s'
  const house = await startHouse({ env: { AIRSIDE_LIMITS: limits, ...env } })
  const call: Partner['call'] = (
    path,
    { method, body, key = house.intl.test, base = house.intl.baseUrl, headers = {} } = {},
  ) =>
    ask(base + path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : {
            body:
              typeof body === 'string' || body instanceof Uint8Array
                ? (body as string)
                : JSON.stringify(body),
          }),
    })
  const search: Partner['search'] = (some = {}, how = {}) =>
    call('/travel/search', {
      ...how,
      body: { origin: 'LHR', destination: 'SIN', departDate: day(30), ...some },
    })
  return {
    house,
    call,
    search,
    async offer(some, how) {
      const { json } = await search(some, how)
      return json.results[0]!.offerId
    },
    book: (offerId, some = {}, how = {}) =>
      call('/travel/book', { ...how, body: { ...bookingOf(offerId), ...some } }),
  }
}

const DAY_MS = 86_400_000

/** The calendar date so many days from today in UTC. */
export function day(ahead: number): string {
  return new Date(Date.now() + ahead * DAY_MS).toISOString().slice(0, 10)
}

/** A passenger of one's own document for each number. */
export function passenger(i: number, some: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    firstName: 'Ada',
    lastName: 'Byron',
    dateOfBirth: '1990-12-10',
    documentType: 'passport',
    documentNumber: `X12345${i}67`,
    documentExpiry: day(2000),
    ...some,
  }
}

/** A body that books an offer for so many passengers. */
export function bookingOf(offerId: string, passengers = 1): Record<string, unknown> {
  return {
    offerId,
    passengers: Array.from({ length: passengers }, (_, i) => passenger(i)),
    contactEmail: 'ada@example.com',
    contactPhone: '+442079460018',
  }
}

/** An answer's bytes without what differs by design. */
export function withoutRequestId(text: string): string {
  return text.replace(/req_[0-9A-Za-z]{24}/g, 'req_')
}
