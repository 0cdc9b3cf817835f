/** What must hold of the books at any moment at which nothing runs, read from the tables alone. */
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/database.ts'

type BookingRow = {
  id: string
  account_id: string
  mode: string
  status: string
  version: number
  supplier: string
  claim: string
  record_locator: string
  passengers: number
  per_person: number
  total: number
  currency: string
  status_history: { status: string; at: string }[]
  reconciles: boolean
  travellers: number
  letter: string | null
}

const KINDS: Readonly<Record<string, readonly string[]>> = {
  pending: ['hold'],
  confirmed: ['charge,hold'],
  failed: ['hold,release'],
  cancelled: ['charge,hold,refund', 'hold,release'],
  removed: ['hold,release'],
}
const NEXT: Readonly<Record<string, readonly string[]>> = {
  pending: ['confirmed', 'failed', 'cancelled'],
  confirmed: ['cancelled'],
}

/** Checks seats, ledger, versions, histories and confirmations against the bookings. */
export async function assertBooksBalance(database: Database): Promise<{ bookings: number }> {
  const bookings = await database.query<BookingRow>(
    `select b.id, account_id, mode, status, version, supplier, claim, record_locator, passengers, per_person, total, currency,
       status_history, reconcile_at is not null as reconciles, c.state as letter,
       (select count(*)::int from passenger p where p.booking_id = b.id) as travellers
      from booking b left join confirmation c on c.booking_id = b.id`,
  )
  await seatsConserve(database, bookings)
  await ledgerBalances(database, bookings)
  for (const booking of bookings) historyIsTrue(booking)
  const locators = bookings.filter(b => b.record_locator !== '').map(b => `${b.supplier} ${b.record_locator}`)
  assert.equal(new Set(locators).size, locators.length, 'a record locator was given twice')
  return { bookings: bookings.length }
}

async function seatsConserve(database: Database, bookings: readonly BookingRow[]): Promise<void> {
  const wanted = new Map<string, number>()
  for (const { status, claim, passengers, mode } of bookings) {
    if (claim === '' || (status !== 'pending' && status !== 'confirmed')) continue
    for (const seat of JSON.parse(claim).seats) {
      const key = [mode, seat.leg, seat.departs, seat.cabin, seat.bookingClass].join('|')
      wanted.set(key, (wanted.get(key) ?? 0) + passengers)
    }
  }
  const rows = await database.query<Record<string, string> & { sold: number; authorised: number }>(
    'select * from seat',
  )
  const cabins = new Map<string, number>()
  for (const row of rows) {
    const cabin = [row.mode, row.leg, row.departs, row.cabin].join('|')
    const key = `${cabin}|${row.class}`
    assert.equal(row.sold, wanted.get(key) ?? 0, `seats sold of ${key}`)
    assert.ok(row.sold <= row.authorised, `${key} oversold`)
    wanted.delete(key)
    cabins.set(cabin, (cabins.get(cabin) ?? 0) + (row.class === '' ? -row.sold : row.sold))
  }
  assert.deepEqual([...wanted], [], 'sold without a seat row')
  for (const [cabin, difference] of cabins)
    assert.equal(difference, 0, `classes and cabin of ${cabin} differ`)
}

async function ledgerBalances(database: Database, bookings: readonly BookingRow[]): Promise<void> {
  const entries = await database.query<{
    booking_id: string
    account_id: string
    mode: string
    kind: string
    amount: number
    currency: string
  }>('select * from ledger_entry order by kind')
  const byBooking = Map.groupBy(entries, entry => entry.booking_id)
  for (const booking of bookings) {
    const own = byBooking.get(booking.id) ?? []
    byBooking.delete(booking.id)
    const kinds = own.map(entry => entry.kind).join(',')
    assert.ok(KINDS[booking.status]!.includes(kinds), `${booking.status} ${booking.id} has ${kinds}`)
    assert.equal(booking.total, booking.per_person * booking.passengers)
    const charged = booking.status_history.some(change => change.status === 'confirmed')
    assert.equal(kinds.includes('charge'), charged)
    for (const entry of own) {
      assert.deepEqual(
        [entry.amount, entry.currency, entry.account_id, entry.mode],
        [booking.total, booking.currency, booking.account_id, booking.mode],
      )
    }
  }
  for (const [id, own] of byBooking) {
    assert.ok(KINDS.removed!.includes(own.map(entry => entry.kind).join(',')), `removed ${id}`)
    assert.equal(new Set(own.map(entry => entry.amount)).size, 1)
  }
}

function historyIsTrue(booking: BookingRow): void {
  const { id, status, status_history: history, letter } = booking
  const statuses = history.map(change => change.status)
  assert.equal(statuses[0], 'pending', id)
  assert.equal(statuses.at(-1), status, id)
  for (const [i, next] of statuses.slice(1).entries())
    assert.ok(NEXT[statuses[i]!]?.includes(next), `${id}: ${statuses}`)
  assert.equal(booking.version, history.length, `${id}: version and changes`)
  assert.deepEqual(
    history.map(change => change.at),
    history.map(change => change.at).toSorted(),
  )
  assert.equal(booking.travellers, booking.passengers, id)
  assert.equal(booking.reconciles, status === 'pending', `${id}: ${status} and due`)
  assert.equal(booking.record_locator !== '', statuses.includes('confirmed'), `${id}: locator`)
  if (status === 'confirmed') assert.notEqual(letter, null, `${id}: no letter owed`)
  if (!statuses.includes('confirmed')) assert.equal(letter, null, `${id}: a letter is owed for nothing`)
  if (status !== 'confirmed') assert.notEqual(letter, 'due', `${id}: a letter is still owed`)
}
