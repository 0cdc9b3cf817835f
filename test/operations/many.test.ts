/**
 * A full flight: how long its bookings take to follow, with two partners' endpoints to tell. `AIRSIDE_TEST_BOOKINGS=100000` for a real one.
 */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { newId } from '../../src/id.ts'
import { checkBooks } from '../faults/checker.ts'
import { cloneDatabase, type TestDatabase } from '../support/postgres.ts'
import { type Airline, multiply, openAirline } from './support.ts'

const BOOKINGS = Number(process.env.AIRSIDE_TEST_BOOKINGS ?? 500)
const ENDPOINTS = 2

let test: TestDatabase
let airline: Airline

before(async () => {
  test = await cloneDatabase({ statementTimeoutMs: 300_000 })
  airline = await openAirline(test)
  const { bookingId } = await airline.book({ from: 'SIN', to: 'NRT', flights: 'ZX2+ZX3' })
  await multiply(test.database, bookingId, BOOKINGS - 1)
  for (let n = 0; n < ENDPOINTS; n++) {
    await test.database.query(
      `with made as (insert into endpoint (id, account_id, mode, url, events, secret, secret_given)
         values ($1, $2, 'live', 'https://example.com/', '{booking.cancelled,booking.updated}', '', false) returning seq)
       insert into lane (endpoint) select seq from made`,
      [newId('whk'), airline.accountId],
    )
  }
})
after(() => test?.drop())

for (const [kind, minutes, what] of [
  ['delay', 45, 'updated'],
  ['restore', 0, 'updated'],
  ['cancel', 0, 'cancelled'],
] as const) {
  it(`${kind} reaches all ${BOOKINGS} bookings, each with its event and deliveries`, async t => {
    const startedAt = performance.now()
    const followed = await airline.operate(kind, 'ZX2', { minutes })
    const seconds = (performance.now() - startedAt) / 1000
    t.diagnostic(`${seconds.toFixed(2)} s, ${Math.round(BOOKINGS / seconds)} bookings/s`)
    assert.equal(followed[what], BOOKINGS)
    const [owed] = await test.database.query<{ events: number; deliveries: number }>(
      `select (select count(*) from event where type <> 'booking.confirmed') as events, (select count(*) from delivery) as deliveries`,
    )
    const operations = { delay: 1, restore: 2, cancel: 3 }[kind]
    assert.deepEqual(owed, { events: operations * BOOKINGS, deliveries: operations * BOOKINGS * ENDPOINTS })
  })
}

it('and the books agree', async () => {
  assert.deepEqual((await checkBooks(test.options.url)).findings, [])
})
