import type { AccountId, BookingId } from '../id.ts'
import type { Mode } from '../supplier/supplier.ts'
import type { Slice } from '../travel/itinerary.ts'
import type { Money } from '../travel/money.ts'
import type { DocumentType, Passenger } from '../travel/passenger.ts'

export const BOOKING_STATUSES = ['pending', 'confirmed', 'failed', 'cancelled'] as const
export type BookingStatus = (typeof BOOKING_STATUSES)[number]

/** A traveller as a booking shows one: the document by its last four characters, or not at all once erased. */
export type Traveller = {
  firstName: string
  lastName: string
  dateOfBirth: string
  document: { type: DocumentType; lastFour: string; expiry: string } | undefined
}

/** What of a booking can change while its status stays. */
export const CHANGE_KINDS = ['schedule', 'seat', 'pnr', 'contact'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** One field of a booking as its answer names it, such as `slices[0].segments[1].departureTime`; a traveller's own data without its values. */
export type FieldChange = { path: string; from?: string; to?: string }

/** A change that left the status as it was. */
export type BookingChange = { version: number; at: string; kind: ChangeKind; fields: readonly FieldChange[] }

/** Our record of what was sold. */
export type Booking = {
  id: BookingId
  accountId: AccountId
  mode: Mode
  status: BookingStatus
  /** Raised by one with every change. */
  version: number
  supplier: string
  /** Empty until the supplier holds the reservation. */
  recordLocator: string
  slices: readonly Slice[]
  travellers: readonly Traveller[]
  contactEmail: string
  contactPhone: string
  perPerson: Money
  total: Money
  createdAt: Date
  updatedAt: Date
  statusHistory: readonly { status: BookingStatus; at: string }[]
  /** The latest `CHANGES_KEPT`, oldest first. */
  changes: readonly BookingChange[]
}

/** Changes that a booking keeps; older ones are seen in its version alone. */
export const CHANGES_KEPT = 50

/** What a partner sends to book, its shape already checked and its texts normalised. */
export type BookRequest = {
  offerId: string
  passengers: readonly Passenger[]
  contactEmail: string
  contactPhone: string
}
