import assert from 'node:assert/strict'
import { test } from 'node:test'
import { country } from './country.ts'
import table from './reference/countries.json' with { type: 'json' }

test('a country has both codes and its name', () => {
  assert.deepEqual(country('GB'), { alpha2: 'GB', alpha3: 'GBR', name: 'United Kingdom' })
  assert.deepEqual(country('CN'), { alpha2: 'CN', alpha3: 'CHN', name: 'China' })
  assert.equal(country('XX'), undefined)
})

test('every row is whole and there once', () => {
  const codes = table.rows.map(([alpha2]) => alpha2!)
  assert.deepEqual(codes, [...new Set(codes)].toSorted())
  assert.equal(new Set(table.rows.map(([, alpha3]) => alpha3)).size, codes.length)
  for (const [alpha2, alpha3, name] of table.rows) {
    assert.match(alpha2!, /^[A-Z]{2}$/)
    assert.match(alpha3!, /^[A-Z]{3}$/)
    assert.ok(name !== undefined, String(alpha2))
  }
})
