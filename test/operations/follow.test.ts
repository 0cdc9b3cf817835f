/** What an operator does to a flight date, and what the bookings on it become. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { checkBooks } from '../faults/checker.ts'
import { cloneDatabase, type TestDatabase } from '../support/postgres.ts'
import { type Airline, date, openAirline } from './support.ts'

let test: TestDatabase
let airline: Airline

before(async () => {
  test = await cloneDatabase()
  airline = await openAirline(test)
})
after(() => test?.drop())

const refused = (code: string, pattern: RegExp) => (error: { code?: string; message: string }) =>
  error.code === code && pattern.test(error.message)

const times = (booking: Awaited<ReturnType<Airline['read']>>) =>
  booking.slices.flatMap(slice => slice.segments.flatMap(s => [s.departure.minute, s.arrival.minute]))

const shift = (a: number[], b: number[]) => b.map((minute, i) => minute - a[i]!)

describe('a delay', () => {
  it('moves departure and arrival, with one event, and is not added to an earlier one', async () => {
    const trip = { from: 'SIN', to: 'HKG', flights: 'ZX2', passengers: 2 }
    const { bookingId } = await airline.book(trip)
    const sold = await airline.read(bookingId)
    const done = await airline.operate('delay', 'ZX2', { minutes: 75 })
    assert.deepEqual(
      { ...done, unchanged: 0 },
      { updated: 1, cancelled: 0, unchanged: 0, failed: 0, repeated: false, legs: [`ZX2/SIN ${date()}`] },
    )
    const late = await airline.read(bookingId)
    assert.deepEqual(shift(times(sold), times(late)), [75, 75])
    assert.deepEqual([late.status, late.version], ['confirmed', 3])
    assert.deepEqual(late.events, [
      { type: 'booking.confirmed', version: 2 },
      { type: 'booking.updated', version: 3 },
    ])
    assert.deepEqual(late.changes, [
      {
        version: 3,
        at: (late.changes[0] as unknown as { at: string }).at,
        kind: 'schedule',
        fields: [
          {
            path: 'slices[0].segments[0].departureTime',
            from: `${date()}T09:00:00+08:00`,
            to: `${date()}T10:15:00+08:00`,
          },
          {
            path: 'slices[0].segments[0].arrivalTime',
            from: `${date()}T13:00:00+08:00`,
            to: `${date()}T14:15:00+08:00`,
          },
        ],
      },
    ])
    assert.equal((await airline.operate('delay', 'zx 002', { minutes: 75 })).repeated, true)
    assert.equal((await airline.read(bookingId)).version, 3)
    await airline.operate('delay', 'ZX2', { minutes: 30 })
    assert.deepEqual(shift(times(sold), times(await airline.read(bookingId))), [30, 30])
    assert.deepEqual(await airline.proposals(trip), [])
    assert.equal((await airline.operate('restore', 'ZX2')).updated, 1)
    const back = await airline.read(bookingId)
    assert.deepEqual(back.slices, sold.slices)
    assert.equal(back.version, 5)
    assert.equal((await airline.proposals(trip)).length, 1)
  })

  it('of a through flight moves every segment of it, and of its second part only what hangs on it', async () => {
    const through = await airline.book({ from: 'SIN', to: 'NRT', flights: 'ZX1', date: date(1) })
    const first = await airline.book({ from: 'SIN', to: 'BKK', flights: 'ZX1', date: date(1) })
    const second = await airline.book({ from: 'BKK', to: 'NRT', flights: 'ZX1', date: date(2) })
    const all = [through, first, second].map(one => one.bookingId)
    const sold = await Promise.all(all.map(airline.read))
    const shifts = async () =>
      (await Promise.all(all.map(airline.read))).map((now, i) => shift(times(sold[i]!), times(now)))
    const whole = await airline.operate('delay', 'ZX1', { date: date(1), minutes: 60 })
    assert.deepEqual(whole.legs, [`ZX1/SIN ${date(1)}`, `ZX1/BKK ${date(2)}`])
    assert.deepEqual(await shifts(), [
      [60, 60],
      [60, 60],
      [60, 60],
    ])
    const part = await airline.operate('delay', 'ZX1', { date: date(2), from: 'BKK', minutes: 90 })
    assert.deepEqual(part.legs, [`ZX1/BKK ${date(2)}`])
    assert.deepEqual(await shifts(), [
      [60, 90],
      [60, 60],
      [90, 90],
    ])
    await airline.operate('restore', 'ZX1', { date: date(1) })
    assert.deepEqual(await shifts(), [
      [0, 0],
      [0, 0],
      [0, 0],
    ])
    assert.deepEqual(
      (await Promise.all(all.map(airline.read))).map(one => one.version),
      [5, 4, 5],
    )
  })

  it('of a flight that is cancelled is refused', async () => {
    await airline.operate('cancel', 'ZX4', { date: date(3) })
    await assert.rejects(
      airline.order('delay', 'ZX4', { date: date(3), minutes: 5 }),
      refused('conflict', /is cancelled; restore it first/),
    )
  })
})

describe('a cancellation', () => {
  it('cancels every booking on it, under whatever number and mode it was sold, and gives seats and money back', async () => {
    const on = date(5)
    const trips = [
      { from: 'SIN', to: 'HKG', flights: 'ZX2', date: on, passengers: 3 },
      { from: 'SIN', to: 'HKG', flights: 'QY502', date: on, passengers: 2 },
      { from: 'SIN', to: 'NRT', flights: 'ZX2+ZX3', date: on },
      { from: 'SIN', to: 'HKG', flights: 'ZX2', date: on, mode: 'test' as const },
    ]
    const ids: string[] = []
    for (const trip of trips) ids.push((await airline.book(trip)).bookingId)
    const other = await airline.book({ from: 'HKG', to: 'NRT', flights: 'ZX3', date: on })
    const done = await airline.operate('cancel', 'QY502', { date: on })
    assert.deepEqual([done.cancelled, done.legs], [4, [`ZX2/SIN ${on}`]])
    for (const id of ids) {
      const booking = await airline.read(id)
      assert.deepEqual([booking.status, booking.ledger], ['cancelled', ['hold', 'charge', 'refund']])
      assert.deepEqual(booking.events, [
        { type: 'booking.confirmed', version: 2 },
        { type: 'booking.cancelled', version: 3 },
      ])
    }
    assert.equal((await airline.read(other.bookingId)).status, 'confirmed')
    const sold = await airline.database.query<{ leg: string; sold: number }>(
      `select leg, sum(sold)::int as sold from seat where departs = $1 and class <> '' group by leg order by leg`,
      [on],
    )
    assert.deepEqual(sold, [
      { leg: 'ZX2/SIN', sold: 0 },
      { leg: 'ZX3/HKG', sold: 1 },
    ])
    for (const trip of trips) assert.deepEqual(await airline.proposals(trip), [])
    const again = await airline.operate('cancel', 'ZX2', { date: on })
    assert.deepEqual([again.cancelled, again.repeated], [4, true])
    assert.equal((await airline.read(ids[0]!)).version, 3)
  })

  it('is undone for sale and for nobody who was on it', async () => {
    const trip = { from: 'HKG', to: 'SIN', flights: 'ZX4', date: date(6) }
    const { bookingId } = await airline.book(trip)
    await airline.operate('cancel', 'ZX4', { date: date(6) })
    await airline.operate('restore', 'ZX4', { date: date(6) })
    assert.equal((await airline.read(bookingId)).status, 'cancelled')
    assert.equal((await airline.book(trip)).bookingStatus, 'confirmed')
    await airline.operate('cancel', 'ZX4', { date: date(6) })
    assert.equal((await airline.operate('restore', 'ZX4', { date: date(6) })).cancelled, 0)
  })

  it('that is restored half-way stops there', async () => {
    const on = date(7)
    const ids: string[] = []
    for (let i = 0; i < 3; i++)
      ids.push((await airline.book({ from: 'SIN', to: 'HKG', flights: 'ZX2', date: on })).bookingId)
    await airline.order('cancel', 'ZX2', { date: on })
    await airline.order('restore', 'ZX2', { date: on })
    await airline.followAll()
    for (const id of ids) assert.deepEqual((await airline.read(id)).version, 2)
  })

  it('of the second part of a through flight leaves who only flies the first', async () => {
    const through = await airline.book({ from: 'SIN', to: 'NRT', flights: 'ZX1', date: date(8) })
    const first = await airline.book({ from: 'SIN', to: 'BKK', flights: 'ZX1', date: date(8) })
    await airline.operate('cancel', 'ZX1', { date: date(9), from: 'BKK' })
    assert.equal((await airline.read(through.bookingId)).status, 'cancelled')
    assert.equal((await airline.read(first.bookingId)).status, 'confirmed')
    assert.equal(
      (await airline.proposals({ from: 'SIN', to: 'BKK', flights: 'ZX1', date: date(8) })).length,
      1,
    )
    assert.deepEqual(await airline.proposals({ from: 'SIN', to: 'NRT', flights: 'ZX1', date: date(8) }), [])
  })

  it('finds bookings of a flight that an import has dropped', async () => {
    await airline.book({ from: 'HKG', to: 'SIN', flights: 'ZX4', date: date(10) })
    const { operateFlight } = await import('../../src/supplier/inventory/operation/operate.ts')
    const order = { kind: 'cancel', designator: 'ZX4', date: date(10), from: undefined, minutes: 0 } as const
    const ordered = await operateFlight(airline.database, undefined, order, Date.now())
    assert.deepEqual(ordered.legs, [{ leg: 'ZX4/HKG', departs: date(10) }])
    await airline.followAll()
  })
})

describe('a booking that cannot follow', () => {
  it('is passed over and counted, the others follow, and a repetition takes it along once it is mended', async () => {
    const on = date(12)
    const ids: string[] = []
    for (let i = 0; i < 12; i++)
      ids.push((await airline.book({ from: 'HKG', to: 'NRT', flights: 'ZX3', date: on })).bookingId)
    const claims = await airline.database.query<{ id: string; claim: string }>(
      `with broken as (select id, claim from booking where id = any($1)) update booking b set claim = '{' from broken
        where b.id = broken.id returning b.id, broken.claim`,
      [[ids[4], ids[9]]],
    )
    const done = await airline.operate('cancel', 'ZX3', { date: on })
    assert.deepEqual([done.cancelled, done.failed], [10, 2])
    for (const { id, claim } of claims)
      await airline.database.query('update booking set claim = $2 where id = $1', [id, claim])
    const again = await airline.operate('cancel', 'ZX3', { date: on })
    assert.deepEqual([again.cancelled, again.unchanged, again.failed, again.repeated], [2, 10, 0, false])
    for (const id of ids) assert.equal((await airline.read(id)).version, 3)
  })
})

describe('a flight that is not found', () => {
  it('is answered with what is near', async () => {
    await assert.rejects(
      airline.order('cancel', 'ZX9'),
      refused('not_found', /no flight ZX9; near it are ZX5, ZX4/),
    )
    await assert.rejects(airline.order('cancel', 'AA2'), refused('not_found', /near it are ZX2/))
    await assert.rejects(airline.order('cancel', 'nonsense'), refused('invalid_params', /such as BA15/))
    await assert.rejects(
      airline.order('cancel', 'ZX1', { date: '2027-02-30' }),
      refused('invalid_params', /local day/),
    )
    await assert.rejects(
      airline.order('cancel', 'ZX2', { date: date(-25) }),
      refused('not_found', /has been flown/),
    )
    await assert.rejects(
      airline.order('cancel', 'ZX2', { from: 'BKK' }),
      refused('not_found', /does not leave from BKK on .*; it leaves .*T09:00:00\+08:00 from SIN/),
    )
    await assert.rejects(
      airline.order('cancel', 'ZX5'),
      refused('not_found', /from HKG and from SIN .* --from HKG/),
    )
    assert.deepEqual((await airline.operate('cancel', 'ZX5', { from: 'SIN' })).legs, [`ZX5/SIN ${date()}`])
  })
})

describe('after all that', () => {
  it('seats, ledger, versions and events agree', async () => {
    assert.deepEqual((await checkBooks(test.options.url)).findings, [])
  })
})
