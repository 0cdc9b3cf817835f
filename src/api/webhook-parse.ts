import { invalidParams } from '../refusal.ts'
import type { EventType } from '../webhook/event.ts'
import type { DeliveryState } from '../webhook/history/delivery.ts'
import type { Page } from '../webhook/history/read.ts'
import type { EventFilter } from '../webhook/history/store.ts'
import type { NewWebhook } from '../webhook/register.ts'
import { WINDOW_DAYS_MAX, type Window } from '../webhook/resend/recover.ts'
import { parse } from './parse.ts'
import {
  DeliveriesQuery,
  EventsQuery,
  RecoveryRequest,
  RedeliveryRequest,
  RotationRequest,
  StreamQuery,
  TestRequest,
  WebhookRequest,
} from './webhook-schema.ts'

const DAY_MS = 86_400_000
/** A clock may be a little ahead of ours. */
const SLACK_MS = 60_000

/**
 * A registration as its body asks for it, each event once. Whether the URL may be connected to is the webhook room's matter.
 * @throws Refusal invalid_params naming every faulty field, as all here
 */
export function parseRegistration(body: unknown): NewWebhook {
  const { url, events, secret } = parse(WebhookRequest, body, [])
  return { url, events: [...new Set(events)], secret }
}

export function parseTest(body: unknown): EventType | undefined {
  return parse(TestRequest, body ?? {}, []).event
}

export function parseRotation(body: unknown): { secret: string | undefined; overlapHours: number } {
  const { secret, overlapHours } = parse(RotationRequest, body ?? {}, [])
  return { secret, overlapHours }
}

export function parseRedelivery(body: unknown): string | undefined {
  return parse(RedeliveryRequest, body ?? {}, []).webhookId
}

/** A window that ends now at the latest. @param now milliseconds since 1970 */
export function parseRecovery(body: unknown, now: number): { window: Window; dryRun: boolean } {
  const { since, until, dryRun } = parse(RecoveryRequest, body, [])
  const from = Date.parse(since)
  const to = until === undefined ? now : Math.min(Date.parse(until), now)
  if (from < now - WINDOW_DAYS_MAX * DAY_MS - SLACK_MS) {
    throw outOfRange('since', `give an instant of the last ${WINDOW_DAYS_MAX} days`)
  }
  if (from >= to)
    throw outOfRange(until === undefined ? 'since' : 'until', 'give a window that ends after it begins')
  return { window: { since: new Date(from), until: new Date(to) }, dryRun }
}

export function parseDeliveriesQuery(query: URLSearchParams): {
  page: Page
  state: DeliveryState | undefined
} {
  const { limit, cursor, state } = parse(DeliveriesQuery, Object.fromEntries(query), [])
  return { page: { limit, cursor }, state }
}

export function parseEventsQuery(query: URLSearchParams): { page: Page; filter: EventFilter } {
  const { limit, cursor, type, bookingId, since, until } = parse(EventsQuery, Object.fromEntries(query), [])
  const at = (text: string | undefined) => (text === undefined ? undefined : new Date(text))
  return {
    page: { limit, cursor },
    filter: { types: type, bookingId, since: at(since), until: at(until) },
  }
}

export function parseStreamQuery(query: URLSearchParams): readonly EventType[] | undefined {
  return parse(StreamQuery, Object.fromEntries(query), []).type
}

const outOfRange = (param: string, message: string) =>
  invalidParams([{ param, code: 'out_of_range', message }])
