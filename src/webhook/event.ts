import type { AccountId, BookingId, EventId } from '../id.ts'
import type { Mode } from '../supplier/supplier.ts'

/** What a partner can be told. */
export const EVENT_TYPES = [
  'booking.confirmed',
  'booking.failed',
  'booking.cancelled',
  'booking.updated',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** A booking as it stands after a change, as far as an event tells of it. */
export type Change = {
  accountId: AccountId
  mode: Mode
  bookingId: BookingId
  status: string
  recordLocator: string
  /** The booking's change counter after this change; there is one event for each. */
  version: number
  at: Date
}

/** The bytes of an event about a booking: rendered once, sent unchanged by every attempt. */
export function renderBody(id: EventId, type: EventType, change: Change): Buffer {
  const { bookingId, status, recordLocator, version, at } = change
  return Buffer.from(
    JSON.stringify({
      event: type,
      timestamp: at.toISOString(),
      data: { bookingId, bookingStatus: status, pnr: recordLocator },
      id,
      version,
    }),
  )
}

/** The bytes of a test event: of a type the contract knows, about a booking that does not exist, and marked. */
export function renderTestBody(id: EventId, type: EventType, bookingId: BookingId, at: Date): Buffer {
  const bookingStatus = type === 'booking.updated' ? 'confirmed' : type.slice('booking.'.length)
  return Buffer.from(
    JSON.stringify({
      event: type,
      timestamp: at.toISOString(),
      data: { bookingId, bookingStatus, pnr: bookingStatus === 'failed' ? '' : 'TESTED' },
      id,
      version: 1,
      test: true,
    }),
  )
}
