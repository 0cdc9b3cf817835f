/** Seat numbers, and the other changes that leave a booking's status as it is. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { CHANGES_KEPT } from '../../src/booking/booking.ts'
import { change } from '../../src/booking/change.ts'
import { reassignSeat } from '../../src/booking/reassign.ts'
import { lockBooking } from '../../src/booking/store.ts'
import type { BookingId } from '../../src/id.ts'
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

const assign = (id: string, passenger: number, seat: string, segment?: number) =>
  reassignSeat(airline.house, id, { passenger, seat, segment })
const refused = (code: string, pattern: RegExp) => (error: { code?: string; message: string }) =>
  error.code === code && pattern.test(error.message)

it('a seat is given, changed and not given twice', async () => {
  const trip = { from: 'SIN', to: 'NRT', flights: 'ZX2+ZX3', passengers: 2 }
  const { bookingId } = await airline.book(trip)
  await assert.rejects(
    assign(bookingId, 1, '12A'),
    refused('invalid_params', /--segment.*1 is ZX2 SIN–HKG, 2 is ZX3 HKG–NRT/),
  )
  await assert.rejects(assign(bookingId, 1, '12I', 1), refused('invalid_params', /such as 12A/))
  await assert.rejects(assign(bookingId, 3, '12A', 1), refused('invalid_params', /from 1 to 2/))
  await assert.rejects(assign(bookingId, 1, '12A', 3), refused('invalid_params', /none of this/))
  assert.equal((await assign(bookingId, 2, '12a', 2)).changed, true)
  assert.equal((await assign(bookingId, 2, '12A', 2)).changed, false)
  assert.equal((await assign(bookingId, 1, '14C', 2)).changed, true)
  await assert.rejects(assign(bookingId, 1, '12A', 2), refused('conflict', /seat of passenger 2/))
  assert.equal((await assign(bookingId, 2, '15K', 2)).changed, true)
  const booking = await airline.read(bookingId)
  assert.deepEqual(booking.slices[0]!.segments[1]!.seats, [
    { passenger: 0, seat: '14C' },
    { passenger: 1, seat: '15K' },
  ])
  assert.deepEqual(
    booking.changes.map(one => [one.version, one.kind, one.fields]),
    [
      [3, 'seat', [{ path: 'slices[0].segments[1].seats[0].seat', to: '12A' }]],
      [4, 'seat', [{ path: 'slices[0].segments[1].seats[0].seat', to: '14C' }]],
      [5, 'seat', [{ path: 'slices[0].segments[1].seats[1].seat', from: '12A', to: '15K' }]],
    ],
  )
  assert.deepEqual(
    booking.events.map(one => one.type.slice('booking.'.length)),
    ['confirmed', 'updated', 'updated', 'updated'],
  )
})

it('a seat that another booking has on one of the legs is taken, until that booking ends', async () => {
  const on = date(1)
  const through = await airline.book({ from: 'SIN', to: 'NRT', flights: 'ZX1', date: on })
  const second = await airline.book({ from: 'BKK', to: 'NRT', flights: 'ZX1', date: date(2) })
  const first = await airline.book({ from: 'SIN', to: 'BKK', flights: 'ZX1', date: on })
  const test = await airline.book({ from: 'SIN', to: 'BKK', flights: 'ZX1', date: on, mode: 'test' })
  await assign(second.bookingId, 1, '1A')
  await assert.rejects(assign(through.bookingId, 1, '1A'), refused('conflict', /taken by booking bkg_/))
  await assign(first.bookingId, 1, '1A')
  await assign(test.bookingId, 1, '1A')
  await airline.operate('cancel', 'ZX1', { date: date(2), from: 'BKK' })
  await assert.rejects(assign(second.bookingId, 1, '2A'), refused('conflict', /is cancelled/))
})

it('a delay keeps the seats', async () => {
  const on = date(4)
  const { bookingId } = await airline.book({ from: 'SIN', to: 'HKG', flights: 'ZX2', date: on })
  await assign(bookingId, 1, '7B')
  await airline.operate('delay', 'ZX2', { date: on, minutes: 5 })
  const { slices } = await airline.read(bookingId)
  assert.deepEqual(slices[0]!.segments[0]!.seats, [{ passenger: 0, seat: '7B' }])
})

it('a record locator changes; an old version, or one that has ended, does not', async () => {
  const { bookingId } = await airline.book({ from: 'SIN', to: 'HKG', flights: 'ZX2' })
  const id = bookingId as BookingId
  const edit = {
    kind: 'pnr',
    recordLocator: 'K7QX2M',
    fields: [{ path: 'pnr', from: 'old', to: 'K7QX2M' }],
  } as const
  const [changed, stale] = await test.database.transaction(async tx => {
    const booking = (await lockBooking(tx, id))!
    return [await change(tx, booking, edit), await change(tx, booking, edit)]
  })
  assert.deepEqual([changed?.recordLocator, changed?.version, stale], ['K7QX2M', 3, undefined])
  const [event] = await test.database.query<{ body: Buffer }>(
    'select body from event where booking_id = $1 and version = 3',
    [id],
  )
  const { pnr, bookingStatus } = JSON.parse(event!.body.toString()).data
  assert.deepEqual([pnr, bookingStatus], ['K7QX2M', 'confirmed'])
  await airline.operate('cancel', 'ZX2')
  const after = await test.database.transaction(async tx => change(tx, (await lockBooking(tx, id))!, edit))
  assert.equal(after, undefined)
})

it('the latest changes are kept, and every version has its event', async () => {
  const { bookingId } = await airline.book({ from: 'HKG', to: 'SIN', flights: 'ZX4' })
  for (let n = 0; n < CHANGES_KEPT + 5; n++) await assign(bookingId, 1, `${1 + (n % 90)}A`)
  const { changes, version } = await airline.read(bookingId)
  assert.equal(changes.length, CHANGES_KEPT)
  assert.deepEqual(
    changes.map(one => one.version),
    Array.from({ length: CHANGES_KEPT }, (_, i) => version - CHANGES_KEPT + 1 + i),
  )
  assert.deepEqual((await checkBooks(test.options.url)).findings, [])
})
