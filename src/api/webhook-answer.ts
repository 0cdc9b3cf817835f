import { z } from 'zod'
import { EVENT_TYPES } from '../webhook/event.ts'
import { DELIVERY_STATES } from '../webhook/history/delivery.ts'
import { instant, ok, requestId } from './answer.ts'

/** The shapes of answers about webhooks and events, as those of answer.ts. */
const webhookId = z
  .string()
  .meta({ description: 'Names the webhook.', examples: ['whk_8sGq1LbTz0QyRk3NvW5uXe7H'] })
const eventId = z.string().meta({
  description: 'Names the event; the same as `id` in its body and as `webhook-id`.',
  examples: ['evt_2dJm7KxPw4HcVt9YqB1sRf6N'],
})
const eventType = z.enum(EVENT_TYPES).meta({ description: 'What happened.' })
const bookingId = z
  .string()
  .nullable()
  .meta({ description: 'The booking it is about; null for a test event.' })

const webhookFields = {
  webhookId,
  url: z.string().meta({ description: 'Where events are sent, as it was registered.' }),
  events: z.array(z.enum(EVENT_TYPES)).meta({ description: 'Which events are sent.' }),
  mode: z.enum(['live', 'test']).meta({ description: 'Bookings of which kind of key it hears of.' }),
  webhookStatus: z.enum(['active', 'disabled']).meta({
    description: '`disabled`: nothing is sent until it is enabled, see `disabledReason`.',
  }),
  signatureHeader: z
    .string()
    .nullable()
    .meta({
      description:
        'The header with the HMAC of the body; null when no secret was given. `webhook-signature` is always there.',
      examples: ['X-Airside-Signature'],
    }),
  previousSecretUntil: instant('Until when the secret before a rotation signs too').nullable(),
  lastSuccessAt: instant('When a delivery was last answered with 200, to about ten seconds').nullable(),
  failingSince: instant('The first failure since then').nullable(),
  disabledAt: instant('Since when it is disabled').nullable(),
  disabledReason: z.enum(['failing', 'gone', 'operator']).nullable().meta({
    description: 'Nothing but failures for days, four answers 410 to one event, or the operator’s word.',
  }),
  createdAt: instant('When it was registered'),
}

export const WebhookItem = z.object(webhookFields).meta({ title: 'Webhook' })
export const WebhookAnswer = z
  .object({ status: ok, requestId, ...webhookFields })
  .meta({ title: 'Webhook answer' })
export const WebhooksAnswer = z
  .object({
    status: ok,
    requestId,
    webhooks: z.array(WebhookItem).meta({ description: 'Oldest first; at most 20, so there are no pages.' }),
  })
  .meta({ title: 'Webhooks' })

export const WebhookDeleted = z
  .object({ status: ok, requestId, webhookId, deleted: z.literal(true) })
  .meta({ title: 'Webhook deleted' })

export const TestAnswer = z
  .object({ status: ok, requestId, webhookId, eventId, event: eventType })
  .meta({ title: 'Test event sent' })

export const RotationAnswer = z
  .object({
    status: ok,
    requestId,
    webhookId,
    secret: z.string().optional().meta({
      description: 'The secret that was made; it is told this once. Left out when you gave one.',
    }),
    previousSecretUntil: instant('Until when the old secret signs beside the new one').nullable(),
  })
  .meta({ title: 'Secret rotated' })

export const EnableAnswer = z
  .object({
    status: ok,
    requestId,
    ...webhookFields,
    missedSince: instant('Recover from here: what happened since may not have reached you').nullable(),
  })
  .meta({ title: 'Webhook enabled' })

const count = (what: string) => z.int().min(0).meta({ description: what })

export const RecoveryAnswer = z
  .object({
    status: ok,
    requestId,
    webhookId,
    dryRun: z.boolean(),
    since: instant('Start of the window'),
    until: instant('End of the window'),
    counts: z
      .object({
        delivered: count('Answered with 200; not sent again.'),
        pending: count('Still being tried; left alone.'),
        exhausted: count('Every attempt failed.'),
        missed: count('Never owed: the webhook was disabled, or not there yet.'),
      })
      .meta({ description: 'The events of the window, by how they stood with the webhook.' }),
    queued: count('How many are sent again; in a dry run, how many would be.'),
    more: z.boolean().meta({ description: 'The window holds more than one call sends: call again.' }),
  })
  .meta({ title: 'Recovery' })

const milliseconds = (what: string) =>
  z
    .number()
    .min(0)
    .nullable()
    .meta({ description: `${what}, in milliseconds; null where it was not needed or not reached.` })

export const AttemptItem = z
  .object({
    attempt: z
      .int()
      .min(0)
      .max(4)
      .meta({ description: '1 to 4; 0 where the delivery ended without being tried.' }),
    startedAt: instant('When it began'),
    timings: z.object({
      dns: milliseconds('Finding the address'),
      connect: milliseconds('Connecting'),
      tls: milliseconds('TLS handshake'),
      headers: milliseconds('Waiting for the headers of the answer'),
    }),
    peer: z.string().nullable().meta({ description: 'The address that was connected to.' }),
    tls: z.string().nullable().meta({ description: 'Version of TLS.' }),
    httpStatus: z.int().nullable().meta({ description: 'Status of the answer; null where none came.' }),
    reason: z
      .string()
      .nullable()
      .meta({
        description: 'Why it failed; null when it was answered with 200.',
        examples: ['timeout_headers'],
      }),
    answer: z.string().nullable().meta({
      description: 'What came back, at most 16 KiB; bytes that are no plain text stand as `\\xHH`.',
    }),
    answerCut: z.boolean().meta({ description: 'The answer was longer than that, or came too slowly.' }),
    counted: z
      .boolean()
      .meta({ description: 'False where the outcome came too late to count, and it was tried again.' }),
  })
  .meta({ title: 'Attempt', description: 'One POST to your URL.' })

export const DeliveryItem = z
  .object({
    webhookId,
    url: z.string(),
    eventId,
    event: eventType,
    bookingId,
    redelivery: z
      .int()
      .min(0)
      .meta({ description: '0: what was owed when it happened; 1 and up: sent again.' }),
    deliveryStatus: z.enum(DELIVERY_STATES).meta({
      description: '`pending`: an attempt is under way or comes. `exhausted`: the last attempt failed.',
    }),
    occurredAt: instant('When the event happened'),
    nextAttemptAt: instant('While pending: when the next attempt is due').nullable(),
    attempts: z.array(AttemptItem).meta({ description: 'Oldest first.' }),
  })
  .meta({ title: 'Delivery', description: 'What a webhook is owed of an event, or was.' })

export const DeliveriesAnswer = z
  .object({
    status: ok,
    requestId,
    deliveries: z
      .array(DeliveryItem)
      .meta({ description: 'First those that are pending, then those that have ended, the latest first.' }),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: 'Send it as `cursor` for the next page; null on the last one.' }),
  })
  .meta({ title: 'Page of deliveries' })

export const EventBody = z
  .object({
    event: eventType,
    timestamp: instant('When the event happened'),
    data: z.object({
      bookingId: z.string().meta({ description: 'Names the booking.' }),
      bookingStatus: z
        .string()
        .meta({ description: 'Where the booking stood then.', examples: ['confirmed'] }),
      pnr: z.string().meta({ description: 'Record locator; empty where there is none.' }),
    }),
    id: z.string().meta({ description: 'Names the event; the same on every attempt.' }),
    version: z.int().min(1).meta({ description: "The booking's change counter after this change." }),
    test: z.literal(true).optional().meta({ description: 'Only on test events.' }),
  })
  .meta({ title: 'Event body', description: 'The JSON that is sent, byte for byte the same every time.' })

const eventFields = {
  eventId,
  event: eventType,
  bookingId,
  version: z
    .int()
    .min(1)
    .nullable()
    .meta({ description: "The booking's change counter; null for a test event." }),
  test: z.boolean().meta({ description: 'Whether it is a test event.' }),
  createdAt: instant('When it was written, with the change itself'),
  payload: EventBody.meta({ description: 'What is sent.' }),
}

export const EventItem = z.object(eventFields).meta({ title: 'Event' })
export const EventAnswer = z
  .object({
    status: ok,
    requestId,
    ...eventFields,
    deliveries: z
      .array(DeliveryItem)
      .meta({ description: 'What became of it at each of your webhooks: the latest series of attempts.' }),
  })
  .meta({ title: 'Event answer' })

export const EventsAnswer = z
  .object({
    status: ok,
    requestId,
    events: z.array(EventItem).meta({ description: 'Newest first.' }),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: 'Send it as `cursor` for the next page; null on the last one.' }),
  })
  .meta({ title: 'Page of events' })

export const RedeliveryAnswer = z
  .object({
    status: ok,
    requestId,
    eventId,
    redeliveries: z
      .array(
        z.object({
          webhookId,
          queued: z
            .boolean()
            .meta({ description: 'False where it is still being tried from before; that goes on.' }),
        }),
      )
      .meta({ description: 'Empty when no active webhook asks for this type.' }),
  })
  .meta({ title: 'Redelivery queued' })
