import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { currencyExponent, currencyName, isCurrency, MINOR_MAX, parseAmount, toAmount } from './money.ts'

test('exponents are those of ISO 4217', () => {
  const exponents = {
    USD: 2,
    EUR: 2,
    JPY: 0,
    KRW: 0,
    HUF: 2,
    IDR: 2,
    COP: 2,
    PKR: 2,
    KWD: 3,
    BHD: 3,
    IQD: 3,
    XCG: 2,
    CLP: 0,
    VND: 0,
  }
  for (const [code, exponent] of Object.entries(exponents))
    assert.equal(currencyExponent(code), exponent, code)
})

test('ended currencies, metals, funds and test codes are no currencies', () => {
  for (const code of [
    'ANG',
    'BGN',
    'CUC',
    'HRK',
    'XAU',
    'XAG',
    'XDR',
    'XTS',
    'XXX',
    'CHE',
    'CLF',
    'UYW',
    'usd',
    '',
    'US',
    'toString',
  ]) {
    assert.equal(isCurrency(code), false, code)
    assert.equal(currencyExponent(code), undefined, code)
    assert.equal(parseAmount('1', code), undefined, code)
  }
  assert.equal(isCurrency('XCG'), true)
})

test('names are for people', () => {
  assert.equal(currencyName('USD'), 'US Dollar')
  assert.equal(currencyName('QQQ'), 'QQQ')
})

test('decimal text becomes minor units exactly', () => {
  const cases: [string, string, number | undefined][] = [
    ['12.34', 'USD', 1234],
    ['12.3', 'USD', 1230],
    ['12', 'USD', 1200],
    ['0.29', 'USD', 29],
    ['1.005', 'USD', undefined],
    ['1.0050', 'KWD', 1005],
    ['1.500', 'USD', 150],
    ['500', 'JPY', 500],
    ['500.00', 'JPY', 500],
    ['500.5', 'JPY', undefined],
    ['99.99', 'HUF', 9999],
    ['-3.5', 'EUR', -350],
    ['-0', 'EUR', 0],
    ['007', 'EUR', 700],
    ['9999999999999.99', 'USD', MINOR_MAX],
    ['10000000000000.00', 'USD', undefined],
  ]
  for (const [text, currency, minor] of cases)
    assert.equal(parseAmount(text, currency), minor, `${text} ${currency}`)
})

test('anything but plain decimal text is refused', () => {
  for (const text of [
    '',
    ' 1',
    '1 ',
    '+1',
    '1,5',
    '1.',
    '.5',
    '1e3',
    '0x10',
    'NaN',
    '--1',
    '１',
    '1\n',
    '1.2.3',
  ]) {
    assert.equal(parseAmount(text, 'USD'), undefined, JSON.stringify(text))
  }
})

test('an amount shown as a JSON number reads back as the same minor units', () => {
  const currency = fc.constantFrom('JPY', 'USD', 'HUF', 'KWD')
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MINOR_MAX }), currency, (minor, currency) => {
      const shown = JSON.stringify(toAmount({ minor, currency }))
      assert.equal(parseAmount(shown, currency), minor)
    }),
    { numRuns: 1000 },
  )
  assert.equal(toAmount({ minor: 1234, currency: 'USD' }), 12.34)
  assert.equal(toAmount({ minor: 1234, currency: 'KWD' }), 1.234)
  assert.equal(toAmount({ minor: 1234, currency: 'JPY' }), 1234)
  assert.throws(() => toAmount({ minor: 1, currency: 'XXX' }), RangeError)
})
