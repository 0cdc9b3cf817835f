/**
 * A small airline in one process: a through flight, a flight and its codeshare, a way back; a database of its own, and a world in memory that
 * follows it when told.
 */
import { randomBytes } from 'node:crypto'
import { type BookHouse, book } from '../../src/booking/book.ts'
import { followOperations, followThrough } from '../../src/booking/operation/follow.ts'
import type { Database } from '../../src/db/database.ts'
import { newId } from '../../src/id.ts'
import { createLog } from '../../src/log.ts'
import { sealOffer } from '../../src/offer/seal.ts'
import type { Caller } from '../../src/partner/account.ts'
import type { Refusal } from '../../src/refusal.ts'
import { importFares } from '../../src/supplier/inventory/fares.ts'
import { createInventory } from '../../src/supplier/inventory/inventory.ts'
import { followSeats, type Loaded, loadWorld } from '../../src/supplier/inventory/load.ts'
import { type Ordered, operateFlight } from '../../src/supplier/inventory/operation/operate.ts'
import type { OperationKind } from '../../src/supplier/inventory/operation/store.ts'
import { decodeReference, encodeReference } from '../../src/supplier/inventory/reference.ts'
import { importSchedule } from '../../src/supplier/inventory/schedule.ts'
import type { Followed, Mode, Proposal } from '../../src/supplier/supplier.ts'
import { DEFAULT_RULES } from '../../src/timetable/rules.ts'
import { ssimWriter } from '../../src/timetable/ssim-writer.ts'
import type { Segment } from '../../src/travel/itinerary.ts'
import { dateOf, dayNumber, localDay } from '../../src/travel/time.ts'
import type { TestDatabase } from '../support/postgres.ts'

const DAYS = 360
const SEATS_MAX = 999

/** Minutes of the day. Airports without summer time, so that one line of schedule is true the whole year. */
const at = (hours: number, minutes = 0) => hours * 60 + minutes

/**
 * ZX1 SIN–BKK–NRT, through and over midnight: its second leg leaves a day later. ZX2 SIN–HKG, also sold as QY502. ZX3 HKG–NRT connects to it.
 * ZX4 HKG–SIN is the way back. ZX5 flies SIN–HKG–SIN under one number, which nobody is sold through.
 */
export function scheduleText(seats: number): string {
  const from = localDay('UTC', Date.now()) - 1
  const period = { from, to: from + DAYS, weekdays: 127, aircraft: '320', classes: 'Y' }
  const common = {
    ...period,
    variation: 1,
    sequence: 1,
    departureDays: 0,
    arrivalDays: 0,
    configuration: `Y${String(Math.min(seats, SEATS_MAX)).padStart(3, '0')}`,
  }
  const SIN = { origin: 'SIN', departureOffset: 480 }
  const toHKG = { destination: 'HKG', arrivalOffset: 480 }
  const writer = ssimWriter()
  writer.carrier({ carrier: 'ZX', from, to: from + DAYS, title: 'SMALL NETWORK' })
  writer.leg({
    ...common,
    ...SIN,
    carrier: 'ZX',
    number: 1,
    departure: at(22),
    destination: 'BKK',
    arrival: at(23, 20),
    arrivalOffset: 420,
  })
  writer.leg({
    ...common,
    carrier: 'ZX',
    number: 1,
    sequence: 2,
    from: from + 1,
    to: from + DAYS + 1,
    origin: 'BKK',
    departure: at(0, 30),
    departureOffset: 420,
    departureDays: 1,
    destination: 'NRT',
    arrival: at(8, 40),
    arrivalOffset: 540,
    arrivalDays: 1,
  })
  writer.leg({ ...common, ...SIN, ...toHKG, carrier: 'ZX', number: 2, departure: at(9), arrival: at(13) })
  writer.leg({
    ...common,
    carrier: 'ZX',
    number: 3,
    origin: 'HKG',
    departure: at(15),
    departureOffset: 480,
    destination: 'NRT',
    arrival: at(20),
    arrivalOffset: 540,
  })
  const back = { origin: 'HKG', departureOffset: 480, destination: 'SIN', arrivalOffset: 480 }
  writer.leg({ ...common, ...back, carrier: 'ZX', number: 4, departure: at(15), arrival: at(19) })
  writer.leg({ ...common, ...SIN, ...toHKG, carrier: 'ZX', number: 5, departure: at(6), arrival: at(10) })
  writer.leg({
    ...common,
    ...back,
    carrier: 'ZX',
    number: 5,
    sequence: 2,
    departure: at(12),
    arrival: at(16),
  })
  writer.carrier({ carrier: 'QY', from, to: from + DAYS, title: 'ITS PARTNER' })
  writer.leg({
    ...common,
    ...SIN,
    ...toHKG,
    carrier: 'QY',
    number: 502,
    departure: at(9),
    arrival: at(13),
    configuration: '',
    disclosure: 'L',
  })
  writer.data({ segment: 'AB', element: 50, board: 'SIN', off: 'HKG', text: 'ZX    2' })
  return writer.end()
}

export const DEPARTS_IN_DAYS = 20

/** The date `DEPARTS_IN_DAYS` from now, or so many days after it. */
export function date(after = 0): string {
  return dateOf(localDay('Asia/Singapore', Date.now()) + DEPARTS_IN_DAYS + after)
}

export type Booked = Record<string, unknown> & { bookingId: string; bookingStatus: string; version: number }
export type Trip = {
  from: string
  to: string
  /** The flights wanted, `ZX1` or `ZX2+ZX3`. */
  flights: string
  date?: string
  passengers?: number
  mode?: Mode
}

export type Airline = Awaited<ReturnType<typeof openAirline>>

/** Imports the schedule and opens it for sale. */
export async function openAirline({ database }: TestDatabase, seats = 300) {
  await importFares(
    database,
    `carrier,origin,destination,cabin,class,currency,base,per_km,seats\n*,*,*,economy,Y,USD,100,0,${seats}\n`,
  )
  await importSchedule(database, Buffer.from(scheduleText(seats)), true)
  const loaded = (await loadWorld(database, new Map(), Date.now())) as Loaded
  const supplier = createInventory(() => loaded.world, DEFAULT_RULES)
  const accountId = newId('acc')
  const callerOf = (mode: Mode): Caller => ({
    region: 'intl',
    accountId,
    keyId: newId('key'),
    mode,
    plan: 'enterprise',
    currency: 'USD',
    scopes: new Set(['book']),
  })
  const house: BookHouse = {
    database,
    suppliers: new Map([['inventory', supplier]]),
    travellerKey: { master: randomBytes(32), region: 'intl' },
    log: createLog('silent', 'test'),
    bookingWaitMs: 5000,
    seatsChanged: async () => void (await followSeats(database, loaded, Date.now())),
    rates: () => undefined,
    offerKey: randomBytes(32),
    requestKey: randomBytes(32),
    now: Date.now,
  }
  let marks = 0

  async function proposals(trip: Trip): Promise<readonly Proposal[]> {
    const found = await supplier.search(
      {
        mode: trip.mode ?? 'live',
        origins: [trip.from],
        destinations: [trip.to],
        departDay: dayNumber(trip.date ?? date())!,
        returnDay: undefined,
        leavesAfter: 0,
        passengers: trip.passengers ?? 1,
        cabin: 'economy',
      },
      AbortSignal.timeout(5000),
    )
    const wanted = trip.flights.split('+')
    return found
      .filter(one => sameFlights(one.slices[0]!.segments, wanted))
      .map(one => ({ ...one, reference: soldUnder(one.reference, wanted) }))
  }

  /** An offer for a trip, to be booked whenever one likes. @throws Error when it is not for sale */
  async function offer(trip: Trip): Promise<string> {
    const [one] = await proposals(trip)
    if (one === undefined) throw new Error(`${trip.flights} is not for sale`)
    return sealOffer(house.offerKey, accountId, {
      mode: trip.mode ?? 'live',
      issuedAt: Date.now() - ++marks,
      passengers: trip.passengers ?? 1,
      lastDay: dayNumber(date(2))!,
      perPerson: { minor: one.fares.reduce((sum, fare) => sum + fare.minor, 0), currency: 'USD' },
      rates: '',
      supplier: 'inventory',
      reference: one.reference,
    })
  }

  /** Books an offer; the code of the refusal when there is one. */
  async function bookOffer(offerId: string, trip: Trip): Promise<Booked | string> {
    const party = trip.passengers ?? 1
    const answer = await book(
      house,
      callerOf(trip.mode ?? 'live'),
      {
        offerId,
        passengers: Array.from({ length: party }, (_, i) => ({
          firstName: 'Ada',
          lastName: `Byron${'ABCDEFGHI'[i]}`,
          dateOfBirth: '1990-12-10',
          documentType: 'passport',
          documentNumber: `X${i}234567`,
          documentExpiry: '2040-01-31',
        })),
        contactEmail: 'ada@example.com',
        contactPhone: '+442079460018',
      },
      {
        booking: booking =>
          JSON.stringify({
            bookingId: booking.id,
            bookingStatus: booking.status,
            version: booking.version,
            slices: booking.slices,
          }),
        refusal: (refusal: Refusal) => ({ status: 422, body: JSON.stringify({ refused: refusal.code }) }),
      },
      undefined,
    )
    const json = JSON.parse(answer.body)
    return answer.status === 200 ? json : json.refused
  }

  return {
    database,
    house,
    supplier,
    timetable: loaded.world.timetable,
    accountId,
    follow: house.seatsChanged,
    proposals,
    offer,
    bookOffer,
    async book(trip: Trip): Promise<Booked> {
      const booked = await bookOffer(await offer(trip), trip)
      if (typeof booked === 'string') throw new Error(`not booked: ${booked}`)
      return booked
    },
    /** Orders an operation and lets no booking follow yet. */
    order: (
      kind: OperationKind,
      designator: string,
      more: { date?: string; from?: string; minutes?: number } = {},
    ): Promise<Ordered> =>
      operateFlight(
        database,
        loaded.world.timetable,
        {
          kind,
          designator,
          date: more.date ?? date(),
          from: more.from,
          minutes: more.minutes ?? 0,
        },
        Date.now(),
      ),
    /** As the operator's command does it. */
    async operate(
      kind: OperationKind,
      designator: string,
      more: { date?: string; from?: string; minutes?: number } = {},
    ): Promise<Followed & { repeated: boolean; legs: string[] }> {
      const ordered = await this.order(kind, designator, more)
      const { followed } = await followThrough(house, supplier, ordered.id)
      await house.seatsChanged()
      const legs = ordered.legs.map(leg => `${leg.leg} ${leg.departs}`)
      return { ...followed, repeated: ordered.repeated, legs }
    },
    /** As the worker does it. */
    followAll: () => followAll(house),
    read: (id: string) => readBooking(database, id),
  }
}

/** A search shows a flight once, under one of its numbers; QY502 is ZX2. */
const operating = (name: string) => (name === 'QY502' ? 'ZX2' : name)

function sameFlights(segments: readonly Segment[], wanted: readonly string[]): boolean {
  const names = segments.map(segment => operating(`${segment.carrier}${segment.number}`))
  return names.join() === wanted.map(operating).join()
}

/** A reference to the same seats under the numbers that are wanted. */
function soldUnder(reference: Uint8Array, wanted: readonly string[]): Uint8Array {
  const { cabin, slices } = decodeReference(reference)
  return encodeReference({
    cabin,
    slices: slices.map(segments =>
      segments.map((segment, i) => ({
        ...segment,
        carrier: wanted[i]!.slice(0, 2),
        number: Number(wanted[i]!.slice(2)),
      })),
    ),
  })
}

/** Lets bookings follow until there is nothing to follow. */
export async function followAll(house: Parameters<typeof followOperations>[0]): Promise<void> {
  while (await followOperations(house));
}

export type BookingRow = {
  status: string
  version: number
  slices: {
    segments: { departure: Place; arrival: Place; seats?: { passenger: number; seat: string }[] }[]
  }[]
  changes: { version: number; kind: string; fields: { path: string; from?: string; to?: string }[] }[]
  events: { type: string; version: number }[]
  ledger: string[]
}
type Place = { airport: string; minute: number; offset: number; delay?: number }

/** All there is of a booking, by plain SQL. */
export async function readBooking(database: Database, id: string): Promise<BookingRow> {
  const [row] = await database.query<BookingRow>(
    `select status, version, slices, changes,
       (select coalesce(json_agg(json_build_object('type', type, 'version', e.version) order by e.version), '[]') from event e where booking_id = b.id) as events,
       (select array_agg(kind order by l.id) from ledger_entry l where booking_id = b.id) as ledger
     from booking b where id = $1`,
    [id],
  )
  return row!
}

/**
 * Copies a booking `count` times, with its seats, ledger and legs, without selling one by one. Each gets a locator of its own.
 */
export async function multiply(database: Database, id: string, count: number): Promise<void> {
  await database.transaction(async tx => {
    await tx.query(
      `insert into booking (id, account_id, mode, status, version, supplier, supplier_reference, claim, record_locator, offer_hash, request_mac, slices,
         passengers, per_person, total, currency, rates, data_key, contact, status_history)
       select 'bkg_' || lpad(n::text, 24, '0'), account_id, mode, status, version, supplier, supplier_reference, claim, 'L' || n,
         decode(md5(n::text), 'hex'), request_mac, slices, passengers, per_person, total, currency, rates, data_key, contact, status_history
         from booking, generate_series(1, $2::int) as n where id = $1`,
      [id, count],
    )
    await tx.query(
      `insert into booked_leg (departs, leg, booking_seq)
       select l.departs, l.leg, c.seq from booked_leg l join booking b on b.seq = l.booking_seq and b.id = $1, booking c where c.record_locator like 'L%' and c.id like 'bkg_0%'`,
      [id],
    )
    await tx.query(
      `insert into ledger_entry (account_id, mode, booking_id, kind, debit, credit, amount, currency)
       select l.account_id, l.mode, 'bkg_' || lpad(n::text, 24, '0'), kind, debit, credit, amount, currency
         from generate_series(1, $2::int) as n, ledger_entry l where booking_id = $1 order by n, l.id`,
      [id, count],
    )
    await tx.query(
      `insert into passenger (booking_id, position, details, document)
       select 'bkg_' || lpad(n::text, 24, '0'), position, details, document from generate_series(1, $2::int) as n, passenger where booking_id = $1`,
      [id, count],
    )
    await tx.query(
      `insert into event (id, account_id, mode, booking_id, version, type, body, owed)
       select e.id || n, account_id, mode, 'bkg_' || lpad(n::text, 24, '0'), version, type, body, 0
         from generate_series(1, $2::int) as n, event e where booking_id = $1`,
      [id, count],
    )
    await tx.query(
      `insert into confirmation (booking_id) select 'bkg_' || lpad(n::text, 24, '0') from generate_series(1, $2::int) as n where exists (select from confirmation where booking_id = $1)`,
      [id, count],
    )
    await tx.query(
      `update seat s set sold = sold + $2 * b.passengers, authorised = greatest(authorised, sold + $2 * b.passengers)
         from booking b, jsonb_to_recordset(b.claim::jsonb -> 'seats') as w(leg text, departs date, cabin text, "bookingClass" text)
        where b.id = $1 and s.mode = b.mode and s.leg = w.leg and s.departs = w.departs and s.cabin = w.cabin and s.class = w."bookingClass"`,
      [id, count],
    )
  })
}
