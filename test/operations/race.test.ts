/** Bookings made while their flight is being cancelled, delayed or restored: none slips in between closing and notice. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { cancelBooking } from '../../src/booking/cancel.ts'
import { nameOf } from '../../src/booking/operation/delay.ts'
import { followOperations, followThrough } from '../../src/booking/operation/follow.ts'
import { reassignSeat } from '../../src/booking/reassign.ts'
import type { Database } from '../../src/db/database.ts'
import { Refusal } from '../../src/refusal.ts'
import { operateFlight } from '../../src/supplier/inventory/operation/operate.ts'
import type { OperationKind } from '../../src/supplier/inventory/operation/store.ts'
import { checkBooks } from '../faults/checker.ts'
import { cloneDatabase, type TestDatabase } from '../support/postgres.ts'
import { random } from '../support/random.ts'
import { type Airline, date, openAirline, type Trip } from './support.ts'

let test: TestDatabase
let airline: Airline

before(async () => {
  test = await cloneDatabase()
  airline = await openAirline(test)
})
after(() => test?.drop())

/** Long enough for whatever does not wait to be over. */
const A_WHILE_MS = 150

/** Resolves to whether a promise is still open after a while. */
const stillOpen = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => false), sleep(A_WHILE_MS, true)])

describe('the instant of closing', () => {
  it('waits for a booking that has its seats and has not committed, and that one follows', async () => {
    const trip = { from: 'SIN', to: 'HKG', flights: 'QY502' }
    const claimed = Promise.withResolvers<void>()
    const commit = Promise.withResolvers<void>()
    const stock = airline.supplier.stock!
    const slow = {
      ...airline.supplier,
      stock: {
        ...stock,
        async claim(...args: Parameters<typeof stock.claim>) {
          const claim = await stock.claim(...args)
          claimed.resolve()
          await commit.promise
          return claim
        },
      },
    }
    const offerId = await airline.offer(trip)
    airline.house.suppliers = new Map([['inventory', slow]])
    const booking = airline.bookOffer(offerId, trip)
    await claimed.promise
    airline.house.suppliers = new Map([['inventory', airline.supplier]])
    const ordered = airline.order('cancel', 'ZX2')
    assert.ok(await stillOpen(ordered), 'closing waits')
    commit.resolve()
    const booked = await booking
    assert.ok(typeof booked === 'object', 'it was sold before the flight was closed')
    const { followed } = await followThrough(airline.house, airline.supplier, (await ordered).id)
    assert.equal(followed.cancelled, 1)
    assert.equal((await airline.read(booked.bookingId)).status, 'cancelled')
  })

  for (const [kind, minutes] of [
    ['cancel', 0],
    ['delay', 10],
  ] as const) {
    it(`makes a booking wait that comes later, and refuses it: ${kind}`, async () => {
      const trip = { from: 'HKG', to: 'SIN', flights: 'ZX4', date: date(kind === 'cancel' ? 1 : 2) }
      const offerId = await airline.offer(trip)
      const closed = Promise.withResolvers<void>()
      const commit = Promise.withResolvers<void>()
      const slow: Database = {
        ...airline.database,
        transaction: work =>
          airline.database.transaction(async tx => {
            const result = await work(tx)
            closed.resolve()
            await commit.promise
            return result
          }),
      }
      const order = { kind, designator: 'ZX4', date: trip.date, from: undefined, minutes }
      const ordered = operateFlight(slow, airline.timetable, order, Date.now())
      await closed.promise
      const booking = airline.bookOffer(offerId, trip)
      assert.ok(await stillOpen(booking), 'the booking waits')
      commit.resolve()
      assert.equal(await booking, 'unavailable')
      const { followed } = await followThrough(airline.house, airline.supplier, (await ordered).id)
      assert.deepEqual(followed, { updated: 0, cancelled: 0, unchanged: 0, failed: 0 })
    })
  }
})

const TRIPS: readonly Trip[] = [
  { from: 'SIN', to: 'HKG', flights: 'ZX2' },
  { from: 'SIN', to: 'HKG', flights: 'QY502', passengers: 2 },
  { from: 'SIN', to: 'NRT', flights: 'ZX2+ZX3', passengers: 3 },
  { from: 'SIN', to: 'NRT', flights: 'ZX1' },
  { from: 'SIN', to: 'BKK', flights: 'ZX1', mode: 'test' },
  { from: 'HKG', to: 'NRT', flights: 'ZX3' },
]

/** An answer, such as a flight that is cancelled or a seat that is taken. A deadlock or a lock waited for too long is none. */
const harmless = (error: unknown) => error instanceof Refusal

async function campaign(seed: number, on: string): Promise<Record<string, number>> {
  const chance = random(seed)
  const pick = chance.of
  const tally: Record<string, number> = {}
  const count = (what: string) => (tally[what] = (tally[what] ?? 0) + 1)
  const made: string[] = []
  const offers: { offerId: string; trip: Trip }[] = []
  for (let i = 0; i < 60; i++) {
    const trip = { ...pick(TRIPS), date: on }
    offers.push({ offerId: await airline.offer(trip), trip })
  }
  let over = false
  const guard = (work: Promise<unknown>) =>
    work.catch(error => {
      if (!harmless(error)) throw error
      count(`refused ${(error as Refusal).code}`)
    })
  const partner = async (own: typeof offers) => {
    for (const { offerId, trip } of own) {
      await sleep(chance.next() * 12)
      const booked = await airline.bookOffer(offerId, trip)
      count(typeof booked === 'string' ? booked : booked.bookingStatus)
      if (typeof booked === 'object') made.push(booked.bookingId)
    }
  }
  const carrier = async (flights: readonly string[]) => {
    for (let i = 0; i < 8; i++) {
      await sleep(chance.next() * 25)
      const kind = pick<OperationKind>(['cancel', 'delay', 'delay', 'restore', 'restore'])
      const work = async () => {
        const ordered = await airline.order(kind, pick(flights), {
          date: on,
          minutes: kind === 'delay' ? 15 * (1 + i) : 0,
        })
        if (chance.chance(0.5)) await followThrough(airline.house, airline.supplier, ordered.id)
        count(kind)
      }
      await guard(work())
    }
  }
  const clerk = async () => {
    while (!over) {
      await sleep(chance.next() * 10)
      if (made.length === 0) continue
      const id = pick(made)
      if (chance.chance(0.15))
        await guard(cancelBooking(airline.house, id).then(() => count('cancelled singly')))
      else {
        const seat = `${chance.whole(1, 9)}A`
        await guard(
          reassignSeat(airline.house, id, { passenger: 1, segment: 1, seat }).then(() => count('seat')),
        )
      }
    }
  }
  const worker = async () => {
    while (!over) if (!(await followOperations(airline.house))) await sleep(3)
  }
  const background = [worker(), worker(), clerk()]
  await Promise.all([
    ...[0, 1, 2, 3, 4, 5].map(n => partner(offers.filter((_, i) => i % 6 === n))),
    carrier(['ZX2', 'ZX3']),
    carrier(['ZX1', 'QY502']),
  ])
  over = true
  await Promise.all(background)
  await airline.followAll()
  return tally
}

describe('bookings, cancellations, delays, seats and two workers at once', () => {
  const seeds = [1, 2, 3, 4, 5, 6].map(n => n + Number(process.env.SEED ?? 0))
  for (const [i, seed] of seeds.entries()) {
    it(`seed ${seed}`, async t => {
      const on = date(3 + 3 * i)
      // Days of its own: a through flight leaves with its second leg a day later.
      const tally = await campaign(seed, on)
      t.diagnostic(JSON.stringify(tally))
      assert.deepEqual((await checkBooks(test.options.url)).findings, [])
      await everyoneIsWhereTheFlightIs()
      await noSeatTwice()
    })
  }
})

/** Bookings that stand have exactly the delay of their flights. */
async function everyoneIsWhereTheFlightIs(): Promise<void> {
  const legs = await airline.database.query<{ leg: string; departs: string; delay: number }>(
    `select leg, departs, delay_minutes as delay from operated_leg`,
  )
  const delays = new Map(legs.map(leg => [nameOf(leg), leg.delay]))
  const bookings = await airline.database.query<{ id: string; claim: string }>(
    `select id, claim from booking where status = 'confirmed'`,
  )
  for (const { id, claim } of bookings) {
    const flown = airline.supplier.operations!.legs(claim)
    const { slices } = await airline.read(id)
    const [first, last] = [slices[0]!.segments[0]!, slices[0]!.segments.at(-1)!]
    assert.equal(first.departure.delay ?? 0, delays.get(nameOf(flown[0]!)) ?? 0, id)
    assert.equal(last.arrival.delay ?? 0, delays.get(nameOf(flown.at(-1)!)) ?? 0, id)
  }
}

async function noSeatTwice(): Promise<void> {
  const rows = await airline.database.query<{ id: string; mode: string; claim: string }>(
    `select id, mode, claim from booking where status = 'confirmed'`,
  )
  const taken = new Set<string>()
  for (const { id, mode, claim } of rows) {
    const flown = [...airline.supplier.operations!.legs(claim)]
    const segments = (await airline.read(id)).slices.flatMap(slice => slice.segments) as {
      stops?: number
      seats?: { seat: string }[]
    }[]
    for (const segment of segments) {
      for (const leg of flown.splice(0, (segment.stops ?? 0) + 1)) {
        for (const { seat } of segment.seats ?? []) {
          const key = `${mode} ${nameOf(leg)} ${seat}`
          assert.ok(!taken.has(key), key)
          taken.add(key)
        }
      }
    }
  }
}
