/**
 * Booking against a model: batches of commands at once on a small network, with a supplier of changing temper; after each sequence the books
 * must balance, and every answer must have been true. `AIRSIDE_MODEL_STEPS=100000` runs it for longer, `AIRSIDE_MODEL_SEED` again as it was.
 */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import fc from 'fast-check'
import { findBooking } from '../../src/booking/read.ts'
import type { Offer } from '../../src/offer/offer.ts'
import { OFFER_VALID_MS } from '../../src/offer/offer.ts'
import { importFares } from '../../src/supplier/inventory/fares.ts'
import type { Mode } from '../../src/supplier/supplier.ts'
import type { Cabin } from '../../src/travel/itinerary.ts'
import { moodySupplier, type Temper } from './moody.ts'
import { assertBooksBalance } from './oracle.ts'
import { ahead, FARES, openShop, type Reply, requestFor, type Shop } from './shop.ts'

const STEPS = Number(process.env.AIRSIDE_MODEL_STEPS ?? 2_500)
const SEED = Number(process.env.AIRSIDE_MODEL_SEED ?? Date.now() % 2 ** 31)
const WAIT_MS = 30
const LATE_MS = 50
/** Days on which runs sell, one after the other; the seats of a run before are still sold when its day comes round. */
const DAYS = 300

type Command =
  | { kind: 'search'; mode: Mode; passengers: number; cabin: Cabin; back: boolean; from: 'SIN' | 'BKK' }
  | { kind: 'book'; offer: number; name: string; key: number | undefined; copies: number }
  | { kind: 'temper'; temper: Temper }
  | { kind: 'cancel' | 'retrieve'; booking: number }
  | { kind: 'reconcile' }
  | { kind: 'age' }
  | { kind: 'fares'; dearer: boolean; seats: number }
  | { kind: 'expire' }

/** Every run begins with something to book. */
const FIRST = { kind: 'search', cabin: 'economy', back: false, from: 'SIN' } as const
const MODES: readonly Mode[] = ['live', 'test']
const PLAIN = { noNullPrototype: true } as const
const search = fc.record(
  {
    kind: fc.constant('search' as const),
    mode: fc.constantFrom<Mode>('live', 'live', 'test'),
    passengers: fc.integer({ min: 1, max: 4 }),
    cabin: fc.constantFrom<Cabin>('economy', 'economy', 'economy', 'business'),
    back: fc.boolean(),
    from: fc.constantFrom('SIN' as const, 'SIN' as const, 'BKK' as const),
  },
  PLAIN,
)
const temper = fc.record(
  {
    makes: fc.boolean(),
    hears: fc.constantFrom('truth' as const, 'truth' as const, 'nothing' as const),
    late: fc.boolean(),
    reason: fc.constantFrom('sold_out' as const, 'price_changed' as const, 'rejected' as const),
  },
  PLAIN,
)
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: search },
  {
    weight: 12,
    arbitrary: fc.record(
      {
        kind: fc.constant('book' as const),
        offer: fc.nat(100),
        name: fc.constantFrom('Grace', 'Grace', 'Grace', 'Ada'),
        key: fc.option(fc.nat(5), { nil: undefined }),
        copies: fc.constantFrom(1, 1, 1, 2, 8),
      },
      PLAIN,
    ),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('temper' as const), temper }, PLAIN) },
  {
    weight: 2,
    arbitrary: fc.record(
      { kind: fc.constantFrom('cancel' as const, 'retrieve' as const), booking: fc.nat(100) },
      PLAIN,
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Command>({ kind: 'reconcile' }, { kind: 'reconcile' }, { kind: 'age' }),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      { kind: fc.constant('fares' as const), dearer: fc.boolean(), seats: fc.integer({ min: 1, max: 5 }) },
      PLAIN,
    ),
  },
  { weight: 1, arbitrary: fc.constant<Command>({ kind: 'expire' }) },
)
const batches = fc.array(fc.array(command, { minLength: 1, maxLength: 6 }), { minLength: 4, maxLength: 14 })

const GOOD: Temper = { makes: true, hears: 'truth', late: false, reason: 'rejected' }
let shop: Shop
let present: Temper = GOOD
let made: ReadonlyMap<string, string>
let twice: readonly string[]
let runs = 0
let steps = 0
before(async () => {
  shop = await openShop({
    bookingWaitMs: WAIT_MS,
    suppliers: inventory => {
      const moody = moodySupplier(inventory, () => present, LATE_MS)
      made = moody.made
      twice = moody.twice
      return [moody.supplier]
    },
  })
})
after(() => shop.close())

type Pool = { offer: Offer; mode: Mode }[]
type Told = { offer: string; name: string; key: string | undefined; mode: Mode; reply: Reply; order: number }

/** One run: its own days, its own keys. */
async function play(run: readonly (readonly Command[])[]): Promise<void> {
  const day = 3 + (runs++ % DAYS)
  const id = runs
  const pool: Pool = []
  const told: Told[] = []
  present = GOOD
  shop.clock.offsetMs = 0
  let order = 0

  const execute = async (one: Command): Promise<void> => {
    steps++
    const bookings = [...new Set(told.flatMap(({ reply }) => reply.bookingId ?? []))]
    switch (one.kind) {
      case 'search': {
        const caller = shop.caller(one.mode)
        const query = {
          origin: one.from,
          destination: 'HKG',
          departDate: ahead(day),
          returnDate: one.back && one.from === 'SIN' ? ahead(day + 1) : undefined,
          passengers: one.passengers,
          cabin: one.cabin,
        }
        const found = await shop.offers(query, caller).catch(error => {
          assert.equal(error.code, 'no_results')
          return []
        })
        for (const offer of found.slice(0, 3)) pool.push({ offer, mode: one.mode })
        return
      }
      case 'book': {
        const chosen = pool[one.offer % pool.length]
        if (chosen === undefined) return
        const key = one.key === undefined ? undefined : `run ${id} key ${one.key}`
        const before = order++
        await Promise.all(
          Array.from({ length: one.copies }, async () => {
            const reply = await shop.book(requestFor(chosen.offer, one.name), {
              caller: shop.caller(chosen.mode),
              key,
            })
            told.push({
              offer: chosen.offer.id,
              name: one.name,
              key,
              mode: chosen.mode,
              reply,
              order: before,
            })
          }),
        )
        return
      }
      case 'temper':
        present = one.temper
        return
      case 'cancel': {
        const booking = bookings[one.booking % bookings.length]
        if (booking === undefined) return
        await shop.cancel(booking).catch(error => assert.equal(error.code, 'not_cancellable'))
        return
      }
      case 'retrieve': {
        const chosen = told.filter(({ reply }) => reply.bookingId !== undefined)[one.booking % told.length]
        if (chosen === undefined) return
        const other = shop.caller(chosen.mode === 'live' ? 'test' : 'live')
        await assert.rejects(findBooking(shop.house, other, chosen.reply.bookingId!), { code: 'not_found' })
        await findBooking(shop.house, shop.caller(chosen.mode), chosen.reply.bookingId!)
        return
      }
      case 'reconcile':
        return shop.reconcile()
      case 'age':
        await shop.database.query(
          `update booking set created_at = created_at - interval '2 minutes' where status = 'pending' and acknowledged`,
        )
        return
      case 'fares':
        await importFares(
          shop.database,
          FARES.replace('USD,100', one.dearer ? 'USD,110' : 'USD,100').replace('0.01,4', `0.01,${one.seats}`),
        )
        return shop.refresh()
      case 'expire':
        shop.clock.offsetMs += OFFER_VALID_MS / 2 + 1
    }
  }

  await Promise.all([1, 2].flatMap(passengers => MODES.map(mode => execute({ ...FIRST, mode, passengers }))))
  for (const batch of run) {
    await Promise.all(batch.map(execute))
    await assertBooksBalanceSoon()
  }
  await comeToRest()
  await assertBooksBalance(shop.database)
  await answersWereTrue(told)
}

/** The books balance at every commit; the tables are read one after another, so what runs late may come in between: then once more. */
async function assertBooksBalanceSoon(): Promise<void> {
  for (let look = 0; ; look++) {
    try {
      await assertBooksBalance(shop.database)
      return
    } catch (error) {
      if (look === 5) throw error
      await new Promise(resolve => setTimeout(resolve, 30))
    }
  }
}

/** Late answers come, unknown ones are looked up, absent ones become old. */
async function comeToRest(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, LATE_MS))
  for (let look = 0; look < 20; look++) {
    await shop.database.query(
      `update booking set created_at = created_at - interval '2 minutes' where status = 'pending'`,
    )
    await shop.reconcile()
    const pending = await shop.database.query(`select 1 from booking where status = 'pending'`)
    if (pending.length === 0) return
    await new Promise(resolve => setTimeout(resolve, 30))
  }
  assert.fail('something stays pending')
}

/** What partners were told agrees with itself, with the table, and with the supplier's own books. */
async function answersWereTrue(told: readonly Told[]): Promise<void> {
  const rows = await shop.database.query<{
    id: string
    status: string
    status_history: { status: string }[]
    mode: Mode
  }>('select id, status, status_history, mode from booking')
  const known = new Map(rows.map(row => [row.id, row]))
  for (const { reply, mode } of told) {
    if (reply.status !== 200) {
      const codes = ['unavailable', 'expired_offer', 'conflict', 'idempotency_mismatch']
      assert.ok(codes.includes(reply.code!), `${reply.code}: ${reply.error?.stack}`)
      continue
    }
    const row = known.get(reply.bookingId!)
    assert.ok(row !== undefined, `${reply.bookingId} was told of and is gone`)
    assert.equal(row.mode, mode)
    assert.ok(row.status_history.some(change => change.status === reply.bookingStatus))
  }
  // One booking of an offer, for one body.
  for (const [offer, own] of Map.groupBy(
    told.filter(({ reply }) => reply.status === 200),
    one => one.offer,
  )) {
    assert.equal(new Set(own.map(({ reply }) => reply.bookingId)).size, 1, `${offer} was booked twice`)
    assert.equal(new Set(own.map(({ name }) => name)).size, 1, `${offer} was booked for two`)
  }
  // One answer under a key, byte for byte, and another body only refused where there was one.
  for (const own of Map.groupBy(
    told.filter(({ key }) => key !== undefined),
    one => `${one.mode} ${one.key}`,
  ).values()) {
    const answered = own.filter(({ reply }) => reply.status !== 0)
    assert.ok(new Set(answered.map(({ reply }) => reply.body)).size <= 1, 'two answers under one key')
    const bodies = new Set(own.map(one => `${one.offer} ${one.name}`))
    if (bodies.size === 1) assert.ok(own.every(({ reply }) => reply.code !== 'idempotency_mismatch'))
  }
  for (const row of rows) {
    assert.equal(made.has(row.id), row.status === 'confirmed', `${row.id} is ${row.status} here`)
  }
  assert.deepEqual(twice, [], 'reserved twice')
  for (const id of made.keys()) assert.ok(known.has(id), `${id} stands at the supplier alone`)
}

it(`sells no seat twice, charges no booking twice and tells no lie in ${STEPS} steps (seed ${SEED})`, {
  timeout: 3_600_000,
}, async t => {
  for (let i = 0; steps < STEPS; i++) {
    await fc.assert(fc.asyncProperty(batches, play), {
      numRuns: 4,
      seed: SEED + i,
      endOnFailure: STEPS > 10_000,
    })
  }
  const { bookings } = await assertBooksBalance(shop.database)
  const outcomes = await shop.database.query<{ status: string; n: number }>(
    'select status, count(*)::int as n from booking group by status order by status',
  )
  t.diagnostic(
    `${steps} steps in ${runs} runs, ${bookings} bookings: ${outcomes.map(({ status, n }) => `${n} ${status}`).join(', ')}`,
  )
})
