import { BOOKING_STATUSES } from '../../booking/booking.ts'
import { renderBooking, renderBookings, renderSearch } from '../render.ts'
import { CURSOR_MAX, PAGE_DEFAULT, PAGE_MAX } from '../schema.ts'
import {
  EXAMPLE_BOOK,
  EXAMPLE_BOOKING,
  EXAMPLE_OFFER,
  EXAMPLE_REQUEST_ID,
  EXAMPLE_SEARCH,
} from './example.ts'
import { ANY, json, KEYED, WITH_BODY } from './parts.ts'
import type { Operation } from './shapes.ts'
import { EVENT_OPERATIONS, WEBHOOK_OPERATIONS } from './webhook-operations.ts'

const healthy = json('HealthAnswer', JSON.stringify({ status: 'ok', requestId: EXAMPLE_REQUEST_ID }))

/** Every route, in the order of the reference. A test compares this list with what is served. */
export const OPERATIONS: readonly Operation[] = [
  {
    id: 'searchOffers',
    method: 'post',
    path: '/v1/travel/search',
    tag: 'Search',
    summary: 'Search offers',
    description:
      'Finds what is for sale between two places on a day, for a party of one to nine, one way or there and back. Answers up to 50 offers, best first. Each can be booked for 15 minutes.',
    limited: true,
    body: {
      schema: 'SearchRequest',
      examples: {
        oneWay: EXAMPLE_SEARCH,
        roundTrip: { ...EXAMPLE_SEARCH, returnDate: '2027-04-04', passengers: 2 },
      },
    },
    success: {
      status: 200,
      description: 'Offers, best first.',
      headers: ['RateLimit-Policy', 'RateLimit'],
      content: json(
        'SearchAnswer',
        renderSearch({ offers: [EXAMPLE_OFFER], warnings: [] }, EXAMPLE_REQUEST_ID),
      ),
    },
    errors: [...WITH_BODY, 'no_results', 'rate_limited'],
  },
  {
    id: 'bookOffer',
    method: 'post',
    path: '/v1/travel/book',
    tag: 'Bookings',
    summary: 'Book an offer',
    description:
      'Turns an offer into a booking. The answer comes within seconds: `confirmed` with the record locator, or `pending` when the airline takes longer; then retrieve the booking until it is settled. Send an `Idempotency-Key` so that a repeated request can never book twice.',
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'Names this booking attempt for 24 hours: repeating the request with the same key gives the same answer, byte for byte.',
        schema: {
          type: 'string',
          minLength: 1,
          maxLength: 255,
          pattern: '^[\\x21-\\x7e]+$',
          examples: ['7b0f6c1e-4a51-4f0e-9a55-2f7c1d0f8a63'],
        },
      },
    ],
    body: { schema: 'BookingRequest', examples: { onePassenger: EXAMPLE_BOOK } },
    success: {
      status: 200,
      description: 'The booking as it stands now; look at `bookingStatus`.',
      headers: ['Idempotent-Replayed'],
      content: json('BookingAnswer', renderBooking(EXAMPLE_BOOKING, EXAMPLE_REQUEST_ID)),
    },
    errors: [...WITH_BODY, 'conflict', 'expired_offer', 'unavailable', 'idempotency_mismatch'],
  },
  {
    id: 'retrieveBooking',
    method: 'get',
    path: '/v1/travel/booking/{id}',
    tag: 'Bookings',
    summary: 'Retrieve a booking',
    description: 'The booking as it stands now. While it is `pending`, ask again every few seconds.',
    parameters: [
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'The `bookingId` that book answered.',
        schema: { type: 'string', examples: [EXAMPLE_BOOKING.id] },
      },
    ],
    success: {
      status: 200,
      description: 'The booking.',
      content: json('BookingAnswer', renderBooking(EXAMPLE_BOOKING, EXAMPLE_REQUEST_ID)),
    },
    errors: [...KEYED, 'not_found'],
  },
  {
    id: 'listBookings',
    method: 'get',
    path: '/v1/travel/bookings',
    tag: 'Bookings',
    summary: 'List bookings',
    description: "The account's bookings in the key's mode, newest first, page by page.",
    parameters: [
      {
        name: 'limit',
        in: 'query',
        required: false,
        description: 'Bookings on a page.',
        schema: { type: 'integer', minimum: 1, maximum: PAGE_MAX, default: PAGE_DEFAULT },
      },
      {
        name: 'cursor',
        in: 'query',
        required: false,
        description: '`nextCursor` of the page before. Left out: the first page.',
        schema: { type: 'string', minLength: 1, maxLength: CURSOR_MAX },
      },
      {
        name: 'status',
        in: 'query',
        required: false,
        description: 'Only bookings that stand there now.',
        schema: { type: 'string', enum: [...BOOKING_STATUSES] },
      },
    ],
    success: {
      status: 200,
      description: 'A page of bookings.',
      content: json('BookingsAnswer', renderBookings([EXAMPLE_BOOKING], undefined, EXAMPLE_REQUEST_ID)),
    },
    errors: KEYED,
  },
  ...WEBHOOK_OPERATIONS,
  ...EVENT_OPERATIONS,
  {
    id: 'getOpenApi',
    method: 'get',
    path: '/v1/openapi.json',
    tag: 'Service',
    summary: 'This API as an OpenAPI document',
    description: 'OpenAPI 3.1, made from the shapes that check requests.',
    open: true,
    success: { status: 200, description: 'The document.', content: { type: 'application/json' } },
    errors: ANY,
  },
  {
    id: 'getDocs',
    method: 'get',
    path: '/docs',
    tag: 'Service',
    summary: 'The reference as a page',
    description: 'For people.',
    open: true,
    success: { status: 200, description: 'The page.', content: { type: 'text/html' } },
    errors: ANY,
  },
  {
    id: 'getRoot',
    method: 'get',
    path: '/',
    tag: 'Service',
    summary: 'Leads to the reference',
    description: 'Redirects.',
    open: true,
    success: { status: 302, description: 'Go to the reference.', headers: ['Location'] },
    errors: ANY,
  },
  {
    id: 'getHealth',
    method: 'get',
    path: '/healthz',
    tag: 'Service',
    summary: 'Whether the process lives',
    description: 'Asks nothing else of the house; HEAD works too.',
    open: true,
    success: { status: 200, description: 'It lives.', content: healthy },
    errors: ANY,
  },
  {
    id: 'getReadiness',
    method: 'get',
    path: '/readyz',
    tag: 'Service',
    summary: 'Whether it can serve',
    description: 'The database, its migrations and the timetable are there; HEAD works too.',
    open: true,
    success: { status: 200, description: 'It can serve.', content: healthy },
    errors: ANY,
  },
  {
    id: 'getMetrics',
    method: 'get',
    path: '/metrics',
    tag: 'Service',
    summary: 'Counters for monitoring',
    description: 'Prometheus text format.',
    open: true,
    success: { status: 200, description: 'The counters.', content: { type: 'text/plain' } },
    errors: ANY,
  },
]
