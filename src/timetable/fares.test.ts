import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FareRow, fareLadders, farePrice } from './fares.ts'

const ROW: FareRow = {
  carrier: '*',
  origin: '*',
  destination: '*',
  cabin: 'economy',
  bookingClass: 'Y',
  currency: 'USD',
  base: 0,
  perKm: { digits: 0n, scale: 0 },
  seats: 9,
}

test('the most specific row set wins whole, cabin by cabin', () => {
  // From the least to the most specific: each added set must take over from the ones before.
  const patterns = [
    '* * *',
    'BA * *',
    '* * JFK',
    'BA * JFK',
    '* LHR *',
    'BA LHR *',
    '* LHR JFK',
    'BA LHR JFK',
  ]
  const rows: FareRow[] = []
  for (const pattern of patterns) {
    const [carrier, origin, destination] = pattern.split(' ') as [string, string, string]
    rows.unshift(
      { ...ROW, carrier, origin, destination },
      { ...ROW, carrier, origin, destination, bookingClass: 'M' },
    )
    const won = fareLadders(rows)('BA', 'LHR', 'JFK', 'economy')
    assert.deepEqual(
      won.map(row => `${row.carrier} ${row.origin} ${row.destination}`),
      [pattern, pattern],
    )
  }
  const ladder = fareLadders([...rows, { ...ROW, cabin: 'first' }])
  assert.equal(ladder('BA', 'LHR', 'JFK', 'first')[0]!.carrier, '*')
  assert.deepEqual(ladder('BA', 'LHR', 'JFK', 'business'), [])
  assert.equal(ladder('AA', 'JFK', 'LHR', 'economy')[0]!.origin, '*')
})

test('a price is rounded half up, once, to the minor unit of its currency', () => {
  const price = (currency: string, base: number, perKm: string, km: number) => {
    const [units = '', decimals = ''] = perKm.split('.')
    return farePrice(
      { ...ROW, currency, base, perKm: { digits: BigInt(units + decimals), scale: decimals.length } },
      km,
    )
  }
  assert.equal(price('USD', 1000, '0.01', 100), 1100)
  assert.equal(price('USD', 1000, '0.01', 0.5), 1001)
  assert.equal(price('USD', 1000, '0.01', 0.49), 1000)
  assert.equal(price('USD', 0, '0.005', 1), 1)
  // In floating point 1.005 × 100 is 100.49999999999999.
  assert.equal(price('USD', 0, '1.005', 1), 101)
  assert.equal(price('JPY', 500, '0.5', 3), 502)
  assert.equal(price('KWD', 0, '0.1', 1), 100)
  assert.equal(price('USD', 9_000_000_000_000, '0.01', 1), 9_000_000_000_001)
})

test('a row that cannot be sold by is named', () => {
  const fault = (change: Partial<FareRow>) => () => fareLadders([ROW, { ...ROW, carrier: 'BA', ...change }])
  assert.doesNotThrow(fault({}))
  assert.throws(fault({ carrier: '*' }), /Fare row 2: class Y of \*,\*,\*,economy is given twice/)
  assert.throws(fault({ bookingClass: 'YY' }), /Fare row 2: booking class/)
  assert.throws(fault({ currency: 'XAU' }), /Fare row 2: unknown currency XAU/)
  assert.throws(fault({ base: -1 }), /Fare row 2: base/)
  assert.throws(fault({ perKm: { digits: -1n, scale: 0 } }), /Fare row 2: per_km/)
  assert.throws(fault({ seats: 40_000 }), /Fare row 2: 40000 seats/)
})
