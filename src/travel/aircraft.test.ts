import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aircraftType } from './aircraft.ts'
import table from './reference/aircraft.json' with { type: 'json' }

test('a type has its name and body', () => {
  assert.deepEqual(aircraftType('320'), { name: 'Airbus A320', body: 'N' })
  assert.deepEqual(aircraftType('77W'), { name: 'Boeing 777-300ER', body: 'W' })
  assert.equal(aircraftType('000'), undefined)
})

test('every row has a code of three and a body, sorted and once', () => {
  const codes = table.rows.map(([code]) => code)
  assert.deepEqual(codes, [...new Set(codes)].toSorted())
  for (const [code, name, body] of table.rows) {
    assert.match(code!, /^[A-Z0-9]{3}$/)
    assert.ok(name !== undefined && (body === 'W' || body === 'N'), String(code))
  }
})
