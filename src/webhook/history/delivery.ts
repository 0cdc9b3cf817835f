import type { BookingId, EventId, WebhookId } from '../../id.ts'
import type { EventType } from '../event.ts'

/** An event as it is kept, with the bytes that are sent. */
export type StoredEvent = {
  /** Short number for the rows that point to it; never shown. */
  seq: number
  id: EventId
  type: EventType
  /** Undefined for a test event, which is about no booking. */
  bookingId: BookingId | undefined
  version: number | undefined
  body: Buffer
  createdAt: Date
}

export const DELIVERY_STATES = ['pending', 'delivered', 'exhausted'] as const
/** Pending: an attempt is under way or comes. Exhausted: the last attempt failed, or none could be made. */
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** One POST. Times are in milliseconds, each phase by itself; a phase that was not needed is undefined. */
export type Attempt = {
  /** 1 to 4; 0 where a delivery ended without being tried. */
  n: number
  startedAt: Date
  dnsMs: number | undefined
  connectMs: number | undefined
  tlsMs: number | undefined
  headersMs: number | undefined
  peer: string | undefined
  tls: string | undefined
  status: number | undefined
  /** Why it failed; undefined when it was answered 200. */
  reason: string | undefined
  /** What came back, at most 16 KiB of it. */
  answer: Buffer | undefined
  /** The answer was longer than what is kept. */
  cut: boolean
  /** Reported too late to count; the attempt was made again. */
  stale: boolean
}

/** What one endpoint is owed of one event, or was. */
export type Delivery = {
  webhookId: WebhookId
  url: string
  eventId: EventId
  type: EventType
  bookingId: BookingId | undefined
  /** 0 is what was owed when it happened; each redelivery is one more. */
  series: number
  state: DeliveryState
  eventAt: Date
  /** While it is pending. */
  nextAttemptAt: Date | undefined
  /** Oldest first. */
  attempts: readonly Attempt[]
}
