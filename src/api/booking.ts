import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { BookReply } from '../booking/book.ts'
import { isId } from '../id.ts'
import { Refusal, type RefusalCode } from '../refusal.ts'
import { crowdLimit } from './crowd.ts'
import type { ApiHouse } from './house.ts'
import { parseBooking, parseIdempotencyKey, parsePage } from './parse.ts'
import { renderBooking, renderBookings } from './render.ts'
import { JSON_TYPE, renderRefusal } from './reply.ts'
import { queryOf } from './wire.ts'

/** Bookings under way and reads at once, in this thread: the contract gives these operations no 429. */
const BOOKS_MAX = 256
const READS_MAX = 512
/** What a book call may take beyond the wait for its supplier. */
const BOOK_MARGIN_MS = 10_000

/** POST /v1/travel/book, GET /v1/travel/booking/{id} and GET /v1/travel/bookings. */
export function bookingRoutes(app: FastifyInstance, house: ApiHouse): void {
  const amongBooks = crowdLimit(BOOKS_MAX)
  const amongReads = crowdLimit(READS_MAX)

  // A booking under way is never broken off: the time-out lies beyond the longest that it can take.
  const patience = { handlerTimeout: house.settings.bookingWaitMs + BOOK_MARGIN_MS }
  app.post(
    '/v1/travel/book',
    { config: { access: { scope: 'book' } }, ...patience },
    async (request, reply) => {
      const idempotencyKey = parseIdempotencyKey(request.headers['idempotency-key'])
      const booking = parseBooking(request.body, house.now())
      const answer = await amongBooks(() =>
        house.book(request.caller!, booking, replyTo(request), idempotencyKey),
      )
      if (answer.replayed) {
        reply.header('idempotent-replayed', 'true')
        request.refused = answer.status === 200 ? undefined : codeIn(answer.body)
      }
      return reply.code(answer.status).header('content-type', JSON_TYPE).send(answer.body)
    },
  )

  app.get<{ Params: { id: string } }>(
    '/v1/travel/booking/:id',
    { config: { access: { scope: 'read' } } },
    async (request, reply) => {
      const { id } = request.params
      // What has not the form of an id cannot exist, and may hold what a database would choke on.
      if (!isId('bkg', id)) throw new Refusal('not_found', NO_BOOKING)
      const booking = await amongReads(() => house.retrieve(request.caller!, id))
      return reply.header('content-type', JSON_TYPE).send(renderBooking(booking, request.id))
    },
  )

  app.get('/v1/travel/bookings', { config: { access: { scope: 'read' } } }, async (request, reply) => {
    const page = parsePage(queryOf(request.url))
    const { bookings, nextCursor } = await amongReads(() => house.list(request.caller!, page))
    return reply.header('content-type', JSON_TYPE).send(renderBookings(bookings, nextCursor, request.id))
  })
}

const NO_BOOKING =
  'There is no such booking; use the bookingId that book answered, with a key of the same account and mode.'

/** Renders the outcome of book for this request, and notes a refusal for its log line. */
function replyTo(request: FastifyRequest): BookReply {
  return {
    booking: booking => renderBooking(booking, request.id),
    refusal: refusal => {
      request.refused = refusal.code
      return renderRefusal(refusal, request.id)
    },
  }
}

function codeIn(body: string): RefusalCode {
  return (JSON.parse(body) as { error: { code: RefusalCode } }).error.code
}
