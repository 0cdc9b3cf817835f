import type { FastifyInstance } from 'fastify'
import { enable } from '../webhook/enable.ts'
import { listDeliveries } from '../webhook/history/read.ts'
import { getWebhook } from '../webhook/read.ts'
import { register } from '../webhook/register.ts'
import { remove } from '../webhook/remove.ts'
import { recover } from '../webhook/resend/recover.ts'
import { rotateSecret } from '../webhook/rotate-secret.ts'
import { selectEndpoints } from '../webhook/store.ts'
import { sendTestEvent } from '../webhook/test-event.ts'
import { crowdLimit } from './crowd.ts'
import { type Access, type ApiHouse, READS_WEBHOOKS } from './house.ts'
import { JSON_TYPE } from './reply.ts'
import {
  parseDeliveriesQuery,
  parseRecovery,
  parseRegistration,
  parseRotation,
  parseTest,
} from './webhook-parse.ts'
import {
  renderDeleted,
  renderDeliveries,
  renderEnabled,
  renderRecovery,
  renderRotation,
  renderTest,
  renderWebhook,
  renderWebhooks,
} from './webhook-render.ts'
import { queryOf } from './wire.ts'

/** Reads at once, in this thread: they have no allowance. */
const READS_MAX = 128
/** Deletions waiting for their senders, and recoveries being written, at once. */
const SLOW_MAX = 32

/** What changes something counts against the allowance for webhook management. */
const MANAGES: Access = { scope: 'webhooks', limit: () => 'webhooks' }

type ById = { Params: { id: string } }

/** Everything under /v1/webhooks. */
export function webhookRoutes(app: FastifyInstance, house: ApiHouse): void {
  const { brand } = house.settings
  const amongReads = crowdLimit(READS_MAX)
  const amongSlow = crowdLimit(SLOW_MAX)
  const manages = { config: { access: MANAGES } }
  // A client that sends no body may still announce one of type JSON.
  const managesBodyless = { config: { access: MANAGES, bodyOptional: true as const } }
  const reads = { config: { access: READS_WEBHOOKS } }

  app.post('/v1/webhooks/register', manages, async (request, reply) => {
    const webhook = await register(house.webhooks, request.caller!, parseRegistration(request.body))
    return reply.header('content-type', JSON_TYPE).send(renderWebhook(webhook, brand, request.id))
  })

  app.delete<ById>('/v1/webhooks/:id', manages, async (request, reply) => {
    const { id } = request.params
    await amongSlow(() => remove(house.webhooks, request.caller!, id))
    return reply.header('content-type', JSON_TYPE).send(renderDeleted(id, request.id))
  })

  app.get('/v1/webhooks', reads, async (request, reply) => {
    const webhooks = await amongReads(() => selectEndpoints(house.webhooks.database, request.caller!))
    return reply.header('content-type', JSON_TYPE).send(renderWebhooks(webhooks, brand, request.id))
  })

  app.get<ById>('/v1/webhooks/:id', reads, async (request, reply) => {
    const webhook = await amongReads(() => getWebhook(house.webhooks, request.caller!, request.params.id))
    return reply.header('content-type', JSON_TYPE).send(renderWebhook(webhook, brand, request.id))
  })

  app.get<ById>('/v1/webhooks/:id/deliveries', reads, async (request, reply) => {
    const { page, state } = parseDeliveriesQuery(queryOf(request.url))
    const { id } = request.params
    const { deliveries, nextCursor } = await amongReads(() =>
      listDeliveries(house.webhooks, request.caller!, id, state, page),
    )
    return reply.header('content-type', JSON_TYPE).send(renderDeliveries(deliveries, nextCursor, request.id))
  })

  app.post<ById>('/v1/webhooks/:id/test', managesBodyless, async (request, reply) => {
    const { id } = request.params
    const type = parseTest(request.body)
    const sent = await sendTestEvent(house.webhooks, request.caller!, id, type, house.now())
    return reply.header('content-type', JSON_TYPE).send(renderTest(id, sent, request.id))
  })

  app.post<ById>('/v1/webhooks/:id/rotate-secret', managesBodyless, async (request, reply) => {
    const { id } = request.params
    const rotated = await rotateSecret(house.webhooks, request.caller!, id, parseRotation(request.body))
    return reply.header('content-type', JSON_TYPE).send(renderRotation(id, rotated, request.id))
  })

  app.post<ById>('/v1/webhooks/:id/enable', managesBodyless, async (request, reply) => {
    const enabled = await enable(house.webhooks, request.caller!, request.params.id)
    return reply.header('content-type', JSON_TYPE).send(renderEnabled(enabled, brand, request.id))
  })

  app.post<ById>('/v1/webhooks/:id/recover', manages, async (request, reply) => {
    const { id } = request.params
    const { window, dryRun } = parseRecovery(request.body, house.now())
    const recovery = await amongSlow(() => recover(house.webhooks, request.caller!, id, window, dryRun))
    return reply
      .header('content-type', JSON_TYPE)
      .send(renderRecovery(id, window, dryRun, recovery, request.id))
  })
}
