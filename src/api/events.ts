import type { FastifyInstance } from 'fastify'
import { deliveriesOf, getEvent, listEvents } from '../webhook/history/read.ts'
import { redeliver } from '../webhook/resend/redeliver.ts'
import { crowdLimit } from './crowd.ts'
import { eventStreams } from './event-stream.ts'
import { type ApiHouse, READS_WEBHOOKS } from './house.ts'
import { JSON_TYPE } from './reply.ts'
import { parseEventsQuery, parseRedelivery, parseStreamQuery } from './webhook-parse.ts'
import { renderEvent, renderEvents, renderRedeliveries } from './webhook-render.ts'
import { queryOf } from './wire.ts'

/** Reads at once, in this thread: they have no allowance. */
const READS_MAX = 128

type ById = { Params: { id: string } }

/** Everything under /v1/events. */
export function eventRoutes(app: FastifyInstance, house: ApiHouse): void {
  const amongReads = crowdLimit(READS_MAX)
  const reads = { config: { access: READS_WEBHOOKS } }
  const streams = eventStreams(house)
  app.addHook('preClose', async () => streams.close())

  app.get('/v1/events', reads, async (request, reply) => {
    const { page, filter } = parseEventsQuery(queryOf(request.url))
    const { events, nextCursor } = await amongReads(() =>
      listEvents(house.webhooks, request.caller!, filter, page),
    )
    return reply.header('content-type', JSON_TYPE).send(renderEvents(events, nextCursor, request.id))
  })

  app.get('/v1/events/stream', reads, async (request, reply) => {
    const types = parseStreamQuery(queryOf(request.url))
    await streams.open(request, reply, types)
  })

  app.get<ById>('/v1/events/:id', reads, async (request, reply) => {
    const caller = request.caller!
    const text = await amongReads(async () => {
      const event = await getEvent(house.webhooks, caller, request.params.id)
      return renderEvent(event, await deliveriesOf(house.webhooks, caller, event), request.id)
    })
    return reply.header('content-type', JSON_TYPE).send(text)
  })

  app.post<ById>(
    '/v1/events/:id/redeliver',
    {
      config: {
        access: { scope: 'webhooks' as const, limit: () => 'webhooks' as const },
        bodyOptional: true as const,
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const redeliveries = await redeliver(house.webhooks, request.caller!, id, parseRedelivery(request.body))
      return reply.header('content-type', JSON_TYPE).send(renderRedeliveries(id, redeliveries, request.id))
    },
  )
}
