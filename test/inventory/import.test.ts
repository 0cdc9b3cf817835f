/** Imports: whole or not at all, one carrier's schedule beside another's, and worlds loaded while it happens. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Database } from '../../src/db/database.ts'
import { FaresRefused, importFares } from '../../src/supplier/inventory/fares.ts'
import { loadWorld } from '../../src/supplier/inventory/load.ts'
import { importRates } from '../../src/supplier/inventory/rates.ts'
import { importSchedule, renewImage } from '../../src/supplier/inventory/schedule.ts'
import { readState } from '../../src/supplier/inventory/store.ts'
import { IMAGE_VERSION } from '../../src/timetable/image.ts'
import { assertBooksBalance } from '../booking/oracle.ts'
import {
  ahead,
  FARES,
  NETWORK,
  openShop,
  type PlainLeg,
  RATES,
  requestFor,
  type Shop,
  scheduleText,
} from '../booking/shop.ts'

const OTHER: readonly PlainLeg[] = [
  {
    carrier: 'YY',
    number: 70,
    origin: 'SIN',
    destination: 'HKG',
    departure: 600,
    arrival: 850,
    configuration: 'Y009',
  },
]
const LATER: readonly PlainLeg[] = [
  { number: 1, origin: 'SIN', destination: 'HKG', departure: 545, arrival: 785, configuration: 'Y010' },
]

let shop: Shop
before(async () => {
  shop = await openShop()
})
beforeEach(async () => {
  await importSchedule(shop.database, scheduleText(NETWORK), true)
  await shop.refresh()
})
after(() => shop.close())

/** Flights that are sold from SIN to HKG without a change, with their times. */
async function sold(): Promise<string[]> {
  await shop.refresh()
  const offers = await shop.offers({ departDate: ahead(50) }).catch(() => [])
  return offers
    .map(offer => offer.slices[0]!.segments)
    .filter(segments => segments.length === 1)
    .map(([segment]) => `${segment!.carrier}${segment!.number} ${(segment!.departure.minute + 480) % 1440}`)
    .sort()
}
const dump = async () => ({
  state: await readState(shop.database),
  fares: await shop.database.query('select * from fare order by line'),
  sources: await shop.database.query('select carrier, md5(ssim) from schedule_source order by carrier'),
  image: await shop.database.query('select position, md5(bytes) from timetable_chunk order by position'),
  rates: await shop.database.query('select * from exchange_rate order by provider, as_of, currency'),
})

describe('a schedule', () => {
  it('takes the place of its own carrier’s, beside the others', async () => {
    assert.deepEqual(await sold(), ['ZX1 540', 'ZX5 900'])
    await importSchedule(shop.database, scheduleText(OTHER), false)
    assert.deepEqual(await sold(), ['YY70 600', 'ZX1 540', 'ZX5 900'])
    const imported = await importSchedule(shop.database, gzipSync(scheduleText(LATER)), false)
    assert.deepEqual([imported.carriers, imported.legs, imported.report.legs], [1, 1, 2])
    assert.deepEqual(await sold(), ['YY70 600', 'ZX1 545'])
  })

  it('takes everybody’s place when asked to', async () => {
    await importSchedule(shop.database, scheduleText(OTHER), true)
    assert.deepEqual(await sold(), ['YY70 600'])
  })

  it('that is faulty changes nothing', async () => {
    const good = scheduleText(OTHER)
    const text = good.toString('latin1')
    const zipped = gzipSync(good)
    const faulty = [
      Buffer.alloc(0),
      Buffer.from('not a schedule'),
      good.subarray(0, text.indexOf('000003E')),
      Buffer.from(text.replace('SIN1000', 'SIN2560'), 'latin1'),
      Buffer.from(text.replace('3 YY', '3 QQ'), 'latin1'),
      zipped.subarray(0, zipped.length / 2),
      Buffer.concat([zipped.subarray(0, 20), Buffer.alloc(40), zipped.subarray(60)]),
    ]
    const before = await dump()
    for (const [i, bytes] of faulty.entries()) {
      if (bytes.equals(good)) assert.fail(`file ${i} is not faulty`)
      await assert.rejects(importSchedule(shop.database, bytes, false), Error, `file ${i}`)
    }
    assert.deepEqual(await dump(), before)
  })

  it('that moves a flight ends its offers, not its bookings', async () => {
    const offers = await shop.offers({ departDate: ahead(51) })
    const direct = offers.find(offer => offer.slices[0]!.segments[0]!.number === '1')!
    const { bookingId } = await shop.book(requestFor(direct))
    const [again] = (await shop.offers({ departDate: ahead(51) })).filter(
      offer => offer.slices[0]!.segments[0]!.number === '1',
    )
    await importSchedule(shop.database, scheduleText(LATER), true)
    await shop.refresh()
    const refused = await shop.book(requestFor(again!))
    assert.deepEqual([refused.code, JSON.parse(refused.body).priceChange], ['unavailable', undefined])
    assert.equal((await shop.book(requestFor(direct))).bookingId, bookingId)
    // The new flight sells the same leg of the same day: its seats are already fewer.
    const [moved] = await shop.offers({ departDate: ahead(51) })
    assert.equal(moved!.seatsAvailable, 3)
    assert.equal(await shop.cancel(bookingId!), 'cancelled')
    await assertBooksBalance(shop.database)
  })
})

describe('fares and rates', () => {
  it('that are faulty change nothing', async () => {
    const before = await dump()
    await assert.rejects(importFares(shop.database, FARES.replace('100', '-100')), FaresRefused)
    await assert.rejects(
      importFares(shop.database, `${FARES}*,*,*,economy,Z,USD,1,999999999,4\n`),
      FaresRefused,
    )
    await assert.rejects(importRates(shop.database, RATES.replace("'1.1'", "'one'"), Date.now()), SyntaxError)
    await assert.rejects(importRates(shop.database, RATES.slice(0, -20), Date.now()))
    await assert.rejects(
      importRates(shop.database, RATES.replace('2026-11-20', '2031-01-01'), Date.now()),
      /future/,
    )
    assert.deepEqual(await dump(), before)
  })

  it('imported all at once come to one state, and searches to the last of it', async () => {
    const variants = [100, 110, 120, 130].map(price => FARES.replace('USD,100', `USD,${price}`))
    const { fares } = await readState(shop.database)
    await Promise.all([
      ...variants.map(text => importFares(shop.database, text)),
      importRates(shop.database, RATES, Date.now()),
      importSchedule(shop.database, scheduleText(OTHER), false),
      shop.refresh(),
      shop.refresh(),
    ])
    await shop.refresh()
    assert.equal((await readState(shop.database)).fares, fares + 4)
    const [row] = await shop.database.query<{ base: number }>(`select base from fare where class = 'Y'`)
    const [offer] = await shop.offers({ departDate: ahead(50) })
    // About 25 dollars of it are for the distance.
    assert.equal(Math.floor((offer!.perPerson.minor - 2_500) / 1000), row!.base / 1000)
    await importFares(shop.database, FARES)
  })
})

describe('an image', () => {
  it('of another version is compiled anew, once', async () => {
    const flights = await sold()
    await shop.database.query(`update inventory_state set image_version = -1`)
    await shop.database.query(`update timetable_chunk set bytes = '\\x00'`)
    const renewed = await Promise.all([
      renewImage(shop.database),
      renewImage(shop.database),
      renewImage(shop.database),
    ])
    assert.deepEqual(renewed.sort(), [false, false, true])
    assert.equal((await readState(shop.database)).imageVersion, IMAGE_VERSION)
    assert.deepEqual(await sold(), flights)
    assert.equal(await renewImage(shop.database), false)
  })

  it('that is replaced while it is read is read again, and never kept under the other’s name', async () => {
    const images = new Map()
    let imports = 0
    const interrupted: Database = {
      ...shop.database,
      async query<R>(text: string, values?: readonly unknown[]): Promise<R[]> {
        if (text.includes('from timetable_chunk') && imports++ < 3) {
          await importSchedule(shop.database, scheduleText(imports % 2 === 1 ? OTHER : LATER), true)
        }
        return shop.database.query<R>(text, values)
      },
    }
    const loaded = (await loadWorld(interrupted, images, Date.now()))!
    const state = await readState(shop.database)
    assert.equal(loaded.world.generation.schedule, state.schedule)
    assert.deepEqual([...images.keys()], [state.imageHash])
    assert.deepEqual([...loaded.legByName.keys()], ['YY70/SIN'])
  })

  it('that is damaged is not sold from', async () => {
    await shop.database.query(
      `update timetable_chunk set bytes = set_byte(bytes, 1500, 255 - get_byte(bytes, 1500)) where position = 0`,
    )
    await assert.rejects(loadWorld(shop.database, new Map(), Date.now()), /import the schedule again/)
    await shop.database.query('delete from timetable_chunk')
    await assert.rejects(loadWorld(shop.database, new Map(), Date.now()), /import the schedule again/)
  })

  it('is shared by two regions that sell the same', async () => {
    const twin = await openShop()
    try {
      await importSchedule(twin.database, scheduleText(NETWORK), true)
      const images = new Map()
      const here = (await loadWorld(shop.database, images, Date.now()))!
      const there = (await loadWorld(twin.database, images, Date.now()))!
      assert.equal(there.world.timetable.buffer, here.world.timetable.buffer)
      assert.equal(images.size, 1)
    } finally {
      await twin.close()
    }
  })
})
