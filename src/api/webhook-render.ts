import type { z } from 'zod'
import type { Webhook } from '../webhook/endpoint.ts'
import type { Attempt, Delivery, StoredEvent } from '../webhook/history/delivery.ts'
import type { Recovery, Window } from '../webhook/resend/recover.ts'
import type { Redelivery } from '../webhook/resend/store.ts'
import type * as shape from './webhook-answer.ts'

type Item<S extends z.ZodType> = Omit<z.input<S>, 'status' | 'requestId'>

const answer = <S extends z.ZodType>(requestId: string, body: Item<S>): string =>
  JSON.stringify({ status: 'ok', requestId, ...body })

/** The answer to register and to get. @param brand part of the signature header's name */
export function renderWebhook(webhook: Webhook, brand: string, requestId: string): string {
  return answer<typeof shape.WebhookAnswer>(requestId, webhookItem(webhook, brand))
}

export function renderWebhooks(webhooks: readonly Webhook[], brand: string, requestId: string): string {
  return answer<typeof shape.WebhooksAnswer>(requestId, {
    webhooks: webhooks.map(one => webhookItem(one, brand)),
  })
}

export function renderDeleted(webhookId: string, requestId: string): string {
  return answer<typeof shape.WebhookDeleted>(requestId, { webhookId, deleted: true })
}

export function renderTest(
  webhookId: string,
  sent: { eventId: string; type: string },
  requestId: string,
): string {
  return answer<typeof shape.TestAnswer>(requestId, {
    webhookId,
    eventId: sent.eventId,
    event: sent.type as z.input<typeof shape.TestAnswer>['event'],
  })
}

export function renderRotation(
  webhookId: string,
  rotated: { generated: string | undefined; previousUntil: Date | undefined },
  requestId: string,
): string {
  return answer<typeof shape.RotationAnswer>(requestId, {
    webhookId,
    ...(rotated.generated === undefined ? {} : { secret: rotated.generated }),
    previousSecretUntil: instant(rotated.previousUntil),
  })
}

export function renderEnabled(
  enabled: { webhook: Webhook; missedSince: Date | undefined },
  brand: string,
  requestId: string,
): string {
  return answer<typeof shape.EnableAnswer>(requestId, {
    ...webhookItem(enabled.webhook, brand),
    missedSince: instant(enabled.missedSince),
  })
}

export function renderRecovery(
  webhookId: string,
  window: Window,
  dryRun: boolean,
  { counts, queued, more }: Recovery,
  requestId: string,
): string {
  return answer<typeof shape.RecoveryAnswer>(requestId, {
    webhookId,
    dryRun,
    since: window.since.toISOString(),
    until: window.until.toISOString(),
    counts,
    queued,
    more,
  })
}

export function renderDeliveries(
  deliveries: readonly Delivery[],
  nextCursor: string | undefined,
  requestId: string,
): string {
  return answer<typeof shape.DeliveriesAnswer>(requestId, {
    deliveries: deliveries.map(deliveryItem),
    nextCursor: nextCursor ?? null,
  })
}

export function renderEvent(event: StoredEvent, deliveries: readonly Delivery[], requestId: string): string {
  return answer<typeof shape.EventAnswer>(requestId, {
    ...eventItem(event),
    deliveries: deliveries.map(deliveryItem),
  })
}

export function renderEvents(
  events: readonly StoredEvent[],
  nextCursor: string | undefined,
  requestId: string,
): string {
  return answer<typeof shape.EventsAnswer>(requestId, {
    events: events.map(eventItem),
    nextCursor: nextCursor ?? null,
  })
}

export function renderRedeliveries(
  eventId: string,
  redeliveries: readonly Redelivery[],
  requestId: string,
): string {
  return answer<typeof shape.RedeliveryAnswer>(requestId, {
    eventId,
    redeliveries: redeliveries.map(({ webhookId, queued }) => ({ webhookId, queued })),
  })
}

/** The secret has no place in it. */
function webhookItem(webhook: Webhook, brand: string): z.input<typeof shape.WebhookItem> {
  return {
    webhookId: webhook.id,
    url: webhook.url,
    events: [...webhook.events],
    mode: webhook.mode,
    webhookStatus: webhook.state === 'open' ? 'active' : 'disabled',
    signatureHeader: webhook.contractSignature ? `X-${brand}-Signature` : null,
    previousSecretUntil: instant(webhook.previousSecretUntil),
    lastSuccessAt: instant(webhook.lastSuccessAt),
    failingSince: instant(webhook.failingSince),
    disabledAt: instant(webhook.disabledAt),
    disabledReason: webhook.disabledReason ?? null,
    createdAt: webhook.createdAt.toISOString(),
  }
}

function eventItem(event: StoredEvent): z.input<typeof shape.EventItem> {
  return {
    eventId: event.id,
    event: event.type,
    bookingId: event.bookingId ?? null,
    version: event.version ?? null,
    test: event.bookingId === undefined,
    createdAt: event.createdAt.toISOString(),
    payload: JSON.parse(event.body.toString('utf8')) as z.input<typeof shape.EventBody>,
  }
}

function deliveryItem(delivery: Delivery): z.input<typeof shape.DeliveryItem> {
  return {
    webhookId: delivery.webhookId,
    url: delivery.url,
    eventId: delivery.eventId,
    event: delivery.type,
    bookingId: delivery.bookingId ?? null,
    redelivery: delivery.series,
    deliveryStatus: delivery.state,
    occurredAt: delivery.eventAt.toISOString(),
    nextAttemptAt: instant(delivery.nextAttemptAt),
    attempts: delivery.attempts.map(attemptItem),
  }
}

function attemptItem(attempt: Attempt): z.input<typeof shape.AttemptItem> {
  return {
    attempt: attempt.n,
    startedAt: attempt.startedAt.toISOString(),
    timings: {
      dns: rounded(attempt.dnsMs),
      connect: rounded(attempt.connectMs),
      tls: rounded(attempt.tlsMs),
      headers: rounded(attempt.headersMs),
    },
    peer: attempt.peer ?? null,
    tls: attempt.tls ?? null,
    httpStatus: attempt.status ?? null,
    reason: attempt.reason ?? null,
    answer: attempt.answer === undefined ? null : plainText(attempt.answer),
    answerCut: attempt.cut,
    counted: !attempt.stale,
  }
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Control characters but for line ends and tabs, and marks that turn the direction of text. */
const UNSEEN = /[^\P{Cc}\n\r\t]|[\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

/** What a receiver answered, as text that shows every byte and does nothing: what is no plain text stands as `\xHH`. */
export function plainText(bytes: Uint8Array): string {
  const hex = (part: Uint8Array) => [...part].map(byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
  try {
    return strict.decode(bytes).replace(UNSEEN, sign => hex(Buffer.from(sign)))
  } catch {
    return [...bytes]
      .map(byte => {
        const plain = (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09
        return plain ? String.fromCharCode(byte) : hex(Uint8Array.of(byte))
      })
      .join('')
  }
}

const instant = (at: Date | undefined): string | null => at?.toISOString() ?? null
const rounded = (ms: number | undefined): number | null =>
  ms === undefined ? null : Math.round(ms * 100) / 100
