import type { Booking } from '../../booking/booking.ts'
import type { AccountId, BookingId } from '../../id.ts'
import type { Offer } from '../../offer/offer.ts'
import type { Slice, Stop } from '../../travel/itinerary.ts'
import { dayNumber, MINUTES_A_DAY } from '../../travel/time.ts'

/** The one journey that the reference tells of: rendered by the same functions as real answers, so that its examples stay true. */
export const EXAMPLE_REQUEST_ID = 'req_7Yw0cBqfJ3uXo1sVaE5tLk2Z'

const at = (airport: string, date: string, time: string, offset: number, terminal: string): Stop => {
  const [hours, minutes] = time.split(':').map(Number) as [number, number]
  return {
    airport,
    minute: dayNumber(date)! * MINUTES_A_DAY + hours * 60 + minutes - offset,
    offset,
    terminal,
  }
}

const SLICES: readonly Slice[] = [
  {
    segments: [
      {
        carrier: 'BA',
        number: '15',
        operatingCarrier: 'BA',
        operatingNumber: '15',
        departure: at('LHR', '2027-03-28', '21:05', 60, '5'),
        arrival: at('SIN', '2027-03-29', '17:55', 480, '1'),
        stops: 0,
        aircraft: '77W',
        cabin: 'economy',
        bookingClass: 'Y',
      },
    ],
  },
]

const SOLD_AT = Date.UTC(2026, 10, 21, 10, 15)

export const EXAMPLE_OFFER: Offer = {
  id: 'off_3vQbN0u1m8yq…',
  supplier: 'inventory',
  slices: SLICES,
  passengers: 1,
  perPerson: { minor: 61_240, currency: 'USD' },
  total: { minor: 61_240, currency: 'USD' },
  seatsAvailable: 7,
  expiresAt: SOLD_AT + 15 * 60_000,
}

export const EXAMPLE_BOOKING: Booking = {
  id: 'bkg_Vn4Xr0Tq8kZpYw2LcJ6uHs1D' as BookingId,
  accountId: 'acc_' as AccountId,
  mode: 'test',
  status: 'confirmed',
  version: 2,
  supplier: 'inventory',
  recordLocator: 'K7QX2M',
  slices: SLICES,
  travellers: [
    {
      firstName: 'Ada',
      lastName: 'Byron',
      dateOfBirth: '1990-12-10',
      document: { type: 'passport', lastFour: '4567', expiry: '2031-06-30' },
    },
  ],
  contactEmail: 'ada@example.com',
  contactPhone: '+442079460018',
  perPerson: { minor: 61_240, currency: 'USD' },
  total: { minor: 61_240, currency: 'USD' },
  createdAt: new Date(SOLD_AT + 90_000),
  updatedAt: new Date(SOLD_AT + 90_400),
  statusHistory: [
    { status: 'pending', at: new Date(SOLD_AT + 90_000).toISOString() },
    { status: 'confirmed', at: new Date(SOLD_AT + 90_400).toISOString() },
  ],
  changes: [],
}

/** What one sends to search for and to book it. */
export const EXAMPLE_SEARCH = {
  origin: 'LHR',
  destination: 'SIN',
  departDate: '2027-03-28',
  passengers: 1,
  class: 'economy',
  currency: 'USD',
}

export const EXAMPLE_BOOK = {
  offerId: EXAMPLE_OFFER.id,
  passengers: [
    {
      firstName: 'Ada',
      lastName: 'Byron',
      dateOfBirth: '1990-12-10',
      documentType: 'passport',
      documentNumber: 'X1234567',
      documentExpiry: '2031-06-30',
    },
  ],
  contactEmail: 'ada@example.com',
  contactPhone: '+44 20 7946 0018',
}
