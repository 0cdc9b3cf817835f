import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { forgetKeys } from '../../src/booking/idempotency/store.ts'
import { findBooking, listBookings } from '../../src/booking/read.ts'
import type { Database } from '../../src/db/database.ts'
import { newId } from '../../src/id.ts'
import type { Offer } from '../../src/offer/offer.ts'
import { OFFER_VALID_MS } from '../../src/offer/offer.ts'
import { importFares } from '../../src/supplier/inventory/fares.ts'
import { importRates } from '../../src/supplier/inventory/rates.ts'
import type { Supplier } from '../../src/supplier/supplier.ts'
import { msOfMinute } from '../../src/travel/time.ts'
import { assertBooksBalance } from './oracle.ts'
import { ahead, FARES, FARES_HEADER, openShop, RATES, requestFor, type Shop } from './shop.ts'

let shop: Shop
let day = 10
before(async () => {
  shop = await openShop()
})
afterEach(async () => {
  shop.clock.offsetMs = 0
  await assertBooksBalance(shop.database)
})
after(() => shop.close())

/** Offers of flight 1 on a day that no other test has touched. */
const fresh = async (more: Parameters<Shop['offers']>[0] = {}, caller = shop.caller()) => {
  const offers = await shop.offers({ departDate: ahead(++day), ...more }, caller)
  return offers.find(
    offer => offer.slices[0]!.segments.length === 1 && offer.slices[0]!.segments[0]!.number === '1',
  )!
}

describe('booking an offer', () => {
  it('confirms with a locator, charges once, takes the seats', async () => {
    const offer = await fresh({ passengers: 3 })
    const reply = await shop.book(requestFor(offer))
    assert.equal(reply.bookingStatus, 'confirmed')
    const booking = await findBooking(shop.house, shop.caller(), reply.bookingId!)
    assert.match(booking.recordLocator, /^[2-9A-HJ-NP-Z]{6}$/)
    assert.deepEqual(booking.total, { minor: offer.perPerson.minor * 3, currency: 'USD' })
    assert.deepEqual(
      booking.statusHistory.map(change => change.status),
      ['pending', 'confirmed'],
    )
    assert.equal(booking.version, 2)
    assert.deepEqual(booking.slices, offer.slices)
    assert.deepEqual(booking.travellers[0]!.document, {
      type: 'passport',
      lastFour: 'OC07',
      expiry: '2040-01-01',
    })
  })

  it('gives the booking that is there for the same body, and unavailable for another', async () => {
    const offer = await fresh()
    const first = await shop.book(requestFor(offer))
    const again = await Promise.all(Array.from({ length: 4 }, () => shop.book(requestFor(offer))))
    for (const reply of again) assert.deepEqual([reply.bookingId, reply.status], [first.bookingId, 200])
    const other = await shop.book(requestFor(offer, 'Ada'))
    assert.deepEqual([other.status, other.code], [422, 'unavailable'])
  })

  it('gives one booking to eight at once', async () => {
    const offer = await fresh()
    const replies = await Promise.all(Array.from({ length: 8 }, () => shop.book(requestFor(offer))))
    assert.deepEqual(
      [...new Set(replies.map(reply => `${reply.bookingId} ${reply.bookingStatus}`))].length,
      1,
    )
    assert.equal(replies[0]!.bookingStatus, 'confirmed')
  })

  it('refuses a party of another size, and documents that end before the journey', async () => {
    const offer = await fresh({ passengers: 2 })
    const request = requestFor(offer)
    const less = await shop.book({ ...request, passengers: request.passengers.slice(1) })
    assert.deepEqual([less.code, less.error?.more.param], ['invalid_params', 'passengers'])
    const lastDate = ahead(day)
    const ends = (documentExpiry: string) => ({
      ...request,
      passengers: [request.passengers[0]!, { ...request.passengers[1]!, documentExpiry }],
    })
    const early = await shop.book(ends(ahead(day - 1)))
    assert.deepEqual(
      [early.code, early.error?.more.param],
      ['invalid_params', 'passengers[1].documentExpiry'],
    )
    assert.equal((await shop.book(ends(lastDate))).bookingStatus, 'confirmed')
  })

  it('is neither searched nor booked once its first flight has left', async () => {
    const early = await fresh()
    const departure = early.slices[0]!.segments[0]!.departure
    const leavesAt = msOfMinute(departure.minute)
    const searched = () => shop.offers({ departDate: ahead(day) })
    const isIt = (offer: Offer) => offer.slices[0]!.segments[0]!.departure.minute === departure.minute
    shop.clock.offsetMs = leavesAt - 5 * 60_000 - Date.now()
    const offer = (await searched()).find(isIt)!
    shop.clock.offsetMs = leavesAt + 1_000 - Date.now()
    const late = await shop.book(requestFor(offer))
    assert.deepEqual([late.status, late.code], [422, 'unavailable'])
    const left = await searched().catch(() => [])
    assert.equal(left.filter(isIt).length, 0)
  })

  it('is of its account and mode alone', async () => {
    const offer = await fresh()
    for (const other of [shop.caller('test'), shop.caller('live', newId('acc'))]) {
      const refused = await shop.book(requestFor(offer), { caller: other })
      assert.deepEqual([refused.code, refused.error?.more.param], ['invalid_params', 'offerId'])
    }
    const { bookingId } = await shop.book(requestFor(offer))
    for (const other of [shop.caller('test'), shop.caller('live', newId('acc'))]) {
      await assert.rejects(findBooking(shop.house, other, bookingId!), { code: 'not_found' })
      const { bookings } = await listBookings(shop.house, other, { limit: 10, cursor: undefined })
      assert.deepEqual(bookings, [])
    }
  })

  it('honours the sealed price when rates change meanwhile', async () => {
    const offer = await fresh({ currency: 'JPY' })
    await importRates(
      shop.database,
      RATES.replace("rate='160'", "rate='320'").replace('2026-11-20', '2026-11-21'),
      Date.now(),
    )
    await shop.refresh()
    const dearer = (await shop.offers({ departDate: ahead(day), currency: 'JPY' })).find(
      other => other.slices[0]!.segments[0]!.number === '1',
    )!
    assert.ok(dearer.perPerson.minor > 1.9 * offer.perPerson.minor)
    const { bookingId } = await shop.book(requestFor(offer))
    const booking = await findBooking(shop.house, shop.caller(), bookingId!)
    assert.deepEqual(booking.total, offer.total)
    const [row] = await shop.database.query<{ rates: string }>('select rates from booking where id = $1', [
      bookingId,
    ])
    assert.match(row!.rates, /2026-11-20$/)
  })

  it('refuses an offer whose fare has changed, telling both prices', async () => {
    const offer = await fresh()
    const dearer = FARES.replace('Y,USD,100', 'Y,USD,120')
    await importFares(shop.database, dearer)
    await shop.refresh()
    const reply = await shop.book(requestFor(offer))
    await importFares(shop.database, FARES)
    await shop.refresh()
    assert.equal(reply.code, 'unavailable')
    const { priceChange } = JSON.parse(reply.body)
    assert.equal(priceChange.from.amount, offer.perPerson.minor / 100)
    assert.equal(Math.round((priceChange.to.amount - priceChange.from.amount) * 100), 2000)
  })

  it('refuses an offer of a class that no fare has any more', async () => {
    const offer = await fresh()
    await importFares(shop.database, `${FARES_HEADER}\n*,*,*,business,C,EUR,500,0.1,4\n`)
    await shop.refresh()
    const reply = await shop.book(requestFor(offer))
    await importFares(shop.database, FARES)
    await shop.refresh()
    assert.deepEqual([reply.code, JSON.parse(reply.body).priceChange], ['unavailable', undefined])
  })
})

describe('the quarter of an hour', () => {
  it('includes its last millisecond', async () => {
    const offer = await fresh()
    const exact = offer.expiresAt
    const at = (ms: number) => ({ ...shop.house, now: () => ms })
    const late = await shop.book(requestFor(offer), { house: at(exact + 1) })
    assert.deepEqual([late.status, late.code], [422, 'expired_offer'])
    const inTime = await shop.book(requestFor(offer), { house: at(exact) })
    assert.equal(inTime.bookingStatus, 'confirmed')
  })

  it('ends no booking: the same request gives it later too', async () => {
    const offer = await fresh()
    const first = await shop.book(requestFor(offer))
    shop.clock.offsetMs = OFFER_VALID_MS + 60_000
    assert.equal((await shop.book(requestFor(offer))).bookingId, first.bookingId)
    assert.equal((await shop.book(requestFor(offer, 'Ada'))).code, 'unavailable')
  })
})

describe('an Idempotency-Key', () => {
  it('replays status and body byte for byte', async () => {
    const offer = await fresh()
    const key = newId('req')
    const first = await shop.book(requestFor(offer), { key })
    assert.equal(first.replayed, false)
    const again = await shop.book(requestFor(offer), { key })
    assert.deepEqual([again.body, again.status, again.replayed], [first.body, first.status, true])
    const without = await shop.book(requestFor(offer))
    assert.equal(without.bookingId, first.bookingId)
  })

  it('replays a refusal too', async () => {
    const offer = await fresh()
    const key = newId('req')
    const late = { ...shop.house, now: () => offer.expiresAt + 1 }
    const first = await shop.book(requestFor(offer), { key, house: late })
    const again = await shop.book(requestFor(offer), { key })
    assert.deepEqual([again.body, again.replayed], [first.body, true])
    assert.equal((await shop.book(requestFor(offer))).bookingStatus, 'confirmed')
  })

  it('refuses another body, also when it names another offer', async () => {
    const offer = await fresh()
    const key = newId('req')
    await shop.book(requestFor(offer), { key })
    const other = await shop.book(requestFor(offer, 'Ada'), { key })
    const elsewhere = await shop.book(requestFor(await fresh()), { key })
    assert.deepEqual([other.code, elsewhere.code], ['idempotency_mismatch', 'idempotency_mismatch'])
  })

  it('makes one booking of eight at once, and one body at most of two', async () => {
    for (let round = 0; round < 5; round++) {
      const offer = await fresh()
      const key = newId('req')
      const names = ['Grace', 'Grace', 'Ada', 'Grace', 'Grace', 'Ada', 'Grace', 'Grace']
      const replies = await Promise.all(names.map(name => shop.book(requestFor(offer, name), { key })))
      const done = replies.filter(reply => reply.status === 200)
      assert.ok(done.length >= 1)
      assert.equal(new Set(done.map(reply => reply.body)).size, 1)
      for (const reply of replies.filter(one => one.status !== 200)) {
        assert.ok(['conflict', 'idempotency_mismatch'].includes(reply.code!), `${reply.code}`)
      }
    }
  })

  it('is of its account and mode alone', async () => {
    const key = newId('req')
    const live = await shop.book(requestFor(await fresh()), { key })
    const caller = shop.caller('test')
    const test = await shop.book(requestFor(await fresh({}, caller)), { key, caller })
    assert.deepEqual([live.replayed, test.replayed, test.bookingStatus], [false, false, 'confirmed'])
  })

  it('is free again after its day', async () => {
    const key = newId('req')
    const first = await shop.book(requestFor(await fresh()), { key })
    const age = (hours: number) =>
      shop.database.query(
        'update idempotency set created_at = now() - make_interval(hours => $2) where key = $1',
        [key, hours],
      )
    await age(23)
    assert.equal((await shop.book(requestFor(await fresh()), { key })).code, 'idempotency_mismatch')
    await age(24)
    const second = await shop.book(requestFor(await fresh()), { key })
    assert.deepEqual([second.replayed, second.bookingStatus], [false, 'confirmed'])
    assert.notEqual(second.bookingId, first.bookingId)
    await age(25)
    assert.equal(await forgetKeys(shop.database, 100), 1)
  })

  it('is in use while its first bearer runs, and taken over once that one vanished', async () => {
    const offer = await fresh()
    const request = requestFor(offer)
    const key = newId('req')
    const first = await shop.book(request, { key })
    // As after a crash between the booking and the answer.
    const running = (seconds: number) =>
      shop.database.query(
        `update idempotency set status = null, body = null, running_until = now() + make_interval(secs => $2) where key = $1`,
        [key, seconds],
      )
    await running(10)
    assert.equal((await shop.book(request, { key })).code, 'conflict')
    await running(-1)
    const taken = await Promise.all(Array.from({ length: 8 }, () => shop.book(request, { key })))
    const done = taken.filter(reply => reply.status === 200)
    assert.ok(done.length >= 1)
    for (const reply of done)
      assert.deepEqual([reply.bookingId, reply.body], [first.bookingId, done[0]!.body])
    for (const reply of taken) assert.ok(reply.status === 200 || reply.code === 'conflict')
  })

  it('books anew where its first bearer was refused and vanished before it said so', async () => {
    const offer = await fresh()
    const key = newId('req')
    const [supplier] = shop.house.suppliers.values()
    const full = { ...supplier!, reserve: async () => ({ kind: 'refused', reason: 'sold_out' }) as const }
    const house = { ...shop.house, suppliers: new Map([[full.name, full]]) }
    assert.equal((await shop.book(requestFor(offer), { key, house })).code, 'unavailable')
    assert.equal((await shop.book(requestFor(offer), { key })).code, 'unavailable')
    await shop.database.query(
      `update idempotency set status = null, body = null, running_until = now() where key = $1`,
      [key],
    )
    const done = await shop.book(requestFor(offer), { key })
    assert.equal(done.bookingStatus, 'confirmed')
    assert.equal((await shop.book(requestFor(offer), { key })).body, done.body)
  })

  it('never keeps a refusal over the answer of the request that books', async () => {
    // Two threads at once: one has swapped its world and finds the offer gone, the other sells it just after the first has looked.
    const offer = await fresh()
    const key = newId('req')
    const [supplier] = shop.house.suppliers.values()
    const entered = Promise.withResolvers<void>()
    const proceed = Promise.withResolvers<void>()
    const slow: Supplier = {
      ...supplier!,
      async reserve(reservation, signal) {
        entered.resolve()
        await proceed.promise
        return supplier!.reserve(reservation, signal)
      },
    }
    const gone: Supplier = { ...supplier!, quote: async () => ({ kind: 'gone' }) }
    let selling: ReturnType<Shop['book']> | undefined
    const database: Database = {
      ...shop.database,
      async query<R>(text: string, values?: readonly unknown[]): Promise<R[]> {
        const rows = await shop.database.query<R>(text, values)
        if (text.includes('offer_hash = $3') && selling === undefined) {
          selling = shop.book(requestFor(offer), {
            key,
            house: { ...shop.house, suppliers: new Map([[slow.name, slow]]) },
          })
          await entered.promise
        }
        return rows
      },
    }
    const house = { ...shop.house, database, suppliers: new Map([[gone.name, gone]]) }
    assert.equal((await shop.book(requestFor(offer), { key, house })).code, 'conflict')
    proceed.resolve()
    const done = (await selling)!
    assert.deepEqual([done.bookingStatus, done.replayed], ['confirmed', false])
    assert.equal((await shop.book(requestFor(offer), { key })).body, done.body)
  })
})

describe('the last seats', () => {
  it('of ten are sold to no more than ten of sixty-four parties, whoever comes first', async () => {
    for (const party of [1, 3]) {
      const date = ahead(++day)
      const offers: Awaited<ReturnType<Shop['offers']>>[number][] = []
      for (let i = 0; i < 64; i++) {
        offers.push(
          (await shop.offers({ departDate: date, passengers: party })).find(
            offer => offer.slices[0]!.segments[0]!.number === '1',
          )!,
        )
      }
      const replies = await Promise.all(offers.map(offer => shop.book(requestFor(offer))))
      const sold = replies.filter(reply => reply.bookingStatus === 'confirmed').length
      // All offers are of the cheapest class, which has four seats; the cabin has ten.
      assert.equal(sold, Math.floor(4 / party))
      const refused = replies.filter(reply => reply.status !== 200)
      for (const reply of refused) {
        assert.equal(reply.code, 'unavailable')
        assert.ok(JSON.parse(reply.body).priceChange.to.amount > 150, reply.body)
      }
      await assertBooksBalance(shop.database)
    }
  })

  it('of the cabin close every class', async () => {
    const date = ahead(++day)
    let sold = 0
    for (let round = 0; round < 5; round++) {
      const offers = await Promise.all(
        Array.from({ length: 13 }, async () => {
          const found = await shop.offers({ departDate: date }).catch(() => [])
          return found.find(offer => offer.slices[0]!.segments[0]!.number === '1')
        }),
      )
      const replies = await Promise.all(
        offers.filter(offer => offer !== undefined).map(offer => shop.book(requestFor(offer))),
      )
      sold += replies.filter(reply => reply.bookingStatus === 'confirmed').length
      await shop.refresh()
    }
    assert.equal(sold, 10)
  })

  it('in live are not those in test', async () => {
    const date = ahead(++day)
    const buy = async (mode: 'live' | 'test') => {
      const caller = shop.caller(mode)
      const found = await shop.offers({ departDate: date, passengers: 9 }, caller).catch(() => [])
      const offer = found.find(one => one.slices[0]!.segments[0]!.number === '1')
      return offer && (await shop.book(requestFor(offer), { caller })).bookingStatus
    }
    assert.equal(await buy('live'), 'confirmed')
    await shop.refresh()
    assert.equal(await buy('test'), 'confirmed')
    await shop.refresh()
    assert.deepEqual([await buy('live'), await buy('test')], [undefined, undefined])
  })
})

describe('cancelling', () => {
  it('gives seats and money back once, however often it is asked', async () => {
    const offer = await fresh({ passengers: 2 })
    const { bookingId } = await shop.book(requestFor(offer))
    const before = await findBooking(shop.house, shop.caller(), bookingId!)
    const answers = await Promise.all(Array.from({ length: 5 }, () => shop.cancel(bookingId!)))
    assert.deepEqual([...new Set(answers)], ['cancelled'])
    const after = await findBooking(shop.house, shop.caller(), bookingId!)
    assert.deepEqual([after.version, after.recordLocator], [3, before.recordLocator])
    assert.equal((await shop.book(requestFor(offer))).bookingStatus, 'cancelled')
  })

  it('of what does not exist is refused', async () => {
    await assert.rejects(shop.cancel(newId('bkg')), { code: 'not_found' })
  })
})

describe('pages of bookings', () => {
  it('come newest first, each booking once', async () => {
    const caller = shop.caller('live', newId('acc'))
    const made: string[] = []
    for (let i = 0; i < 5; i++)
      made.unshift((await shop.book(requestFor(await fresh({}, caller)), { caller })).bookingId!)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await listBookings(shop.house, caller, { limit: 2, cursor })
      seen.push(...page.bookings.map(booking => booking.id))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    assert.deepEqual(seen, made)
  })
})
