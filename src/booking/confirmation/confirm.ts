import type { Database } from '../../db/database.ts'
import type { BookingId } from '../../id.ts'
import type { Logger } from '../../log.ts'
import { findAnyBooking } from '../store.ts'
import type { TravellerKey } from '../travellers.ts'
import { confirmationLetter } from './letter.ts'
import { DELIVERY_DEADLINE_MS, type Delivery, type Postman } from './send.ts'
import {
  dropConfirmation,
  findUncertain,
  postponeConfirmation,
  settleConfirmation,
  takeDueConfirmation,
} from './store.ts'

/** Letters on the wire at once. */
const LANES = 4
/** Longer than any delivery takes: after that its sender has vanished. */
const LEASE_SECONDS = (2 * DELIVERY_DEADLINE_MS) / 1000
/** Waits before the next attempt; the last one repeats. */
const WAITS_SECONDS = [30, 120, 600, 3_600]
/** About a day; then the letter is given up, and an operator may send it again. */
const ATTEMPTS_MAX = 27

export type SendHouse = {
  database: Database
  travellerKey: TravellerKey
  /** Undefined in a house without SMTP. */
  postman: Postman | undefined
  log: Logger
}

/** Sends what is due, a few letters at once. Returns how many it took up; there may be more. */
export async function sendConfirmations(house: SendHouse): Promise<number> {
  const taken = await Promise.all(Array.from({ length: LANES }, () => sendNext(house)))
  return taken.filter(Boolean).length
}

async function sendNext(house: SendHouse): Promise<boolean> {
  const due = await takeDueConfirmation(house.database, LEASE_SECONDS)
  if (due === undefined) return false
  const { id, attempts } = due
  const sent = await send(house, id)
  if (sent === undefined) {
    await dropConfirmation(house.database, id)
  } else if (sent.kind !== 'refused') {
    await settleConfirmation(house.database, id, sent.kind, sent.kind === 'uncertain' ? sent.problem : null)
    house.log.info({ bookingId: id, attempts, ...sent }, 'confirmation')
  } else if (attempts >= ATTEMPTS_MAX) {
    await settleConfirmation(house.database, id, 'refused', sent.problem)
    house.log.error(
      { bookingId: id, attempts, ...sent },
      'confirmation given up; send it again with: booking confirm',
    )
  } else {
    const waitSeconds = WAITS_SECONDS[Math.min(attempts, WAITS_SECONDS.length) - 1]!
    await postponeConfirmation(house.database, id, waitSeconds, sent.problem)
    house.log.warn({ bookingId: id, attempts, waitSeconds, ...sent }, 'confirmation not accepted')
  }
  return true
}

/** Undefined when the booking is not confirmed any more: then nothing is sent. */
async function send(
  { database, travellerKey, postman, log }: SendHouse,
  id: BookingId,
): Promise<Delivery | { kind: 'logged' } | undefined> {
  if (postman === undefined) {
    log.info({ bookingId: id }, 'confirmation not e-mailed: AIRSIDE_SMTP_URL is not set')
    return { kind: 'logged' }
  }
  let letter: ReturnType<typeof confirmationLetter>
  try {
    const booking = await findAnyBooking(database, travellerKey, id)
    if (booking?.status !== 'confirmed') return undefined
    letter = confirmationLetter(booking, domainOf(postman.from))
  } catch (error) {
    log.error({ bookingId: id, err: error }, 'a confirmation could not be written')
    return { kind: 'refused', problem: 'the letter could not be written' }
  }
  return postman.send(letter)
}

/** Brings to light confirmations whose sender vanished while sending. */
export async function markUncertain(house: Pick<SendHouse, 'database' | 'log'>): Promise<void> {
  for (const bookingId of await findUncertain(house.database)) {
    house.log.warn(
      { bookingId },
      'it is unknown whether this confirmation was sent; send it again with: booking confirm',
    )
  }
}

const domainOf = (from: string) => /@([^\s>]+)/.exec(from)?.[1] ?? 'localhost'
