import { airport } from '../../travel/airport.ts'
import { carrierName } from '../../travel/carrier.ts'
import type { Segment, Stop } from '../../travel/itinerary.ts'
import { currencyExponent, type Money, toAmount } from '../../travel/money.ts'
import { formatLocal } from '../../travel/time.ts'
import type { Booking } from '../booking.ts'

export type Letter = { to: string; subject: string; text: string; messageId: string }

/**
 * The confirmation of a booking as plain text.
 * @param domain of the sender's address, for the message id, which is the same each time the letter is written
 */
export function confirmationLetter(booking: Booking, domain: string): Letter {
  const flights = booking.slices.flatMap(slice => slice.segments)
  const test = booking.mode === 'test'
  const lines = [
    test ? 'This is a test: no seat is taken and nothing is charged.' : 'Your booking is confirmed.',
    '',
    `Record locator (PNR): ${booking.recordLocator}`,
    `Booking: ${booking.id}`,
    '',
    ...flights.flatMap(flight),
    'Travellers',
    ...booking.travellers.map(traveller => `  ${traveller.firstName} ${traveller.lastName}`),
    '',
    `Total: ${printed(booking.total)}`,
    '',
    'Times are local to each airport. Use the record locator to check in with the airline.',
    '',
  ]
  const first = flights[0]!
  return {
    to: booking.contactEmail,
    subject: `${test ? 'Test, not valid for travel' : 'Confirmed'}: ${first.departure.airport} to ${booking.slices[0]!.segments.at(-1)!.arrival.airport}, ${booking.recordLocator}`,
    text: lines.join('\n'),
    messageId: `<${booking.id}.confirmation@${domain}>`,
  }
}

/** All decimals of the currency: 1234.50 USD, 500 JPY. */
const printed = (money: Money) =>
  `${toAmount(money).toFixed(currencyExponent(money.currency))} ${money.currency}`

function flight(segment: Segment): string[] {
  const operated =
    segment.operatingCarrier === segment.carrier
      ? ''
      : `, operated by ${carrierName(segment.operatingCarrier)}`
  return [
    `${segment.carrier}${segment.number}  ${carrierName(segment.carrier)}${operated}`,
    `  ${moment(segment.departure)}  ${place(segment.departure)}`,
    `  ${moment(segment.arrival)}  ${place(segment.arrival)}`,
    '',
  ]
}

const moment = ({ minute, offset }: Stop) => formatLocal(minute, offset).slice(0, 16).replace('T', ' ')

function place(stop: Stop): string {
  const known = airport(stop.airport)
  const terminal = stop.terminal === '' ? '' : `, terminal ${stop.terminal}`
  return `${known === undefined ? stop.airport : `${known.name} (${stop.airport})`}${terminal}`
}
