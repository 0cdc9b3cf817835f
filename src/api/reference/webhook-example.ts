import type { AccountId, BookingId, EventId, WebhookId } from '../../id.ts'
import type { Webhook } from '../../webhook/endpoint.ts'
import { type Change, renderBody } from '../../webhook/event.ts'
import type { Attempt, Delivery, StoredEvent } from '../../webhook/history/delivery.ts'
import { EXAMPLE_BOOKING } from './example.ts'

/** The webhook that the reference tells of, and what it was sent about the reference's booking. */
const REGISTERED_AT = new Date(Date.UTC(2026, 10, 20, 9, 30))
const at = EXAMPLE_BOOKING.updatedAt
const after = (ms: number) => new Date(at.getTime() + ms)

export const EXAMPLE_WEBHOOK: Webhook = {
  seq: 1,
  id: 'whk_8sGq1LbTz0QyRk3NvW5uXe7H' as WebhookId,
  accountId: 'acc_' as AccountId,
  mode: 'test',
  url: 'https://hooks.example.com/airside',
  events: ['booking.confirmed', 'booking.cancelled'],
  state: 'open',
  createdAt: REGISTERED_AT,
  contractSignature: true,
  previousSecretUntil: undefined,
  lastSuccessAt: after(30_900),
  failingSince: undefined,
  disabledAt: undefined,
  disabledReason: undefined,
}

const EVENT_ID = 'evt_2dJm7KxPw4HcVt9YqB1sRf6N' as EventId

const CHANGE: Change = {
  accountId: EXAMPLE_WEBHOOK.accountId,
  mode: 'test',
  bookingId: EXAMPLE_BOOKING.id as BookingId,
  status: EXAMPLE_BOOKING.status,
  recordLocator: EXAMPLE_BOOKING.recordLocator,
  version: EXAMPLE_BOOKING.version,
  at,
}

export const EXAMPLE_EVENT: StoredEvent = {
  seq: 1,
  id: EVENT_ID,
  type: 'booking.confirmed',
  bookingId: CHANGE.bookingId,
  version: CHANGE.version,
  body: renderBody(EVENT_ID, 'booking.confirmed', CHANGE),
  createdAt: at,
}

const ATTEMPT: Attempt = {
  n: 1,
  startedAt: after(2),
  dnsMs: 4.1,
  connectMs: 11.8,
  tlsMs: 24.6,
  headersMs: undefined,
  peer: '203.0.113.7',
  tls: 'TLSv1.3',
  status: undefined,
  reason: 'timeout_headers',
  answer: undefined,
  cut: false,
  stale: false,
}

export const EXAMPLE_DELIVERY: Delivery = {
  webhookId: EXAMPLE_WEBHOOK.id,
  url: EXAMPLE_WEBHOOK.url,
  eventId: EVENT_ID,
  type: 'booking.confirmed',
  bookingId: CHANGE.bookingId,
  series: 0,
  state: 'delivered',
  eventAt: at,
  nextAttemptAt: undefined,
  attempts: [
    ATTEMPT,
    {
      ...ATTEMPT,
      n: 2,
      startedAt: after(30_850),
      headersMs: 18.3,
      status: 200,
      reason: undefined,
      answer: Buffer.from('ok'),
    },
  ],
}
