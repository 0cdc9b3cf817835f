import { Agent, request } from 'node:http'

/** How long a partner waits for an answer before the outcome counts as unknown. */
const PATIENCE_MS = 20_000

/**
 * What a partner knows after a call: it was done, it was refused, or nobody knows (connection lost, no answer in time, 5xx). Only the first
 * two can be relied on.
 */
export type Outcome =
  | { kind: 'ok'; body: string; json: Fields; replayed: boolean }
  | { kind: 'refused'; status: number; code: string; body: string; replayed: boolean }
  | { kind: 'unknown'; why: string }

/** An answer's JSON, of which a caller reads what the contract promises. */
export type Fields = Readonly<Record<string, unknown>>

export type Search = {
  origin: string
  destination: string
  departDate: string
  returnDate?: string
  passengers?: number
}
export type Offer = {
  offerId: string
  totalPrice: { amount: number; currency: string }
  seatsAvailable: number
}
export type BookBody = {
  offerId: string
  passengers: readonly Readonly<Record<string, string>>[]
  contactEmail: string
  contactPhone: string
}
/** A booking as far as campaigns look at it. */
export type BookingFields = {
  bookingId: string
  bookingStatus: string
  pnr: string
  totalPrice: { amount: number; currency: string }
  confirmationEmail: string
  passengers: readonly Fields[]
}

/** A partner's program. */
export type Client = {
  search(query: Search): Promise<Outcome>
  book(body: BookBody, idempotencyKey?: string): Promise<Outcome>
  retrieve(bookingId: string): Promise<Outcome>
  /** Every booking of the account, page by page. @throws Error unless all pages are answered */
  bookings(): Promise<BookingFields[]>
  /** Sends anything; for what the other calls cannot say. */
  call(
    method: string,
    path: string,
    body?: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Outcome>
  /** Closes its connections. */
  close(): void
}

export type ClientOptions = {
  baseUrl: string
  key: string
  patienceMs?: number
  /** False: a new connection for every call. */
  keepAlive?: boolean
  connections?: number
}

/** A client of one partner with connections of its own. */
export function connectClient(options: ClientOptions): Client {
  const { baseUrl, key, patienceMs = PATIENCE_MS, keepAlive = true, connections = 256 } = options
  const agent = new Agent({ keepAlive, maxSockets: connections })

  function call(
    method: string,
    path: string,
    body?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> {
    return new Promise(resolve => {
      const lost = (why: string) => resolve({ kind: 'unknown', why })
      const sent = request(
        `${baseUrl}${path}`,
        {
          method,
          agent,
          headers: {
            authorization: `Bearer ${key}`,
            ...(body === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
            ...headers,
          },
        },
        response => {
          const chunks: Buffer[] = []
          response.on('data', chunk => chunks.push(chunk))
          response.on('error', error => lost(reason(error)))
          response.on('aborted', () => lost('answer cut off'))
          response.on('end', () => {
            clearTimeout(timer)
            resolve(
              judge(
                response.statusCode!,
                Buffer.concat(chunks).toString('utf8'),
                response.headers['idempotent-replayed'] === 'true',
              ),
            )
          })
        },
      )
      const timer = setTimeout(() => sent.destroy(new Error('no answer in time')), patienceMs)
      sent.on('error', error => {
        clearTimeout(timer)
        lost(reason(error))
      })
      sent.end(body)
    })
  }

  async function bookings(): Promise<BookingFields[]> {
    const all: BookingFields[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Outcome = await call(
        'GET',
        `/travel/bookings?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      if (page.kind !== 'ok') throw new Error(`The bookings could not be listed: ${JSON.stringify(page)}`)
      all.push(...(page.json.bookings as BookingFields[]))
      cursor = page.json.nextCursor as string | null
    }
    return all
  }

  return {
    search: query => call('POST', '/travel/search', JSON.stringify(query)),
    book: (body, idempotencyKey) =>
      call(
        'POST',
        '/travel/book',
        JSON.stringify(body),
        idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
      ),
    retrieve: bookingId => call('GET', `/travel/booking/${bookingId}`),
    bookings,
    call,
    close: () => agent.destroy(),
  }
}

/** The offers of a search's outcome, best first; none unless it succeeded. */
export function offersOf(outcome: Outcome): readonly Offer[] {
  return outcome.kind === 'ok' ? (outcome.json.results as Offer[]) : []
}

/** The booking in an outcome of book or retrieve. */
export function bookingOf(outcome: Outcome & { kind: 'ok' }): BookingFields {
  return outcome.json as unknown as BookingFields
}

/** A body that books an offer for `party` people. The mark makes its e-mail address and documents unlike any other's. */
export function bookBody(offerId: string, mark: string, party: number): BookBody {
  return {
    offerId,
    passengers: Array.from({ length: party }, (_, i) => ({
      firstName: 'Ada',
      lastName: `Byron${'ABCDEFGHI'[i]}`,
      dateOfBirth: '1990-12-10',
      documentType: 'passport',
      documentNumber: `${mark}${i}`,
      documentExpiry: '2036-01-31',
    })),
    contactEmail: `${mark.toLowerCase()}@example.com`,
    contactPhone: '+442079460018',
  }
}

function judge(status: number, body: string, replayed: boolean): Outcome {
  if (status >= 500) return { kind: 'unknown', why: `answered ${status}` }
  try {
    const json = JSON.parse(body) as Fields
    if (status < 300) return { kind: 'ok', body, json, replayed }
    return { kind: 'refused', status, code: (json.error as { code: string }).code, body, replayed }
  } catch {
    return { kind: 'unknown', why: `answered ${status} without JSON` }
  }
}

function reason(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? error.message
}
