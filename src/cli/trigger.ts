import { setTimeout as sleep } from 'node:timers/promises'
import { book } from '../booking/book.ts'
import { cancelBooking } from '../booking/cancel.ts'
import { reassignSeat } from '../booking/reassign.ts'
import { createLog } from '../log.ts'
import { hashKey, PEPPER_PURPOSE } from '../partner/key.ts'
import { findKey } from '../partner/store.ts'
import { Refusal } from '../refusal.ts'
import { deriveKey } from '../secret.ts'
import { createInventory, INVENTORY } from '../supplier/inventory/inventory.ts'
import { loadWorld } from '../supplier/inventory/load.ts'
import { rulesOf } from '../supplier/inventory/rules.ts'
import type { Supplier } from '../supplier/supplier.ts'
import { EVENT_TYPES, type EventType } from '../webhook/event.ts'
import { type CommandContext, faulty, onlyPositional, type RemoteCommand, text } from './command.ts'
import { API_OPTIONS, apiOf, call, type PartnerApi } from './partner-api.ts'

const DAYS_AHEAD = 30
const DAY_MS = 86_400_000
/** A booking that is still pending after this long is left so, and said to be. */
const SETTLED_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 500

type BookingAnswer = { bookingId: string; bookingStatus: string; pnr: string; version: number }

/** `airside trigger` */
export const commands: readonly RemoteCommand[] = [
  {
    name: 'trigger',
    usage: `${EVENT_TYPES.join('|')} --key KEY [--from LHR] [--to JFK] [--date YYYY-MM-DD] [--url URL]`,
    summary:
      'Make an event really happen in test mode: a flight is searched and booked through the server. What a partner cannot do (let it fail, cancel it, assign a seat) is done on the database, so run it where the server runs',
    options: { ...API_OPTIONS, from: { type: 'string' }, to: { type: 'string' }, date: { type: 'string' } },
    remote: true,
    async run(context, args) {
      const remedy = `give one of ${EVENT_TYPES.join(', ')}`
      const type = onlyPositional(args, 'EVENT', remedy) as EventType
      if (!EVENT_TYPES.includes(type)) throw faulty('EVENT', `cannot be ${JSON.stringify(type)}; ${remedy}`)
      const api = apiOf(context, args)
      const search = {
        origin: text(args, 'from') ?? 'LHR',
        destination: text(args, 'to') ?? 'JFK',
        departDate:
          text(args, 'date') ?? new Date(Date.now() + DAYS_AHEAD * DAY_MS).toISOString().slice(0, 10),
      }
      const { results } = await call<{ results: { offerId: string }[] }>(
        api,
        'POST',
        '/travel/search',
        search,
      )
      const request = bookingOf(results[0]!.offerId)
      const booking =
        type === 'booking.failed'
          ? await context.atHome(home => refusedByCarrier(home, api, request))
          : await bookAt(api, request)
      if (type === 'booking.cancelled')
        await context.atHome(home => cancelBooking(houseOf(home), booking.bookingId))
      if (type === 'booking.updated') await context.atHome(home => seat(home, booking.bookingId))
      const now = await call<BookingAnswer>(api, 'GET', `/travel/booking/${booking.bookingId}`)
      const { bookingId, bookingStatus, pnr, version } = now
      return {
        json: { event: type, bookingId, bookingStatus, pnr, version },
        text: `${type}: ${bookingId} is ${bookingStatus}${pnr === '' ? '' : ` under ${pnr}`}, version ${version}`,
      }
    },
  },
]

type Request = ReturnType<typeof bookingOf>

function bookingOf(offerId: string) {
  return {
    offerId,
    passengers: [
      {
        firstName: 'Ada',
        lastName: 'Example',
        dateOfBirth: '1990-05-17',
        documentType: 'passport' as const,
        documentNumber: 'X1234567',
        documentExpiry: new Date(Date.now() + 3650 * DAY_MS).toISOString().slice(0, 10),
      },
    ],
    contactEmail: 'ada@example.com',
    contactPhone: '+442071838750',
  }
}

/** Books and waits until the booking is confirmed. @throws Refusal when it is not */
async function bookAt(api: PartnerApi, request: Request): Promise<BookingAnswer> {
  let booking = await call<BookingAnswer>(api, 'POST', '/travel/book', request)
  const until = performance.now() + SETTLED_WITHIN_MS
  while (booking.bookingStatus === 'pending' && performance.now() < until) {
    await sleep(LOOK_EVERY_MS)
    booking = await call<BookingAnswer>(api, 'GET', `/travel/booking/${booking.bookingId}`)
  }
  if (booking.bookingStatus === 'confirmed') return booking
  throw new Refusal(
    'unavailable',
    `Booking ${booking.bookingId} is ${booking.bookingStatus}, not confirmed; its events come as it goes on.`,
  )
}

/** Own flights never refuse what they have seats for: so the booking is made here, with a carrier that says no once the seats are taken. */
async function refusedByCarrier(
  home: CommandContext,
  api: PartnerApi,
  request: Request,
): Promise<{ bookingId: string }> {
  const { database, region, secret, settings } = home
  const caller = (await findKey(database, region, hashKey(deriveKey(secret, PEPPER_PURPOSE), api.key)))
    ?.caller
  if (caller === undefined)
    throw new Refusal(
      'invalid_key',
      'The key is not in the database that this command works on; run it where the server runs.',
    )
  const world = (await loadWorld(database, new Map(), Date.now()))?.world
  const inventory = createInventory(() => world, rulesOf(settings))
  const refusing: Supplier = { ...inventory, reserve: async () => ({ kind: 'refused', reason: 'rejected' }) }
  const house = {
    ...houseOf(home),
    suppliers: new Map([[INVENTORY, refusing]]),
    log: createLog('warn', 'cli'),
    now: Date.now,
    rates: () => world?.rates,
    offerKey: deriveKey(secret, `offer ${region}`),
    requestKey: deriveKey(secret, `request ${region}`),
    bookingWaitMs: settings.bookingWaitMs,
    seatsChanged: async () => {},
  }
  let bookingId = ''
  const reply = {
    booking(made: { id: string }) {
      bookingId = made.id
      return ''
    },
    refusal(refusal: Refusal): never {
      throw refusal
    },
  }
  await book(house, caller, request, reply, undefined)
  return { bookingId }
}

/** Gives the passenger the first seat that is free: a seat assignment is a change of the booking. */
async function seat(home: CommandContext, bookingId: string): Promise<void> {
  for (let row = 10; ; row++) {
    try {
      await reassignSeat(houseOf(home), bookingId, { passenger: 1, segment: 1, seat: `${row}A` })
      return
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'conflict') || row === 60) throw error
    }
  }
}

function houseOf({ database, region, secret, settings }: CommandContext) {
  return {
    database,
    travellerKey: { master: deriveKey(secret, `traveller data ${region}`), region },
    suppliers: new Map([[INVENTORY, createInventory(() => undefined, rulesOf(settings))]]),
  }
}
