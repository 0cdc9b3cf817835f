import { z } from 'zod'
import { URL_MAX } from '../webhook/address.ts'
import { EVENT_TYPES } from '../webhook/event.ts'
import { DELIVERY_STATES } from '../webhook/history/delivery.ts'
import { OVERLAP_HOURS_DEFAULT, OVERLAP_HOURS_MAX } from '../webhook/rotate-secret.ts'
import { CURSOR_MAX, PAGE_DEFAULT, PAGE_MAX } from './schema.ts'

/** The shapes of requests about webhooks and events, as those of schema.ts. */
export const SECRET_BYTES_MAX = 4096
const EVENTS_LISTED_MAX = 100

const EVENTS_REMEDY = `give one or more of ${EVENT_TYPES.join(', ')}`
const SECRET_REMEDY = `give a secret of 1 to ${SECRET_BYTES_MAX} bytes, or leave it out`
const INSTANT_REMEDY = 'give an instant such as 2026-11-21T10:15:00Z'
const WEBHOOK_REMEDY = 'give the id of a webhook, such as whk_…'

const secret = () =>
  z
    .string({ error: SECRET_REMEDY })
    .min(1)
    .max(SECRET_BYTES_MAX, { abort: true })
    .refine(text => Buffer.byteLength(text) <= SECRET_BYTES_MAX, { error: SECRET_REMEDY })
const instant = () =>
  z.iso
    .datetime({ offset: true, error: INSTANT_REMEDY })
    .refine(text => !Number.isNaN(Date.parse(text)), { error: INSTANT_REMEDY })

export const WebhookRequest = z
  .object(
    {
      url: z
        .string({ error: 'give the full HTTPS URL that receives the events' })
        .min(1)
        .max(URL_MAX)
        .meta({
          description:
            'Where events are sent: HTTPS, a public host, no user name, password or fragment. The path and query are yours.',
          examples: ['https://hooks.example.com/airside'],
        }),
      events: z
        .array(z.enum(EVENT_TYPES, { error: EVENTS_REMEDY }), { error: EVENTS_REMEDY })
        .min(1)
        .max(EVENTS_LISTED_MAX)
        .meta({
          description: 'Which events are sent. One that stands there twice counts once.',
          examples: [['booking.confirmed', 'booking.cancelled']],
        }),
      secret: secret()
        .optional()
        .meta({
          description:
            'Signs every delivery. Recommended; `whsec_` and the base64 of 24 to 64 random bytes suits all libraries of Standard Webhooks. Never shown again.',
          examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
        }),
    },
    { error: 'send a JSON object with url and events' },
  )
  .meta({ title: 'Webhook registration' })

export const TestRequest = z
  .object(
    {
      event: z
        .enum(EVENT_TYPES, { error: `give one of ${EVENT_TYPES.join(', ')}` })
        .optional()
        .meta({ description: 'Type of the test event. Left out: the first that the webhook asks for.' }),
    },
    { error: 'send a JSON object, or no body' },
  )
  .meta({ title: 'Test event' })

export const RotationRequest = z
  .object(
    {
      secret: secret().optional().meta({
        description: 'The new secret. Left out: one is made and told in the answer, this once.',
      }),
      overlapHours: z
        .int({ error: `give whole hours from 0 to ${OVERLAP_HOURS_MAX}` })
        .min(0)
        .max(OVERLAP_HOURS_MAX)
        .default(OVERLAP_HOURS_DEFAULT)
        .meta({
          description: 'How long the old secret signs beside the new one. 0 ends it at once.',
          examples: [24],
        }),
    },
    { error: 'send a JSON object, or no body' },
  )
  .meta({ title: 'Secret rotation' })

export const RecoveryRequest = z
  .object(
    {
      since: instant().meta({
        description: 'Start of the window, at most 30 days ago.',
        examples: ['2026-11-20T00:00:00Z'],
      }),
      until: instant()
        .optional()
        .meta({
          description: 'End of the window. Left out: now.',
          examples: ['2026-11-21T00:00:00Z'],
        }),
      dryRun: z
        .boolean({ error: 'give true or false' })
        .default(false)
        .meta({ description: 'Only count; send nothing.' }),
    },
    { error: 'send a JSON object with at least since' },
  )
  .meta({ title: 'Recovery of a window' })

export const RedeliveryRequest = z
  .object(
    {
      webhookId: z
        .string({ error: WEBHOOK_REMEDY })
        .min(1)
        .max(64)
        .optional()
        .meta({
          description: 'Send to this webhook only. Left out: to all that ask for the type of the event.',
          examples: ['whk_8sGq1LbTz0QyRk3NvW5uXe7H'],
        }),
    },
    { error: 'send a JSON object, or no body' },
  )
  .meta({ title: 'Redelivery' })

const limit = z
  .string({ error: `give a whole number from 1 to ${PAGE_MAX}` })
  .regex(/^[1-9]\d{0,2}$/)
  .transform(Number)
  .pipe(z.int().max(PAGE_MAX, { error: `give a whole number from 1 to ${PAGE_MAX}` }))
  .default(PAGE_DEFAULT)
const cursor = z
  .string({ error: 'give the nextCursor of the page before, unchanged' })
  .min(1)
  .max(CURSOR_MAX)
  .optional()
const types = z
  .string({ error: EVENTS_REMEDY })
  .transform(text => text.split(','))
  .pipe(z.array(z.enum(EVENT_TYPES, { error: EVENTS_REMEDY })).max(EVENTS_LISTED_MAX))
  .optional()

/** The query string of a list of deliveries. */
export const DeliveriesQuery = z.object({
  limit,
  cursor,
  state: z.enum(DELIVERY_STATES, { error: `give one of ${DELIVERY_STATES.join(', ')}` }).optional(),
})

/** The query string of a list of events. */
export const EventsQuery = z.object({
  limit,
  cursor,
  type: types,
  bookingId: z
    .string({ error: 'give the id of a booking, such as bkg_…' })
    .regex(/^bkg_[0-9A-Za-z]{24}$/)
    .optional(),
  since: instant().optional(),
  until: instant().optional(),
})

/** The query string of the stream of events. */
export const StreamQuery = z.object({ type: types })
