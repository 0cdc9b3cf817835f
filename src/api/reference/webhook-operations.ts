import type { RefusalCode } from '../../refusal.ts'
import { EVENT_TYPES } from '../../webhook/event.ts'
import { DELIVERY_STATES } from '../../webhook/history/delivery.ts'
import { WEBHOOKS_MAX } from '../../webhook/register.ts'
import { RECOVERED_MAX, RECOVERED_PER_SECOND } from '../../webhook/resend/recover.ts'
import { CURSOR_MAX, PAGE_DEFAULT, PAGE_MAX } from '../schema.ts'
import {
  renderDeleted,
  renderDeliveries,
  renderEnabled,
  renderEvent,
  renderEvents,
  renderRecovery,
  renderRedeliveries,
  renderRotation,
  renderTest,
  renderWebhook,
  renderWebhooks,
} from '../webhook-render.ts'
import { EXAMPLE_BOOKING, EXAMPLE_REQUEST_ID } from './example.ts'
import { json, KEYED, WITH_BODY } from './parts.ts'
import type { Operation, Parameter } from './shapes.ts'
import { EXAMPLE_DELIVERY, EXAMPLE_EVENT, EXAMPLE_WEBHOOK } from './webhook-example.ts'

const BRAND = 'Airside'
const LIMITED: readonly RefusalCode[] = ['rate_limited']
const LIMIT_HEADERS = ['RateLimit-Policy', 'RateLimit']

const id = (what: string, example: string): Parameter => ({
  name: 'id',
  in: 'path',
  required: true,
  description: what,
  schema: { type: 'string', examples: [example] },
})
const WEBHOOK_ID = id('The `webhookId` that register answered.', EXAMPLE_WEBHOOK.id)
const EVENT_ID = id('The `eventId`: the `id` of a body, or its `webhook-id`.', EXAMPLE_EVENT.id)

const query = (name: string, description: string, schema: Parameter['schema']): Parameter => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
})
const page = (what: string): Parameter[] => [
  query('limit', `${what} on a page.`, {
    type: 'integer',
    minimum: 1,
    maximum: PAGE_MAX,
    default: PAGE_DEFAULT,
  }),
  query('cursor', '`nextCursor` of the page before. Left out: the first page.', {
    type: 'string',
    minLength: 1,
    maxLength: CURSOR_MAX,
  }),
]
const TYPE = query(
  'type',
  `Only these, separated by commas: some of ${EVENT_TYPES.map(t => `\`${t}\``).join(', ')}.`,
  {
    type: 'string',
    examples: ['booking.confirmed'],
  },
)
const instant = (name: string, description: string) =>
  query(name, description, { type: 'string', format: 'date-time' })

const since = EXAMPLE_WEBHOOK.createdAt
const until = EXAMPLE_EVENT.createdAt

/** Routes under /v1/webhooks, in the order of the reference. */
export const WEBHOOK_OPERATIONS: readonly Operation[] = [
  {
    id: 'registerWebhook',
    method: 'post',
    path: '/v1/webhooks/register',
    tag: 'Webhooks',
    summary: 'Register a webhook',
    description: `Events of the key's account and mode that happen from now on are sent to the URL. An account has at most ${WEBHOOKS_MAX} webhooks in each mode.`,
    limited: true,
    body: {
      schema: 'WebhookRequest',
      examples: {
        signed: {
          url: EXAMPLE_WEBHOOK.url,
          events: EXAMPLE_WEBHOOK.events,
          secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        },
      },
    },
    success: {
      status: 200,
      description: 'The webhook. Its secret is not shown again.',
      headers: LIMIT_HEADERS,
      content: json(
        'WebhookAnswer',
        renderWebhook({ ...EXAMPLE_WEBHOOK, lastSuccessAt: undefined }, BRAND, EXAMPLE_REQUEST_ID),
      ),
    },
    errors: [...WITH_BODY, ...LIMITED],
  },
  {
    id: 'deleteWebhook',
    method: 'delete',
    path: '/v1/webhooks/{id}',
    tag: 'Webhooks',
    summary: 'Delete a webhook',
    description:
      'Answers when no attempt can begin any more. What was still owed is not sent. A webhook that is gone is `not_found`.',
    limited: true,
    parameters: [WEBHOOK_ID],
    success: {
      status: 200,
      description: 'It is gone.',
      headers: LIMIT_HEADERS,
      content: json('WebhookDeleted', renderDeleted(EXAMPLE_WEBHOOK.id, EXAMPLE_REQUEST_ID)),
    },
    errors: [...KEYED, 'not_found', ...LIMITED],
  },
  {
    id: 'listWebhooks',
    method: 'get',
    path: '/v1/webhooks',
    tag: 'Webhooks',
    summary: 'List webhooks',
    description: "The account's webhooks in the key's mode, oldest first, with how they fare.",
    success: {
      status: 200,
      description: 'All of them.',
      content: json('WebhooksAnswer', renderWebhooks([EXAMPLE_WEBHOOK], BRAND, EXAMPLE_REQUEST_ID)),
    },
    errors: KEYED,
  },
  {
    id: 'getWebhook',
    method: 'get',
    path: '/v1/webhooks/{id}',
    tag: 'Webhooks',
    summary: 'Retrieve a webhook',
    description: 'The webhook and how it fares.',
    parameters: [WEBHOOK_ID],
    success: {
      status: 200,
      description: 'The webhook.',
      content: json('WebhookAnswer', renderWebhook(EXAMPLE_WEBHOOK, BRAND, EXAMPLE_REQUEST_ID)),
    },
    errors: [...KEYED, 'not_found'],
  },
  {
    id: 'listDeliveries',
    method: 'get',
    path: '/v1/webhooks/{id}/deliveries',
    tag: 'Webhooks',
    summary: 'List deliveries',
    description:
      'What the webhook is owed, and what it was sent in the last 30 days: every attempt, where its time went and what came back.',
    parameters: [
      WEBHOOK_ID,
      ...page('Deliveries'),
      query('state', 'Only deliveries that stand there.', { type: 'string', enum: [...DELIVERY_STATES] }),
    ],
    success: {
      status: 200,
      description: 'A page of deliveries.',
      content: json('DeliveriesAnswer', renderDeliveries([EXAMPLE_DELIVERY], undefined, EXAMPLE_REQUEST_ID)),
    },
    errors: [...KEYED, 'not_found'],
  },
  {
    id: 'sendTestEvent',
    method: 'post',
    path: '/v1/webhooks/{id}/test',
    tag: 'Webhooks',
    summary: 'Send a test event',
    description:
      'A real, signed delivery about a booking that does not exist; its body carries `"test": true`. It is retried and logged as any other.',
    limited: true,
    parameters: [WEBHOOK_ID],
    body: { schema: 'TestRequest', optional: true, examples: { confirmed: { event: 'booking.confirmed' } } },
    success: {
      status: 200,
      description: 'It is on its way; look at the deliveries.',
      headers: LIMIT_HEADERS,
      content: json(
        'TestAnswer',
        renderTest(
          EXAMPLE_WEBHOOK.id,
          { eventId: 'evt_9kTq3XcLm1WzRb5VyN7sHd0P', type: 'booking.confirmed' },
          EXAMPLE_REQUEST_ID,
        ),
      ),
    },
    errors: [...WITH_BODY, 'not_found', ...LIMITED],
  },
  {
    id: 'rotateSecret',
    method: 'post',
    path: '/v1/webhooks/{id}/rotate-secret',
    tag: 'Webhooks',
    summary: 'Rotate the secret',
    description:
      'Gives the webhook a new secret. While both are valid, `webhook-signature` carries a signature of each, so that your receiver can change over without losing one.',
    limited: true,
    parameters: [WEBHOOK_ID],
    body: { schema: 'RotationRequest', optional: true, examples: { made: { overlapHours: 24 } } },
    success: {
      status: 200,
      description: 'The new secret, if you gave none; it is told this once.',
      headers: LIMIT_HEADERS,
      content: json(
        'RotationAnswer',
        renderRotation(
          EXAMPLE_WEBHOOK.id,
          {
            generated: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDPbIrB2dL5tI=',
            previousUntil: new Date(until.getTime() + 86_400_000),
          },
          EXAMPLE_REQUEST_ID,
        ),
      ),
    },
    errors: [...WITH_BODY, 'not_found', ...LIMITED],
  },
  {
    id: 'enableWebhook',
    method: 'post',
    path: '/v1/webhooks/{id}/enable',
    tag: 'Webhooks',
    summary: 'Enable a webhook',
    description:
      'Opens a disabled webhook again. What it missed is not sent by itself: recover from `missedSince`. Harmless when it is active.',
    limited: true,
    parameters: [WEBHOOK_ID],
    success: {
      status: 200,
      description: 'The webhook, active.',
      headers: LIMIT_HEADERS,
      content: json(
        'EnableAnswer',
        renderEnabled(
          { webhook: EXAMPLE_WEBHOOK, missedSince: EXAMPLE_WEBHOOK.lastSuccessAt },
          BRAND,
          EXAMPLE_REQUEST_ID,
        ),
      ),
    },
    errors: [...WITH_BODY, 'not_found', ...LIMITED],
  },
  {
    id: 'recoverWindow',
    method: 'post',
    path: '/v1/webhooks/{id}/recover',
    tag: 'Webhooks',
    summary: 'Recover a window',
    description: `Sends what the webhook has not got of a window of time: exhausted deliveries, and events it was never owed. They go out at ${RECOVERED_PER_SECOND} a second, so that fresh events do not wait; one call sends at most ${RECOVERED_MAX.toLocaleString('en')}. Windows may overlap and repeat: what was delivered or is pending is left alone.`,
    limited: true,
    parameters: [WEBHOOK_ID],
    body: {
      schema: 'RecoveryRequest',
      examples: { dryRun: { since: since.toISOString(), until: until.toISOString(), dryRun: true } },
    },
    success: {
      status: 200,
      description: 'How the window stood, and how many are sent again.',
      headers: LIMIT_HEADERS,
      content: json(
        'RecoveryAnswer',
        renderRecovery(
          EXAMPLE_WEBHOOK.id,
          { since, until },
          true,
          { counts: { delivered: 212, pending: 1, exhausted: 9, missed: 30 }, queued: 39, more: false },
          EXAMPLE_REQUEST_ID,
        ),
      ),
    },
    errors: [...WITH_BODY, 'not_found', ...LIMITED],
  },
]

/** Routes under /v1/events, in the order of the reference. */
export const EVENT_OPERATIONS: readonly Operation[] = [
  {
    id: 'listEvents',
    method: 'get',
    path: '/v1/events',
    tag: 'Events',
    summary: 'List events',
    description:
      "The events of the account in the key's mode, newest first, page by page, whether or not a webhook asked for them. Kept for 35 days.",
    parameters: [
      ...page('Events'),
      TYPE,
      query('bookingId', 'Only events of this booking.', { type: 'string', examples: [EXAMPLE_BOOKING.id] }),
      instant('since', 'Only events from this instant on.'),
      instant('until', 'Only events before this instant.'),
    ],
    success: {
      status: 200,
      description: 'A page of events.',
      content: json('EventsAnswer', renderEvents([EXAMPLE_EVENT], undefined, EXAMPLE_REQUEST_ID)),
    },
    errors: KEYED,
  },
  {
    id: 'streamEvents',
    method: 'get',
    path: '/v1/events/stream',
    tag: 'Events',
    summary: 'Follow events',
    description:
      'Server-sent events, for development without a public address: first `ready`, then every event as it is committed, its `data` the body that webhooks get. `airside listen` uses it. Reconnect with `Last-Event-ID`; events of the last minute may come again.',
    parameters: [
      TYPE,
      {
        name: 'Last-Event-ID',
        in: 'header',
        required: false,
        description: 'The last event that arrived; the stream goes on after it. Left out: from now on.',
        schema: { type: 'string', examples: [EXAMPLE_EVENT.id] },
      },
    ],
    success: {
      status: 200,
      description: 'The stream; it has no end of its own.',
      content: { type: 'text/event-stream' },
    },
    errors: KEYED,
  },
  {
    id: 'getEvent',
    method: 'get',
    path: '/v1/events/{id}',
    tag: 'Events',
    summary: 'Retrieve an event',
    description: 'The event, and what became of it at each of your webhooks.',
    parameters: [EVENT_ID],
    success: {
      status: 200,
      description: 'The event.',
      content: json('EventAnswer', renderEvent(EXAMPLE_EVENT, [EXAMPLE_DELIVERY], EXAMPLE_REQUEST_ID)),
    },
    errors: [...KEYED, 'not_found'],
  },
  {
    id: 'redeliverEvent',
    method: 'post',
    path: '/v1/events/{id}/redeliver',
    tag: 'Events',
    summary: 'Send an event again',
    description:
      'A new series of up to four attempts of the same event: the same id, the same bytes. Repeating it while one is pending changes nothing.',
    limited: true,
    parameters: [EVENT_ID],
    body: {
      schema: 'RedeliveryRequest',
      optional: true,
      examples: { oneWebhook: { webhookId: EXAMPLE_WEBHOOK.id } },
    },
    success: {
      status: 200,
      description: 'To which webhooks it is sent again.',
      headers: LIMIT_HEADERS,
      content: json(
        'RedeliveryAnswer',
        renderRedeliveries(
          EXAMPLE_EVENT.id,
          [{ webhookId: EXAMPLE_WEBHOOK.id, endpoint: 1, queued: true }],
          EXAMPLE_REQUEST_ID,
        ),
      ),
    },
    errors: [...WITH_BODY, 'not_found', ...LIMITED],
  },
]
