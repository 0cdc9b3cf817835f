/** Seats lie on legs: through flights, codeshares and classes share them, and searches follow what is sold. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import type { Transaction } from '../../src/db/database.ts'
import type { Offer } from '../../src/offer/offer.ts'
import { importFares } from '../../src/supplier/inventory/fares.ts'
import { followSeats, loadWorld } from '../../src/supplier/inventory/load.ts'
import { takeSeats } from '../../src/supplier/inventory/store.ts'
import { soldEntries, soldIn } from '../../src/timetable/sold.ts'
import { dayNumber } from '../../src/travel/time.ts'
import { assertBooksBalance } from '../booking/oracle.ts'
import { ahead, FARES_HEADER, openShop, type PlainLeg, requestFor, type Shop } from '../booking/shop.ts'

/** 5 SIN–BKK–HKG with a larger aircraft on its first leg; 6 SIN–MNL, also sold by YY as 4006. */
const LEGS: readonly PlainLeg[] = [
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
    configuration: 'Y004',
  },
  { number: 6, origin: 'SIN', destination: 'MNL', departure: 540, arrival: 760, configuration: 'Y005' },
  {
    carrier: 'YY',
    number: 4006,
    origin: 'SIN',
    destination: 'MNL',
    departure: 540,
    arrival: 760,
    configuration: '',
    disclosure: 'L',
    operatedBy: 'ZX    6',
  },
]
const FARES = `${FARES_HEADER}\n*,*,*,economy,Y,USD,100,0,9\n`

let shop: Shop
let day = 20
before(async () => {
  shop = await openShop({ legs: LEGS.slice(0, 3), fares: FARES })
})
afterEach(() => assertBooksBalance(shop.database))
after(() => shop.close())

async function find(origin: string, destination: string, passengers = 1): Promise<readonly Offer[]> {
  await shop.refresh()
  return shop.offers({ origin, destination, passengers, departDate: ahead(day) }).catch(() => [])
}
const left = async (origin: string, destination: string) =>
  (await find(origin, destination))[0]?.seatsAvailable ?? 0
async function sell(origin: string, destination: string, passengers: number): Promise<string | undefined> {
  const [offer] = await find(origin, destination, passengers)
  return offer && (await shop.book(requestFor(offer))).bookingId
}

describe('a through flight', () => {
  it('takes a seat on each leg, and is full when one leg is', async () => {
    day++
    assert.deepEqual(
      [await left('SIN', 'BKK'), await left('BKK', 'HKG'), await left('SIN', 'HKG')],
      [6, 4, 4],
    )
    await sell('SIN', 'HKG', 1)
    assert.deepEqual(
      [await left('SIN', 'BKK'), await left('BKK', 'HKG'), await left('SIN', 'HKG')],
      [5, 3, 3],
    )
    await sell('BKK', 'HKG', 3)
    assert.deepEqual(
      [await left('SIN', 'BKK'), await left('BKK', 'HKG'), await left('SIN', 'HKG')],
      [5, 0, 0],
    )
  })

  it('is no larger than its smallest leg, also on the others', async () => {
    day++
    const local = await sell('SIN', 'BKK', 3)
    assert.deepEqual(
      [await left('SIN', 'BKK'), await left('BKK', 'HKG'), await left('SIN', 'HKG')],
      [3, 4, 1],
    )
    const stale = await find('SIN', 'HKG', 1)
    await sell('SIN', 'BKK', 3)
    assert.deepEqual([await left('SIN', 'BKK'), await left('SIN', 'HKG')], [0, 0])
    assert.equal((await shop.book(requestFor(stale[0]!))).code, 'unavailable')
    await shop.cancel(local!)
    assert.deepEqual([await left('SIN', 'BKK'), await left('SIN', 'HKG')], [3, 1])
  })

  it('and its legs, sold all at once, never exceed a leg', async () => {
    day++
    const pairs = [
      ['SIN', 'HKG'],
      ['SIN', 'BKK'],
      ['BKK', 'HKG'],
    ] as const
    const offers: Offer[] = []
    for (let i = 0; i < 8; i++) {
      for (const [from, to] of pairs)
        offers.push((await shop.offers({ origin: from, destination: to, departDate: ahead(day) }))[0]!)
    }
    await Promise.all(offers.map(offer => shop.book(requestFor(offer))))
    const rows = await shop.database.query<{ leg: string; sold: number }>(
      `select leg, sold from seat where departs = $1 and class = ''`,
      [ahead(day)],
    )
    const sold = new Map(rows.map(row => [row.leg, row.sold]))
    assert.ok(sold.get('ZX5/SIN')! <= 6 && sold.get('ZX5/BKK')! === 4, JSON.stringify(rows))
  })
})

describe('a codeshare', () => {
  it('sells the seats of the flight that operates it', async () => {
    const shared = await openShop({ legs: LEGS, fares: FARES })
    try {
      const offers = async (passengers = 1) => {
        await shared.refresh()
        return shared.offers({ destination: 'MNL', departDate: ahead(30), passengers })
      }
      const segment = (offer: Offer) => offer.slices[0]!.segments[0]!
      const [first] = await offers(3)
      const marketed = segment(first!).carrier
      await shared.book(requestFor(first!))
      const [second] = await offers()
      assert.equal(second!.seatsAvailable, 2)
      assert.equal(segment(second!).operatingCarrier, 'ZX')
      const rows = await shared.database.query<{ leg: string; class: string; sold: number }>(
        'select leg, class, sold from seat order by class',
      )
      assert.deepEqual(rows, [
        { leg: 'ZX6/SIN', class: '', sold: 3 },
        { leg: 'ZX6/SIN', class: 'Y', sold: 3 },
      ])
      assert.ok(['ZX', 'YY'].includes(marketed))
      await assertBooksBalance(shared.database)
    } finally {
      await shared.close()
    }
  })
})

describe('fewer seats authorised than are sold', () => {
  it('sell no more, take none away, and come back', async () => {
    day++
    const bookings = [await sell('SIN', 'BKK', 2), await sell('SIN', 'BKK', 2)]
    await importFares(shop.database, FARES.replace(',9\n', ',3\n'))
    assert.equal(await left('SIN', 'BKK'), 0)
    await shop.cancel(bookings[0]!)
    assert.equal(await left('SIN', 'BKK'), 1)
    assert.ok(await sell('SIN', 'BKK', 1))
    assert.equal(await left('SIN', 'BKK'), 0)
    await importFares(shop.database, FARES)
    assert.equal(await left('SIN', 'BKK'), 3)
  })
})

describe('searches follow what is sold', () => {
  it('however late it is committed', async () => {
    day++
    const seat = {
      leg: 'ZX6/SIN',
      departs: ahead(day),
      cabin: 'economy',
      bookingClass: 'Y',
      authorised: 9,
    } as const
    const at = {
      mode: 'live',
      leg: shop.loaded().legByName.get(seat.leg)!,
      day: dayNumber(seat.departs)!,
      cabin: 'economy',
    } as const
    const seen = () => soldIn(shop.loaded().world.sold, at, 'Y')
    const slow: { release(): void; done: Promise<void> }[] = []
    /** A sale whose transaction stays open until it is released. */
    async function open(count: number): Promise<void> {
      const bookingClass = 'ABC'[slow.length]!
      const entered = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      const done = shop.database.transaction(async (tx: Transaction) => {
        await takeSeats(tx, 'live', [{ ...seat, bookingClass }], count)
        entered.resolve()
        await released.promise
      })
      slow.push({ release: released.resolve, done })
      await entered.promise
    }
    const letters = () => ['A', 'B', 'C'].map(letter => soldIn(shop.loaded().world.sold, at, letter))
    await open(1)
    await open(2)
    for (let i = 0; i < 3; i++) {
      await shop.database.transaction(tx => takeSeats(tx, 'live', [seat], 1))
      await shop.refresh()
      assert.equal(seen(), i + 1)
    }
    assert.deepEqual(letters(), [0, 0, 0])
    await open(3)
    slow[1]!.release()
    await slow[1]!.done
    await shop.refresh()
    assert.deepEqual(letters(), [0, 2, 0])
    await shop.refresh()
    slow[0]!.release()
    slow[2]!.release()
    await Promise.all(slow.map(one => one.done))
    await shop.refresh()
    assert.deepEqual(letters(), [1, 2, 3])
    await shop.database.query(`delete from seat where leg = 'ZX6/SIN'`)
    await shop.database.query(`update seat set changed_by = pg_current_xact_id()`)
  })

  it('beyond the size of the table it began with', async () => {
    const other = await openShop({ fares: FARES })
    try {
      const { loaded } = other
      const before = loaded().world.sold
      const legs = [...loaded().legByName.keys()]
      await other.database.query(
        `insert into seat (mode, leg, departs, cabin, class, sold, authorised)
         select mode, leg, current_date + day, cabin, 'Y', 1 + (day % 7), 9
           from unnest($1::text[]) leg, generate_series(0, 700) day, unnest('{live,test}'::text[]) mode, unnest('{economy,business,first}'::text[]) cabin`,
        [legs],
      )
      const entries = legs.length * 701 * 6
      assert.ok(entries > before.capacity)
      assert.equal(await followSeats(other.database, loaded(), Date.now()), true)
      assert.notEqual(loaded().world.sold, before)
      assert.equal(soldEntries(loaded().world.sold), entries)
      const fresh = (await loadWorld(other.database, new Map(), Date.now()))!
      for (const name of legs) {
        const at = {
          mode: 'test',
          leg: loaded().legByName.get(name)!,
          day: dayNumber(ahead(100))!,
          cabin: 'first',
        } as const
        assert.equal(soldIn(loaded().world.sold, at, 'Y'), 3)
        assert.equal(soldIn(fresh.world.sold, at, 'Y'), 3)
      }
      assert.equal(await followSeats(other.database, loaded(), Date.now()), false)
    } finally {
      await other.close()
    }
  })
})
