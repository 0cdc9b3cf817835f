import type { BookReply } from '../booking/book.ts'
import type { Booking, BookingStatus, BookRequest } from '../booking/booking.ts'
import type { Logger } from '../log.ts'
import type { OfferQuery, SearchAnswer } from '../offer/offer.ts'
import type { Caller, Scope } from '../partner/account.ts'
import type { RequestEntry } from '../partner/store.ts'
import type { RefusalCode } from '../refusal.ts'
import type { LimitName, Region, Settings } from '../settings.ts'
import type { RegisterHouse } from '../webhook/register.ts'

/** What the door for programs needs from the house, one region's worth. */
export type ApiHouse = {
  region: Region
  settings: Settings
  log: Logger
  /** Milliseconds since 1970. */
  now(): number
  /** @throws Refusal unauthorized, invalid_key or forbidden */
  admit(rawHeaders: readonly string[], now: number): Promise<Caller>
  /** Takes one request from a caller's allowance; the headers go with the answer either way. */
  take(name: LimitName, caller: Caller): { allowed: boolean; headers: Record<string, string> }
  search(caller: Caller, query: OfferQuery): Promise<SearchAnswer>
  /** Renders its outcome through `reply`, so that a replay gives the same bytes. */
  book(
    caller: Caller,
    request: BookRequest,
    reply: BookReply,
    idempotencyKey: string | undefined,
  ): Promise<{ status: number; body: string; replayed: boolean }>
  /** @throws Refusal not_found */
  retrieve(caller: Caller, id: string): Promise<Booking>
  list(
    caller: Caller,
    page: { limit: number; cursor: string | undefined; status?: BookingStatus },
  ): Promise<{ bookings: readonly Booking[]; nextCursor: string | undefined }>
  /** What the webhook room works with. */
  webhooks: RegisterHouse
  logRequest(entry: RequestEntry): void
  ready(): Promise<boolean>
  /** Prometheus text. */
  metrics(): Promise<string>
}

/** Who may call a route: anybody, or a caller with a scope and, where it is limited, an allowance. */
export type Access = 'open' | { scope: Scope; limit?: (caller: Caller) => LimitName }

/** Looks at webhooks and events, without an allowance. */
export const READS_WEBHOOKS: Access = { scope: 'webhooks' }

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** An empty body counts as none, whatever type it is announced with. */
    bodyOptional?: true
  }
  interface FastifyRequest {
    /** Set once the key was admitted. */
    caller: Caller | undefined
    /** Why the request was refused, for the log. */
    refused: RefusalCode | undefined
  }
}
