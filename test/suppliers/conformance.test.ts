/** What every supplier must do, whatever stands behind it: one suite, run for each. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { findBooking } from '../../src/booking/read.ts'
import { newId } from '../../src/id.ts'
import {
  type Proposal,
  REFERENCE_MAX,
  type Reservation,
  type Supplier,
  type SupplierQuery,
} from '../../src/supplier/supplier.ts'
import { CABINS } from '../../src/travel/itinerary.ts'
import { localDay, MINUTES_A_DAY } from '../../src/travel/time.ts'
import { assertBooksBalance } from '../booking/oracle.ts'
import { OWN, openShop, requestFor, type Shop } from '../booking/shop.ts'
import { startCarrier } from './carrier.ts'
import { CARRIER, carrierSupplier } from './carrier-adapter.ts'

type Stage = { shop: Shop; supplier: Supplier; close(): Promise<void> }

const stages: Readonly<Record<string, () => Promise<Stage>>> = {
  async [OWN]() {
    const shop = await openShop()
    return { shop, supplier: shop.house.suppliers.get(OWN)!, close: shop.close }
  },
  async [CARRIER]() {
    const carrier = await startCarrier()
    const supplier = carrierSupplier(carrier.url, 1_000)
    const shop = await openShop({ suppliers: () => [supplier] })
    const close = async () => {
      await shop.close()
      await carrier.close()
    }
    return { shop, supplier, close }
  },
}

for (const [name, open] of Object.entries(stages)) {
  describe(`the supplier ${name}`, () => {
    let stage: Stage
    before(async () => {
      stage = await open()
    })
    after(() => stage.close())

    const signal = () => AbortSignal.timeout(5_000)
    const query = (more: Partial<SupplierQuery> = {}): SupplierQuery => ({
      mode: 'live',
      leavesAfter: 0,
      origins: ['SIN'],
      destinations: ['HKG'],
      departDay: localDay('UTC', Date.now()) + 40,
      returnDay: undefined,
      passengers: 2,
      cabin: 'economy',
      ...more,
    })
    const propose = () => stage.supplier.search(query(), signal())
    /** A reservation as booking makes one: its seats are claimed first. */
    async function claimed({ reference }: Proposal, passengers = 2): Promise<Reservation> {
      const claim = await stage.shop.database.transaction(
        async tx => (await stage.supplier.stock?.claim(tx, 'live', reference, passengers)) ?? '',
      )
      return { bookingId: newId('bkg'), mode: 'live', reference, passengers, claim }
    }

    it('proposes in our words, complete', async () => {
      const proposals = await propose()
      assert.ok(proposals.length > 0)
      for (const proposal of proposals) {
        assert.equal(proposal.supplier, stage.supplier.name)
        assert.ok(proposal.seatsAvailable >= 2)
        assert.ok(proposal.reference.length > 0 && proposal.reference.length <= REFERENCE_MAX)
        assert.ok(Number.isInteger(proposal.referencePrice) && proposal.referencePrice > 0)
        assert.ok(proposal.fares.length > 0)
        for (const fare of proposal.fares)
          assert.ok(Number.isSafeInteger(fare.minor) && /^[A-Z]{3}$/.test(fare.currency))
        const [slice] = proposal.slices
        const { segments } = slice!
        assert.deepEqual([segments[0]!.departure.airport, segments.at(-1)!.arrival.airport], ['SIN', 'HKG'])
        for (const segment of segments) {
          assert.match(segment.carrier, /^[A-Z0-9]{2,3}$/)
          assert.match(segment.number, /^\d{1,4}[A-Z]?$/)
          assert.match(segment.bookingClass, /^[A-Z]$/)
          assert.ok(CABINS.includes(segment.cabin))
          assert.ok(segment.arrival.minute > segment.departure.minute)
        }
        const { minute, offset } = segments[0]!.departure
        assert.equal(Math.floor((minute + offset) / MINUTES_A_DAY), query().departDay)
      }
    })

    it('quotes what it proposed as it proposed it', async () => {
      for (const proposal of await propose()) {
        const quote = await stage.supplier.quote('live', proposal.reference, 2, signal())
        assert.equal(quote.kind, 'open')
        if (quote.kind !== 'open') continue
        assert.deepEqual(quote.slices, proposal.slices)
        assert.deepEqual(quote.fares, proposal.fares)
        assert.equal(quote.seatsAvailable, proposal.seatsAvailable)
      }
    })

    it('reserves, finds what it reserved, and lets go of it, twice if asked twice', async () => {
      const [proposal] = await propose()
      const reservation = await claimed(proposal!)
      const outcome = await stage.supplier.reserve(reservation, signal())
      assert.equal(outcome.kind, 'held')
      assert.match((outcome as { recordLocator: string }).recordLocator, /^[A-Z0-9]{5,8}$/)
      for (let i = 0; i < 2; i++)
        assert.deepEqual(await stage.supplier.lookUp(reservation, signal()), outcome)
      for (let i = 0; i < 2; i++)
        assert.deepEqual(await stage.supplier.cancel(reservation, signal()), { kind: 'cancelled' })
      await stage.shop.database.transaction(
        async tx => void (await stage.supplier.stock?.release(tx, 'live', reservation.claim, 2)),
      )
      await assertBooksBalance(stage.shop.database)
    })

    it('is booked, shown and cancelled', async () => {
      const [offer] = await stage.shop.offers({ passengers: 2 })
      const { bookingId, bookingStatus } = await stage.shop.book(requestFor(offer!))
      assert.equal(bookingStatus, 'confirmed')
      const booking = await findBooking(stage.shop.house, stage.shop.caller(), bookingId!)
      assert.deepEqual([booking.supplier, booking.slices], [stage.supplier.name, offer!.slices])
      await assertBooksBalance(stage.shop.database)
      assert.equal(await stage.shop.cancel(bookingId!), 'cancelled')
      await assertBooksBalance(stage.shop.database)
    })

    it('is looked up after a crash that followed the reservation', async () => {
      const [offer] = await stage.shop.offers()
      const answering = Promise.withResolvers<never>()
      answering.promise.catch(() => {})
      const crashing: Supplier = {
        ...stage.supplier,
        async reserve(reservation, aborted) {
          await stage.supplier.reserve(reservation, aborted)
          return answering.promise
        },
      }
      const house = {
        ...stage.shop.house,
        bookingWaitMs: 50,
        suppliers: new Map([[crashing.name, crashing]]),
      }
      const reply = await stage.shop.book(requestFor(offer!), { house })
      assert.deepEqual([reply.bookingStatus, JSON.parse(reply.body).pnr], ['pending', ''])
      await stage.shop.reconcile()
      const booking = await findBooking(stage.shop.house, stage.shop.caller(), reply.bookingId!)
      assert.equal(booking.status, 'confirmed')
      assert.notEqual(booking.recordLocator, '')
      await assertBooksBalance(stage.shop.database)
    })
  })
}
