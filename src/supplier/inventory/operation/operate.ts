import type { Database } from '../../../db/database.ts'
import { invalidParams, Refusal } from '../../../refusal.ts'
import type { Timetable } from '../../../timetable/image.ts'
import { dateOf, dayNumber, localDay } from '../../../travel/time.ts'
import type { LegDeparture, OperatedLeg } from '../../supplier.ts'
import { type FlightDate, findFlightDate, spelled } from './flight.ts'
import {
  bookedLegs,
  closeDepartures,
  insertOperation,
  lastOperation,
  lockLegs,
  type OperationKind,
  writeLegs,
} from './store.ts'

/** Two days: what is later is another flight. */
export const DELAY_MAX_MINUTES = 2880
/** A flight that left longer ago has been flown. */
const DAYS_BACK = 1

/** What is to be done to which flight. */
export type FlightOrder = {
  kind: OperationKind
  designator: string
  /** Local date, `YYYY-MM-DD`, at the flight's first airport, or at `from`. */
  date: string
  /** Only the part of the flight that begins here. */
  from: string | undefined
  /** Of a delay, against the schedule: not added to an earlier one. */
  minutes: number
}

export type Ordered = {
  /** For bookings to follow. */
  id: number
  flight: string
  board: string
  departs: string
  legs: readonly LegDeparture[]
  /** Whether the very same was done before: nothing new was noted then. */
  repeated: boolean
}

/**
 * Does to a flight date what a carrier does, and closes it for sale or opens it again, in one transaction; the bookings on it follow by
 * booking/operation. Doing the same again is harmless. A cancelled or delayed departure is not sold until it is restored.
 * @param timetable what is for sale; a flight that has left it is found by its bookings
 * @throws Refusal invalid_params for a designator or date that is none, not_found naming what is near, conflict for delaying what is cancelled
 */
export async function operateFlight(
  database: Database,
  timetable: Timetable | undefined,
  order: FlightOrder,
  now: number,
): Promise<Ordered> {
  const flightDate = await find(database, timetable, order, now)
  const { kind, minutes } = order
  const target = { cancelled: kind === 'cancel', delayMinutes: kind === 'delay' ? minutes : 0 }
  return database.transaction(async tx => {
    const legs = await lockLegs(tx, flightDate.legs)
    if (kind === 'delay' && legs.some(leg => leg.cancelled)) {
      const { flight, departs } = flightDate
      throw new Refusal('conflict', `${flight} of ${departs} is cancelled; restore it first.`)
    }
    if (legs.every(leg => isAt(leg, target))) {
      const last = await lastOperation(tx, flightDate)
      const same = last?.kind === kind && last.minutes === minutes && last.legs.length === legs.length
      if (same && last.followed.failed === 0) return { ...flightDate, id: last.id, repeated: true }
    }
    await writeLegs(tx, flightDate.legs, target)
    const id = await insertOperation(tx, { ...flightDate, kind, minutes }, flightDate.legs)
    // Last: bookings wait for these rows.
    await closeDepartures(tx, flightDate.legs, target.cancelled || target.delayMinutes > 0)
    return { ...flightDate, id, repeated: false }
  })
}

function isAt(leg: OperatedLeg, target: { cancelled: boolean; delayMinutes: number }): boolean {
  return leg.cancelled === target.cancelled && leg.delayMinutes === target.delayMinutes
}

/** The flight date that is meant: in the timetable, else among what was done before, else among bookings. */
async function find(
  database: Database,
  timetable: Timetable | undefined,
  order: FlightOrder,
  now: number,
): Promise<FlightDate> {
  const { date, from } = order
  const name = spelled(order.designator)
  if (name === undefined) {
    const message = `cannot be ${JSON.stringify(order.designator)}; give a flight number such as BA15`
    throw invalidParams([{ param: 'DESIGNATOR', code: 'invalid', message }])
  }
  const day = dayNumber(date)
  if (day === undefined) {
    const message = `cannot be ${JSON.stringify(date)}; give the local day of departure such as ${dateOf(localDay('UTC', now))}`
    throw invalidParams([{ param: 'DATE', code: 'invalid', message }])
  }
  if (order.kind !== 'restore' && day < localDay('UTC', now) - DAYS_BACK)
    throw new Refusal('not_found', `${name} of ${date} has been flown; nothing can be done to it any more.`)
  const found = timetable && findFlightDate(timetable, name, day, from)
  if (found?.kind === 'found') return found.flightDate
  if (found?.kind === 'several') throw several(found.flight, date, found.boards)
  const flight = found?.kind === 'other_day' ? found.flight : name
  const last = await lastOperation(database, { flight, departs: date, board: from })
  if (last !== undefined) return { flight, board: last.board, departs: date, legs: last.legs }
  const booked = (await bookedLegs(database, flight, date)).filter(
    leg => from === undefined || leg.leg.endsWith(`/${from}`),
  )
  const [first, second] = booked
  if (second !== undefined)
    throw several(
      flight,
      date,
      booked.map(leg => leg.leg.split('/')[1]!),
    )
  if (first !== undefined) return { flight, board: first.leg.split('/')[1]!, departs: date, legs: booked }
  const where = from === undefined ? '' : ` from ${from}`
  if (found?.kind === 'other_day') {
    const near = found.near.length === 0 ? '' : `; it leaves ${found.near.join(', ')}`
    throw new Refusal('not_found', `${flight} does not leave${where} on ${date}${near}.`)
  }
  const near = found === undefined || found.near.length === 0 ? '' : `; near it are ${found.near.join(', ')}`
  throw new Refusal('not_found', `There is no flight ${name}${near}.`)
}

function several(flight: string, date: string, boards: readonly string[]): Refusal {
  return new Refusal(
    'not_found',
    `${flight} leaves from ${boards.join(' and from ')} on ${date}, as flights of their own; say which with --from ${boards[0]}.`,
  )
}
