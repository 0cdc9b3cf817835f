import type { Booking } from '../booking/booking.ts'
import { cancelBooking } from '../booking/cancel.ts'
import { resendConfirmation } from '../booking/confirmation/store.ts'
import { reassignSeat } from '../booking/reassign.ts'
import { findAnyBooking } from '../booking/store.ts'
import { isId } from '../id.ts'
import { Refusal } from '../refusal.ts'
import { deriveKey } from '../secret.ts'
import { createInventory, INVENTORY } from '../supplier/inventory/inventory.ts'
import { rulesOf } from '../supplier/inventory/rules.ts'
import { toAmount } from '../travel/money.ts'
import { formatLocal } from '../travel/time.ts'
import {
  type Arguments,
  type Command,
  type CommandContext,
  faulty,
  onlyPositional,
  requiredText,
  text,
} from './command.ts'

const REMEDY = 'give the id of a booking, such as bkg_…'

/** Commands on one booking, whoever made it. */
export const commands: readonly Command[] = [
  {
    name: 'booking show',
    usage: 'ID',
    summary: 'Show a booking, travellers and documents left out',
    options: {},
    async run(context, args) {
      const id = onlyPositional(args, 'ID', REMEDY)
      const booking = isId('bkg', id)
        ? await findAnyBooking(context.database, travellerKey(context), id)
        : undefined
      if (booking === undefined) throw new Refusal('not_found', `There is no booking ${id} in this region.`)
      return show(booking)
    },
  },
  {
    name: 'booking cancel',
    usage: 'ID',
    summary: 'Cancel a booking: seats come back, the charge is refunded; harmless when repeated',
    options: {},
    async run(context, args) {
      const suppliers = suppliersOf(context)
      const { database } = context
      return show(
        await cancelBooking(
          { database, travellerKey: travellerKey(context), suppliers },
          onlyPositional(args, 'ID', REMEDY),
        ),
      )
    },
  },
  {
    name: 'booking reassign-seat',
    usage: 'ID --passenger N --seat 12A [--segment N]',
    summary: "Give a passenger another seat; passengers and the booking's flights count from 1",
    options: { passenger: { type: 'string' }, seat: { type: 'string' }, segment: { type: 'string' } },
    async run(context, args) {
      const id = onlyPositional(args, 'ID', REMEDY)
      const passenger = position(args, 'passenger')
      if (passenger === undefined) throw faulty('--passenger', 'is missing; give 1 for the first one')
      const seat = requiredText(args, 'seat', 'give one such as 12A')
      const house = { database: context.database, suppliers: suppliersOf(context) }
      const { booking, changed } = await reassignSeat(house, id, {
        passenger,
        segment: position(args, 'segment'),
        seat,
      })
      const seats = booking.slices.flatMap((slice, s) =>
        slice.segments.flatMap((segment, i) =>
          (segment.seats ?? []).map(one => ({
            slice: s,
            segment: i,
            flight: `${segment.carrier}${segment.number}`,
            ...one,
          })),
        ),
      )
      return {
        json: { bookingId: id, version: booking.version, changed, seats },
        text: [
          changed ? `Booking ${id} is changed.` : `Booking ${id} stays as it is.`,
          ...seats.map(one => `  ${one.flight}  passenger ${one.passenger + 1}  ${one.seat}`),
        ].join('\n'),
      }
    },
  },
  {
    name: 'booking confirm',
    usage: 'ID',
    summary: 'Send a confirmation e-mail again whose fate is uncertain, or that was only logged',
    options: {},
    async run({ database }, args) {
      const bookingId = onlyPositional(args, 'ID', REMEDY)
      if (!(await resendConfirmation(database, bookingId))) {
        throw new Refusal(
          'not_found',
          `No confirmation of ${bookingId} is uncertain or unsent; nothing to send again.`,
        )
      }
      return { json: { bookingId, due: true }, text: `The confirmation of ${bookingId} is sent again.` }
    },
  },
]

const travellerKey = ({ secret, region }: CommandContext) => ({
  master: deriveKey(secret, `traveller data ${region}`),
  region,
})

const suppliersOf = ({ settings }: CommandContext) =>
  new Map([[INVENTORY, createInventory(() => undefined, rulesOf(settings))]])

/** A position counted from 1; undefined when the option was not given. */
function position(args: Arguments, option: string): number | undefined {
  const typed = text(args, option)
  if (typed === undefined) return undefined
  if (!/^[1-9]\d?$/.test(typed))
    throw faulty(`--${option}`, `cannot be ${JSON.stringify(typed)}; count from 1`)
  return Number(typed)
}

function show(booking: Booking) {
  const { id, accountId, mode, status, recordLocator, version, total } = booking
  const flights = booking.slices.flatMap(slice =>
    slice.segments.map(segment => ({
      flight: `${segment.carrier}${segment.number}`,
      from: segment.departure.airport,
      to: segment.arrival.airport,
      departs: formatLocal(segment.departure.minute, segment.departure.offset),
      arrives: formatLocal(segment.arrival.minute, segment.arrival.offset),
      cabin: segment.cabin,
      bookingClass: segment.bookingClass,
    })),
  )
  const price = { amount: toAmount(total), currency: total.currency }
  const json = {
    bookingId: id,
    accountId,
    mode,
    bookingStatus: status,
    pnr: recordLocator,
    version,
    passengers: booking.travellers.length,
    totalPrice: price,
    flights,
    statusHistory: booking.statusHistory,
  }
  const text = [
    `${id}  ${status}  ${recordLocator === '' ? 'no record locator yet' : recordLocator}  (${mode}, ${accountId})`,
    ...flights.map(
      f => `  ${f.flight}  ${f.from} ${f.departs}  ${f.to} ${f.arrives}  ${f.cabin} ${f.bookingClass}`,
    ),
    `  ${json.passengers} ${json.passengers === 1 ? 'passenger' : 'passengers'}, ${price.amount} ${price.currency}`,
    ...booking.statusHistory.map(change => `  ${change.at}  ${change.status}`),
  ].join('\n')
  return { json, text }
}
