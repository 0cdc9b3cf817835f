/** A carrier that delays, drops, refuses, goes down and comes back: what the partner hears, and what is true afterwards. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBooking, listBookings } from '../../src/booking/read.ts'
import { newId } from '../../src/id.ts'
import type { Supplier } from '../../src/supplier/supplier.ts'
import { assertBooksBalance } from '../booking/oracle.ts'
import { openShop, requestFor, type Shop } from '../booking/shop.ts'
import { type Carrier, KIND, startCarrier } from './carrier.ts'
import { carrierSupplier } from './carrier-adapter.ts'

const WAIT_MS = 200
const ABSENT_FINAL_MS = 30 * 60_000
const RESERVE_DEADLINE_S = 60

let carrier: Carrier
let shop: Shop
before(async () => {
  carrier = await startCarrier()
  shop = await openShop({
    bookingWaitMs: WAIT_MS,
    suppliers: () => [withSeats(carrierSupplier(carrier.url, ABSENT_FINAL_MS))],
  })
  await shop.database.query('create table carrier_seat (taken integer not null)')
  await shop.database.query('insert into carrier_seat values (0)')
})
beforeEach(() => {
  Object.assign(carrier, { mood: KIND, down: false, fare: 10_000, seats: 9 })
})
afterEach(async () => {
  Object.assign(carrier, { mood: KIND, down: false })
  await assertBooksBalance(shop.database)
  const [row] = await shop.database.query<{ live: number; taken: number }>(
    `select (select coalesce(sum(passengers), 0)::int from booking where status in ('pending', 'confirmed')) as live, taken from carrier_seat`,
  )
  assert.equal(row!.taken, row!.live, 'seats of the block')
  // No second reservation, whatever happened.
  const posts = carrier.journal.filter(line => line.startsWith('POST'))
  assert.equal(new Set(posts).size, posts.length)
  await ordersAgree()
})
after(async () => {
  await shop.close()
  await carrier.close()
})

/** A supplier whose seats we hold as a block: stock in our database beside a system outside. */
function withSeats(supplier: Supplier): Supplier {
  return {
    ...supplier,
    stock: {
      async claim(tx, _mode, _reference, passengers) {
        await tx.query('update carrier_seat set taken = taken + $1', [passengers])
        return JSON.stringify({ seats: [] })
      },
      async release(tx, _mode, _claim, passengers) {
        await tx.query('update carrier_seat set taken = taken - $1', [passengers])
      },
    },
  }
}

/** Confirmed here, standing there; ended here, gone there. */
async function ordersAgree(): Promise<void> {
  const rows = await shop.database.query<{ id: string; status: string; record_locator: string }>(
    'select id, status, record_locator from booking',
  )
  const known = new Map(rows.map(row => [row.id, row]))
  for (const row of rows.filter(one => one.status === 'confirmed')) {
    assert.equal(carrier.orders.get(row.id)?.locator, row.record_locator)
    assert.equal(carrier.orders.get(row.id)?.cancelled, false)
  }
  for (const [id, order] of carrier.orders) {
    const status = known.get(id)?.status
    if (status !== 'confirmed' && status !== 'pending')
      assert.ok(order.cancelled, `${id} is ${status} here, and stands at the carrier`)
  }
}

async function bookOne(more: { passengers?: number; key?: string } = {}) {
  const [offer] = await shop.offers({ passengers: more.passengers ?? 1 })
  return { offer: offer!, reply: await shop.book(requestFor(offer!), { key: more.key }) }
}
const show = (id: string | undefined) => findBooking(shop.house, shop.caller(), id!)
const statuses = async (id: string | undefined) => (await show(id)).statusHistory.map(change => change.status)
/** Milliseconds until the booking is looked at again, and how often it was. */
async function due(id: string | undefined): Promise<{ seconds: number; attempts: number }> {
  const [row] = await shop.database.query<{ seconds: number; attempts: number }>(
    'select extract(epoch from reconcile_at - now())::float8 as seconds, reconcile_attempts as attempts from booking where id = $1',
    [id],
  )
  return row!
}
const grow = (id: string | undefined, seconds: number) =>
  shop.database.query(
    'update booking set created_at = created_at - make_interval(secs => $2) where id = $1',
    [id, seconds],
  )
async function until(fits: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (await fits()) return
    await sleep(10)
  }
  assert.fail('did not come about')
}

describe('a carrier that takes its time', () => {
  it('within the wait confirms', async () => {
    carrier.mood = { ...KIND, delayMs: WAIT_MS / 3 }
    const { reply } = await bookOne()
    assert.equal(reply.bookingStatus, 'confirmed')
  })

  it('beyond the wait leaves it pending, then confirmed', async () => {
    carrier.mood = { ...KIND, delayMs: WAIT_MS + 500 }
    const { reply } = await bookOne({ passengers: 2 })
    assert.deepEqual([reply.status, reply.bookingStatus, JSON.parse(reply.body).pnr], [200, 'pending', ''])
    assert.equal(carrier.orders.has(reply.bookingId!), false)
    await until(async () => (await show(reply.bookingId)).status === 'confirmed')
    assert.deepEqual(await statuses(reply.bookingId), ['pending', 'confirmed'])
  })

  it('and refuses then leaves it pending, then failed, for any reason', async () => {
    for (const says of ['sold_out', 'price_changed', 'rejected'] as const) {
      carrier.mood = { makes: false, says, delayMs: WAIT_MS + 50 }
      const { reply } = await bookOne()
      assert.equal(reply.bookingStatus, 'pending')
      await until(async () => (await show(reply.bookingId)).status === 'failed')
      assert.deepEqual(await statuses(reply.bookingId), ['pending', 'failed'])
    }
  })
})

describe('a carrier that refuses within the wait', () => {
  it('for seats or price: unavailable, and nothing is left', async () => {
    for (const says of ['sold_out', 'price_changed'] as const) {
      carrier.mood = { makes: false, says }
      const before = await count()
      const { reply, offer } = await bookOne({ key: newId('req') })
      assert.deepEqual([reply.status, reply.code], [422, 'unavailable'])
      assert.equal(await count(), before)
      carrier.mood = KIND
      // Nothing was booked: the offer can be, should the carrier think better of it.
      assert.equal((await shop.book(requestFor(offer))).bookingStatus, 'confirmed')
    }
  })

  it('for another price: tells both', async () => {
    const [offer] = await shop.offers()
    carrier.mood = { makes: false, says: 'price_changed' }
    const supplier = shop.house.suppliers.values().next().value!
    const moving: Supplier = {
      ...supplier,
      reserve(reservation, signal) {
        carrier.fare = 12_345
        return supplier.reserve(reservation, signal)
      },
    }
    const house = { ...shop.house, suppliers: new Map([[moving.name, moving]]) }
    const reply = await shop.book(requestFor(offer!), { house })
    assert.deepEqual(JSON.parse(reply.body).priceChange, {
      from: { amount: 100, currency: 'USD' },
      to: { amount: 123.45, currency: 'USD' },
    })
  })

  it('for another reason: failed, with money and seats back', async () => {
    carrier.mood = { makes: false, says: 'rejected' }
    const { reply } = await bookOne()
    assert.deepEqual([reply.status, reply.bookingStatus], [200, 'failed'])
  })

  it('is not told to a second request as a booking that then vanishes', async () => {
    const [offer] = await shop.offers()
    carrier.mood = { makes: false, says: 'sold_out', delayMs: 500 }
    const house = { ...shop.house, bookingWaitMs: 2_000 }
    const first = shop.book(requestFor(offer!), { house })
    const before = await count()
    await until(async () => (await count()) > before)
    const second = await shop.book(requestFor(offer!), { house })
    assert.deepEqual([second.status, second.code], [422, 'unavailable'])
    assert.equal((await first).code, 'unavailable')
  })

  it('is failed, not undone, once a second request was told of it', async () => {
    const [offer] = await shop.offers()
    carrier.mood = { makes: false, says: 'sold_out', delayMs: 1_000 }
    const before = await count()
    const first = shop.book(requestFor(offer!), { house: { ...shop.house, bookingWaitMs: 5_000 } })
    await until(async () => (await count()) > before)
    // As if the first request had long vanished: it is not waited for.
    const impatient = { ...shop.house, bookingWaitMs: -1_000 }
    const second = await shop.book(requestFor(offer!), { house: impatient })
    assert.deepEqual([second.status, second.bookingStatus], [200, 'pending'])
    const reply = await first
    assert.deepEqual([reply.bookingStatus, reply.bookingId], ['failed', second.bookingId])
    assert.equal((await show(second.bookingId)).status, 'failed')
  })

  it('is in no list before it is known', async () => {
    const caller = shop.caller('live', newId('acc'))
    const [offer] = await shop.offers({}, caller)
    carrier.mood = { ...KIND, delayMs: 1_500 }
    const before = await count()
    const list = async () =>
      (await listBookings(shop.house, caller, { limit: 10, cursor: undefined })).bookings.length
    const booking = shop.book(requestFor(offer!), { caller, house: { ...shop.house, bookingWaitMs: 1_000 } })
    await until(async () => (await count()) > before)
    assert.equal(await list(), 0)
    const reply = await booking
    assert.deepEqual([reply.bookingStatus, await list()], ['pending', 1])
    await until(async () => (await findBooking(shop.house, caller, reply.bookingId!)).status === 'confirmed')
  })

  it('does not undo what the operator has cancelled meanwhile', async () => {
    carrier.mood = { makes: false, says: 'sold_out', delayMs: 600 }
    const [offer] = await shop.offers()
    const booking = shop.book(requestFor(offer!), { house: { ...shop.house, bookingWaitMs: 3_000 } })
    const pending = () =>
      shop.database.query<{ id: string }>(`select id from booking where status = 'pending'`)
    await until(async () => (await pending()).length === 1)
    const [row] = await pending()
    await shop.cancel(row!.id)
    const reply = await booking
    assert.deepEqual([reply.bookingStatus, reply.bookingId], ['cancelled', row!.id])
  })
})

const count = async () =>
  (await shop.database.query<{ n: number }>('select count(*)::int as n from booking'))[0]!.n

describe('a carrier that does not answer', () => {
  for (const says of ['error', 'garbage', 'cut', 'hang up'] as const) {
    it(`but says "${says}" after it made the order: pending, found by look-up`, async () => {
      carrier.mood = { makes: true, says }
      const { reply, offer } = await bookOne()
      assert.deepEqual([reply.status, reply.bookingStatus], [200, 'pending'])
      assert.equal((await shop.book(requestFor(offer))).bookingId, reply.bookingId)
      await shop.reconcile()
      assert.deepEqual(await statuses(reply.bookingId), ['pending', 'confirmed'])
      assert.equal((await show(reply.bookingId)).recordLocator, carrier.orders.get(reply.bookingId!)!.locator)
    })

    it(`but says "${says}" and made none: pending until it cannot come any more`, async () => {
      carrier.mood = { makes: false, says }
      const { reply } = await bookOne()
      assert.equal(reply.bookingStatus, 'pending')
      await shop.reconcile()
      await grow(reply.bookingId, RESERVE_DEADLINE_S + ABSENT_FINAL_MS / 1000 - 5)
      await shop.reconcile()
      assert.equal((await show(reply.bookingId)).status, 'pending')
      await grow(reply.bookingId, 6)
      await shop.reconcile()
      assert.deepEqual(await statuses(reply.bookingId), ['pending', 'failed'])
    })
  }

  it('is looked up after 2, 5, 15 and 30 seconds, then every minute', async () => {
    carrier.mood = { makes: false, says: 'error' }
    const { reply } = await bookOne()
    const waits: number[] = []
    for (let look = 0; look < 7; look++) {
      const { seconds, attempts } = await due(reply.bookingId)
      assert.equal(attempts, look)
      waits.push(Math.ceil(seconds))
      await shop.reconcile()
    }
    assert.deepEqual(waits, [2, 5, 15, 30, 60, 60, 60])
    const looks = carrier.journal.filter(line => line === `GET ${reply.bookingId}`)
    assert.equal(looks.length, 7)
    await grow(reply.bookingId, 10_000)
    await shop.reconcile()
  })

  it('and shows the order late: confirmed when it shows', async () => {
    carrier.mood = { makes: true, says: 'hang up', hiddenFor: 3 }
    const { reply } = await bookOne()
    for (let look = 0; look < 3; look++) {
      await shop.reconcile()
      assert.equal((await show(reply.bookingId)).status, 'pending')
    }
    await shop.reconcile()
    assert.equal((await show(reply.bookingId)).status, 'confirmed')
  })

  it('to look-ups either: pending, however old', async () => {
    carrier.mood = { makes: true, says: 'hang up' }
    const { reply } = await bookOne()
    carrier.down = true
    await grow(reply.bookingId, 100_000)
    await shop.reconcile()
    assert.equal((await show(reply.bookingId)).status, 'pending')
    carrier.down = false
    await shop.reconcile()
    assert.equal((await show(reply.bookingId)).status, 'confirmed')
  })

  it('at all: a search fails, a booking is refused for now, and nothing is written', async () => {
    const [offer] = await shop.offers()
    carrier.down = true
    await assert.rejects(shop.offers(), { code: 'service_unavailable' })
    const before = await count()
    assert.equal((await shop.book(requestFor(offer!), { key: newId('req') })).code, 'service_unavailable')
    assert.equal(await count(), before)
    carrier.down = false
    assert.equal((await shop.book(requestFor(offer!))).bookingStatus, 'confirmed')
  })

  it('and never settles, its signal unheeded: the look-up of others goes on', async () => {
    carrier.mood = { makes: true, says: 'hang up' }
    const { reply } = await bookOne()
    const [supplier] = shop.house.suppliers.values()
    const deaf: Supplier = { ...supplier!, quote: () => new Promise(() => {}) }
    const house = { ...shop.house, suppliers: new Map([[deaf.name, deaf]]) }
    const [offer] = await shop.offers()
    const [refused] = await Promise.all([shop.book(requestFor(offer!), { house }), shop.reconcile()])
    assert.equal(refused.code, 'service_unavailable')
    assert.equal((await show(reply.bookingId)).status, 'confirmed')
  })

  it('one booking that cannot be read keeps no other from being settled', async () => {
    carrier.mood = { makes: true, says: 'hang up' }
    const [one, other] = [await bookOne(), await bookOne()]
    const [kept] = await shop.database.query<{ data_key: Buffer }>(
      'select data_key from booking where id = $1',
      [one.reply.bookingId],
    )
    await shop.database.query(`update booking set data_key = '\\x00' where id = $1`, [one.reply.bookingId])
    await shop.reconcile()
    await shop.database.query('update booking set data_key = $2 where id = $1', [
      one.reply.bookingId,
      kept!.data_key,
    ])
    assert.equal((await show(other.reply.bookingId)).status, 'confirmed')
    assert.equal((await show(one.reply.bookingId)).status, 'confirmed')
  })

  it('and an order that comes after its booking was cancelled is cancelled too', async () => {
    carrier.mood = { ...KIND, delayMs: WAIT_MS + 100 }
    const { reply } = await bookOne()
    assert.equal(reply.bookingStatus, 'pending')
    assert.equal(await shop.cancel(reply.bookingId!), 'cancelled')
    await until(async () => carrier.orders.get(reply.bookingId!)?.cancelled === true)
    assert.equal((await show(reply.bookingId)).status, 'cancelled')
  })

  it('to a cancellation: the booking stands', async () => {
    const { reply } = await bookOne()
    carrier.down = true
    await assert.rejects(shop.cancel(reply.bookingId!), { code: 'service_unavailable' })
    assert.equal((await show(reply.bookingId)).status, 'confirmed')
    carrier.down = false
    assert.equal(await shop.cancel(reply.bookingId!), 'cancelled')
  })
})

it('says nothing about travellers in the log', () => {
  const text = shop.log.text()
  assert.ok(text.length > 0)
  for (const secret of ['Hopper', 'SECRETDOC', 'navy.example', '2025550123'])
    assert.ok(!text.includes(secret), secret)
})
