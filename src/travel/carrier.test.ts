import assert from 'node:assert/strict'
import { test } from 'node:test'
import { carrier, carrierName } from './carrier.ts'
import { country } from './country.ts'
import table from './reference/carriers.json' with { type: 'json' }

test('a carrier has its name and home', () => {
  assert.deepEqual(carrier('QF'), { code: 'QF', name: 'Qantas', country: 'AU', demo: false })
  assert.equal(carrierName('BA'), 'British Airways')
  assert.equal(carrierName('U2'), 'easyJet')
})

test('an unknown carrier is named by its code', () => {
  assert.equal(carrierName('XX'), 'XX')
  assert.equal(carrier('XX'), undefined)
})

test('the carriers of the demo network are marked, and no others', () => {
  const demo = table.rows.filter(row => row[3] === 1).map(([code]) => code)
  assert.deepEqual(demo, ['E1', 'J1', 'M1', 'N1', 'QA', 'XI'])
  assert.equal(carrier('J1')!.name, 'Jade Lines')
})

test('every row has a designator, a name and a country, sorted and once', () => {
  const codes = table.rows.map(([code]) => code)
  assert.deepEqual(codes, [...new Set(codes)].toSorted())
  for (const [code, name, home] of table.rows as [string, string, string, number][]) {
    assert.match(code, /^(?=.*[A-Z])[A-Z0-9]{2}$/)
    assert.ok(name.trim() === name && name !== '', code)
    assert.ok(country(home), `${code}: ${home}`)
  }
})
