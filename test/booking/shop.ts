/** One region's rooms on a database of their own, without doors: what a test of offers and bookings stands on. */
import { randomBytes } from 'node:crypto'
import { type BookHouse, book } from '../../src/booking/book.ts'
import type { BookRequest } from '../../src/booking/booking.ts'
import { cancelBooking } from '../../src/booking/cancel.ts'
import { reconcile } from '../../src/booking/reconcile.ts'
import type { Database } from '../../src/db/database.ts'
import { newId } from '../../src/id.ts'
import type { Logger } from '../../src/log.ts'
import type { Offer, OfferQuery } from '../../src/offer/offer.ts'
import { search } from '../../src/offer/search.ts'
import { type Caller, SCOPES } from '../../src/partner/account.ts'
import type { Refusal } from '../../src/refusal.ts'
import { importFares } from '../../src/supplier/inventory/fares.ts'
import { createInventory, INVENTORY } from '../../src/supplier/inventory/inventory.ts'
import { followSeats, type Loaded, loadWorld } from '../../src/supplier/inventory/load.ts'
import { importRates } from '../../src/supplier/inventory/rates.ts'
import { importSchedule } from '../../src/supplier/inventory/schedule.ts'
import { readState } from '../../src/supplier/inventory/store.ts'
import { sameGeneration } from '../../src/supplier/inventory/world.ts'
import type { Mode, Supplier } from '../../src/supplier/supplier.ts'
import { DEFAULT_RULES } from '../../src/timetable/rules.ts'
import { type LegText, ssimWriter } from '../../src/timetable/ssim-writer.ts'
import { dateOf, localDay } from '../../src/travel/time.ts'
import { cloneDatabase, type TestDatabase } from '../support/postgres.ts'

const DAYS = 370
/** Places without summer time: one line of schedule is true all year. */
const OFFSET: Readonly<Record<string, number>> = { SIN: 480, HKG: 480, BKK: 420, MNL: 480 }

export type PlainLeg = {
  carrier?: string
  number: number
  sequence?: number
  origin: string
  destination: string
  /** Local minutes of the day. */
  departure: number
  arrival: number
  configuration?: string
  /** Flight that operates it, as data element 50 has it: `ZX    6`. */
  operatedBy?: string
} & Partial<LegText>

/** 1 SIN–HKG, 2 SIN–BKK and 3 BKK–HKG that connect, 5 SIN–BKK–HKG through, 4 HKG–SIN back. */
export const NETWORK: readonly PlainLeg[] = [
  { number: 1, origin: 'SIN', destination: 'HKG', departure: 540, arrival: 780, configuration: 'C004Y010' },
  { number: 2, origin: 'SIN', destination: 'BKK', departure: 420, arrival: 510, configuration: 'Y012' },
  { number: 3, origin: 'BKK', destination: 'HKG', departure: 660, arrival: 885, configuration: 'Y008' },
  { number: 4, origin: 'HKG', destination: 'SIN', departure: 900, arrival: 1140, configuration: 'C004Y010' },
  {
    number: 5,
    sequence: 1,
    origin: 'SIN',
    destination: 'BKK',
    departure: 900,
    arrival: 990,
    configuration: 'Y006',
  },
  {
    number: 5,
    sequence: 2,
    origin: 'BKK',
    destination: 'HKG',
    departure: 1050,
    arrival: 1275,
    configuration: 'Y006',
  },
]

export const FARES_HEADER = 'carrier,origin,destination,cabin,class,currency,base,per_km,seats'
export const FARES = `${FARES_HEADER}
*,*,*,economy,Y,USD,100,0.01,4
*,*,*,economy,M,USD,150,0.02,20
*,*,*,business,C,EUR,500,0.1,4
`

/** A schedule valid from yesterday for as long as anybody can search. */
export function scheduleText(legs: readonly PlainLeg[]): Buffer {
  const from = localDay('UTC', Date.now()) - 1
  const to = from + DAYS
  const writer = ssimWriter()
  for (const [carrier, own] of Map.groupBy(legs, leg => leg.carrier ?? 'ZX')) {
    writer.carrier({ carrier, from, to })
    for (const { operatedBy, ...leg } of own) {
      writer.leg({
        variation: 1,
        sequence: 1,
        from,
        to,
        weekdays: 127,
        departureOffset: OFFSET[leg.origin]!,
        arrivalOffset: OFFSET[leg.destination]!,
        aircraft: '320',
        departureDays: 0,
        arrivalDays: 0,
        ...leg,
        carrier,
      })
      if (operatedBy !== undefined)
        writer.data({ segment: 'AB', element: 50, board: leg.origin, off: leg.destination, text: operatedBy })
    }
  }
  return Buffer.from(writer.end(), 'latin1')
}

/** The date `days` from today. */
export const ahead = (days: number) => dateOf(localDay('UTC', Date.now()) + days)

export type Line = { level: string; fields: Record<string, unknown>; message: string }

/** A log that keeps its lines. */
export function keepingLog(): { log: Logger; lines: Line[]; text(): string } {
  const lines: Line[] = []
  const at =
    (level: string) =>
    (fields: Record<string, unknown>, message = '') =>
      void lines.push({ level, fields, message })
  const log = Object.fromEntries(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map(level => [level, at(level)]),
  ) as unknown as Logger
  const text = () =>
    lines
      .map(
        ({ message, fields }) =>
          `${message} ${JSON.stringify(fields)} ${fields.err instanceof Error ? fields.err.stack : ''}`,
      )
      .join('\n')
  return { log, lines, text }
}

export type Reply = {
  status: number
  body: string
  replayed: boolean
  bookingId?: string
  bookingStatus?: string
  code?: string
  error?: Refusal
}

export type Shop = {
  place: TestDatabase
  database: Database
  house: BookHouse
  log: ReturnType<typeof keepingLog>
  /** Added to the process's clock, in milliseconds; the database's stays. */
  clock: { offsetMs: number }
  loaded(): Loaded
  /** Brings schedule, fares, rates and seats up to date with the database. */
  refresh(): Promise<void>
  caller(mode?: Mode, accountId?: Caller['accountId']): Caller
  offers(query?: Partial<OfferQuery>, caller?: Caller): Promise<readonly Offer[]>
  book(
    request: BookRequest,
    options?: { caller?: Caller; key?: string | undefined; house?: BookHouse },
  ): Promise<Reply>
  /** Makes everything pending due and looks it up once. */
  reconcile(): Promise<void>
  cancel(id: string): Promise<string>
  close(): Promise<void>
}

export type ShopOptions = {
  legs?: readonly PlainLeg[]
  fares?: string
  rates?: string
  bookingWaitMs?: number
  /** Suppliers beside, or in place of, own flights. */
  suppliers?: (inventory: Supplier) => readonly Supplier[]
  poolMax?: number
}

export const RATES = `<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<Cube><Cube time='2026-11-20'><Cube currency='USD' rate='1.1'/><Cube currency='JPY' rate='160'/></Cube></Cube></gesmes:Envelope>`

const SECRET = randomBytes(32)

/** Opens a shop with a small network and one account. */
export async function openShop(options: ShopOptions = {}): Promise<Shop> {
  const place = await cloneDatabase({ poolMax: options.poolMax ?? 12, queueMax: 1000 })
  const { database } = place
  await importRates(database, options.rates ?? RATES, Date.now())
  await importFares(database, options.fares ?? FARES)
  await importSchedule(database, scheduleText(options.legs ?? NETWORK), false)
  const images = new Map()
  const clock = { offsetMs: 0 }
  const now = () => Date.now() + clock.offsetMs
  let loaded = (await loadWorld(database, images, now()))!
  let turn: Promise<void> = Promise.resolve()
  const look = async () => {
    if (sameGeneration(await readState(database), loaded.world.generation))
      await followSeats(database, loaded, now())
    else loaded = (await loadWorld(database, images, now()))!
  }
  const refresh = () => {
    const mine = turn.then(look)
    turn = mine.catch(() => {})
    return mine
  }
  const inventory = createInventory(() => loaded.world, DEFAULT_RULES)
  const log = keepingLog()
  const house: BookHouse = {
    suppliers: new Map(
      (options.suppliers?.(inventory) ?? [inventory]).map(supplier => [supplier.name, supplier]),
    ),
    database,
    log: log.log,
    now,
    rates: () => loaded.world.rates,
    offerKey: SECRET,
    requestKey: SECRET,
    travellerKey: { master: SECRET, region: 'intl' },
    bookingWaitMs: options.bookingWaitMs ?? 2_000,
    seatsChanged: () => refresh().catch(() => {}),
  }
  const account = newId('acc')
  const caller = (mode: Mode = 'live', accountId = account): Caller => ({
    region: 'intl',
    accountId,
    keyId: newId('key'),
    mode,
    plan: 'enterprise',
    currency: 'USD',
    scopes: new Set(SCOPES),
  })
  return {
    place,
    database,
    house,
    log,
    clock,
    caller,
    refresh,
    loaded: () => loaded,
    async offers(query = {}, by = caller()) {
      const asked: OfferQuery = {
        origin: 'SIN',
        destination: 'HKG',
        departDate: ahead(30),
        returnDate: undefined,
        passengers: 1,
        cabin: 'economy',
        currency: 'USD',
        ...query,
      }
      return (await search(house, by, asked)).offers
    },
    async book(request, { caller: by = caller(), key, house: other = house } = {}) {
      const reply = {
        booking: (booking: { id: string; status: string; recordLocator: string }) =>
          JSON.stringify({
            id: booking.id,
            status: booking.status,
            pnr: booking.recordLocator,
            nonce: Math.random(),
          }),
        refusal: (refusal: Refusal) => ({
          status: 422,
          body: JSON.stringify({
            code: refusal.code,
            priceChange: refusal.more.priceChange,
            nonce: Math.random(),
          }),
        }),
      }
      try {
        const answer = await book(other, by, request, reply, key)
        const parsed = JSON.parse(answer.body)
        return { ...answer, bookingId: parsed.id, bookingStatus: parsed.status, code: parsed.code }
      } catch (error) {
        const { code } = error as Refusal
        return { status: 0, body: '', replayed: false, code: code ?? 'thrown', error: error as Refusal }
      }
    },
    async reconcile() {
      await database.query(`update booking set reconcile_at = now() where status = 'pending'`)
      await reconcile(house)
    },
    async cancel(id) {
      return (await cancelBooking(house, id)).status
    },
    async close() {
      await turn
      await place.drop()
    },
  }
}

/** The supplier name of own flights. */
export const OWN = INVENTORY

/** A request to book an offer; another `name` makes another body. */
export function requestFor(offer: Pick<Offer, 'id' | 'passengers'>, name = 'Grace'): BookRequest {
  return {
    offerId: offer.id,
    passengers: Array.from({ length: offer.passengers }, (_, i) => ({
      firstName: name,
      lastName: `Hopper ${'ABCDEFGHI'[i]}`,
      dateOfBirth: '1906-12-09',
      documentType: 'passport',
      documentNumber: `SECRETDOC${i}7`,
      documentExpiry: '2040-01-01',
    })),
    contactEmail: 'grace@navy.example',
    contactPhone: '+12025550123',
  }
}
