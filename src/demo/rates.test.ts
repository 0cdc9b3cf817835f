import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convert, parseEcb } from '../travel/exchange.ts'
import { dayNumber } from '../travel/time.ts'
import { demoRates } from './rates.ts'

test('the demo rates are read as the central bank’s are', () => {
  const [rates, ...more] = parseEcb(demoRates(dayNumber('2026-11-21')!))
  assert.equal(more.length, 0)
  assert.equal(rates!.asOf, '2026-11-21')
  assert.equal(rates!.perEuro.size, 30)
  assert.deepEqual(convert([{ minor: 110_00, currency: 'USD' }], 'CNY', rates), {
    minor: 800_00,
    currency: 'CNY',
  })
  assert.deepEqual(convert([{ minor: 1_00, currency: 'EUR' }], 'JPY', rates), { minor: 160, currency: 'JPY' })
})

test('the same day gives the same text, another day another date only', () => {
  assert.equal(demoRates(9000), demoRates(9000))
  assert.equal(demoRates(9000).length, demoRates(9001).length)
  assert.notEqual(demoRates(9000), demoRates(9001))
})
