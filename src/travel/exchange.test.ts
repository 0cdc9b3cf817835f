import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  convert,
  type Decimal,
  ECB_LENGTH_MAX,
  formatRate,
  parseEcb,
  parseRate,
  type Rates,
  referencePrice,
} from './exchange.ts'
import { currencyExponent, type Money } from './money.ts'

const rates: Rates = {
  provider: 'test',
  asOf: '2026-11-19',
  perEuro: new Map(
    Object.entries({
      USD: '1.0850',
      GBP: '0.8',
      JPY: '160',
      HUF: '400.5',
      IDR: '17000',
      KWD: '0.333',
      CHF: '0.9321',
    }).map(([code, text]) => [code, parseRate(text)!]),
  ),
}
const money = (minor: number, currency: string): Money => ({ minor, currency })

test('crosses go through the euro and are rounded once, half up', () => {
  const cases: [Money[], string, number][] = [
    [[money(10_000, 'EUR')], 'USD', 10_850],
    [[money(10_850, 'USD')], 'EUR', 10_000],
    [[money(8_000, 'GBP')], 'USD', 10_850],
    // 100.00 EUR are 16,000 yen, which have no decimals; 40,050.00 forint; 33.300 dinar.
    [[money(10_000, 'EUR')], 'JPY', 16_000],
    [[money(10_000, 'EUR')], 'HUF', 4_005_000],
    [[money(10_000, 'EUR')], 'IDR', 170_000_000],
    [[money(10_000, 'EUR')], 'KWD', 33_300],
    // 1 yen = 0.00625 EUR, rounded to a cent; 2 yen = 0.0125 EUR; 4 yen = 0.025 EUR, exactly half a cent above 0.02.
    [[money(1, 'JPY')], 'EUR', 1],
    [[money(2, 'JPY')], 'EUR', 1],
    [[money(4, 'JPY')], 'EUR', 3],
    // Each alone is 0.625 cents and would be rounded up: together 2.5 cents, not 4.
    [[money(1, 'JPY'), money(1, 'JPY'), money(1, 'JPY'), money(1, 'JPY')], 'EUR', 3],
    // 1.00 GBP = 1.25 EUR and 1.00 USD = 0.92165… EUR: 2.17165… EUR.
    [[money(100, 'GBP'), money(100, 'USD')], 'EUR', 217],
    [[money(100, 'EUR'), money(100, 'GBP')], 'EUR', 225],
    // Half up, not away from zero.
    [[money(-4, 'JPY')], 'EUR', -2],
    [[money(-1, 'JPY')], 'EUR', -1],
    [[], 'USD', 0],
  ]
  for (const [parts, currency, minor] of cases) {
    assert.deepEqual(
      convert(parts, currency, rates),
      money(minor, currency),
      `${JSON.stringify(parts)} in ${currency}`,
    )
  }
})

test('amounts already in the currency need no rates', () => {
  assert.deepEqual(convert([money(1, 'AED'), money(2, 'AED')], 'AED', undefined), money(3, 'AED'))
  assert.equal(referencePrice(money(1_234, 'USD'), undefined), 123_400)
})

test('a missing rate, missing rates and unknown currencies give nothing', () => {
  assert.equal(convert([money(1, 'AED')], 'USD', rates), undefined)
  assert.equal(convert([money(1, 'USD')], 'AED', rates), undefined)
  assert.equal(convert([money(1, 'USD'), money(1, 'AED')], 'USD', rates), undefined)
  assert.equal(convert([money(1, 'USD')], 'EUR', undefined), undefined)
  assert.equal(convert([money(1, 'XXX')], 'XXX', rates), undefined)
  assert.equal(referencePrice(money(1, 'AED'), rates), undefined)
})

test('a sum beyond the range of amounts is a defect, not a wrong number', () => {
  assert.throws(() => convert([money(999_999_999_999_999, 'EUR')], 'IDR', rates), RangeError)
  assert.throws(() => convert([money(999_999_999_999_999, 'EUR'), money(1, 'EUR')], 'EUR', rates), RangeError)
})

test('a reference price is in ten-thousandths of a dollar', () => {
  assert.equal(referencePrice(money(10_000, 'EUR'), rates), 1_085_000)
  // 1 yen = 1.085 / 160 = 0.00678125 dollars.
  assert.equal(referencePrice(money(1, 'JPY'), rates), 68)
  assert.equal(referencePrice(money(1_000, 'KWD'), rates), Math.floor((10_850 * 1000) / 333 + 0.5))
})

test('convert equals a sum of fractions over one common denominator', () => {
  const decimal = fc
    .tuple(fc.bigInt({ min: 1n, max: 10n ** 12n }), fc.integer({ min: 0, max: 8 }))
    .map(([digits, scale]): Decimal => ({ digits, scale }))
  const codes = ['EUR', 'USD', 'JPY', 'HUF', 'IDR', 'KWD'] as const
  const code = fc.constantFrom(...codes)
  const parts = fc.array(fc.record({ minor: fc.integer({ min: 0, max: 10_000_000 }), currency: code }), {
    maxLength: 6,
  })
  const table = fc.record({ USD: decimal, JPY: decimal, HUF: decimal, IDR: decimal, KWD: decimal })
  fc.assert(
    fc.property(parts, code, table, (parts, target, table) => {
      const rateOf = (code: string): Decimal =>
        code === 'EUR' ? { digits: 1n, scale: 0 } : table[code as 'USD']
      const ten = (n: number) => 10n ** BigInt(n)
      // The denominator of a part is 10^exponent × digits of its rate; all are brought over the product for every currency.
      const denominators = codes.map(code => ten(currencyExponent(code)!) * rateOf(code).digits)
      const common = denominators.reduce((product, each) => product * each, 1n)
      const over = parts.reduce((sum, { minor, currency }) => {
        const own = denominators[codes.indexOf(currency)]!
        return sum + BigInt(minor) * ten(rateOf(currency).scale) * (common / own)
      }, 0n)
      const to = rateOf(target)
      const numerator = over * to.digits * ten(currencyExponent(target)!)
      const denominator = common * ten(to.scale)
      const expected = (2n * numerator + denominator) / (2n * denominator)
      if (expected > 999_999_999_999_999n) return
      const rates = { provider: 'any', asOf: '2026-11-19', perEuro: new Map(Object.entries(table)) }
      assert.deepEqual(convert(parts, target, rates), { minor: Number(expected), currency: target })
    }),
    { numRuns: 500 },
  )
})

test('rates keep their decimals', () => {
  for (const text of ['1.0850', '160', '0.8', '0.00001', '17000.50'])
    assert.equal(formatRate(parseRate(text)!), text)
  for (const text of ['', '0', '0.000', '-1', '1,5', '1e3', '.5', '1.', '1234567890123', '1.1234567890123']) {
    assert.equal(parseRate(text), undefined, text)
  }
})

const envelope = (days: string) => `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
  <gesmes:subject>Reference rates</gesmes:subject>
  <gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender>
  <Cube>
    ${days}
  </Cube>
</gesmes:Envelope>
`
const day = (date: string, cubes: string) => `<Cube time="${date}">${cubes}</Cube>`
const read = (xml: string) =>
  parseEcb(xml).map(({ asOf, perEuro }) => [
    asOf,
    Object.fromEntries([...perEuro].map(([code, rate]) => [code, formatRate(rate)])),
  ])

test('a daily file, in single quotes, is one day', () => {
  const xml = envelope(
    `<Cube time='2026-11-19'><Cube currency='USD' rate='1.0850'/><Cube currency='JPY' rate='160.12'/></Cube>`,
  )
  assert.deepEqual(read(xml), [['2026-11-19', { USD: '1.0850', JPY: '160.12' }]])
  assert.equal(parseEcb(xml)[0]!.provider, 'ECB')
  assert.deepEqual(read(`\uFEFF${xml}`), read(xml))
})

test('a file of many days, in double quotes, gives the newest first', () => {
  const xml = envelope(
    `<!-- two <Cube> days -->${day('2026-11-18', '<Cube currency="USD" rate="1.08"/>')}
    ${day('2026-11-19', '<Cube rate="1.09"\n  currency="USD" />')}`,
  )
  assert.deepEqual(read(xml), [
    ['2026-11-19', { USD: '1.09' }],
    ['2026-11-18', { USD: '1.08' }],
  ])
})

test('currencies that have ended are left out', () => {
  const xml = envelope(
    day('2026-11-19', '<Cube currency="BGN" rate="1.9558"/><Cube currency="USD" rate="1.09"/>'),
  )
  assert.deepEqual(read(xml), [['2026-11-19', { USD: '1.09' }]])
})

test('what is wrong with a file is said, with its line', () => {
  const usd = '<Cube currency="USD" rate="1.09"/>'
  const good = envelope(day('2026-11-19', usd))
  const cases: [string, RegExp][] = [
    ['', /no rates in it/],
    ['rates, please', /no rates in it/],
    [envelope(''), /no rates in it/],
    [good.slice(0, good.indexOf('</gesmes:Envelope')), /ends inside <gesmes:Envelope>/],
    [good.slice(0, good.indexOf('</Cube>')), /ends inside <Cube>/],
    [good.slice(0, good.indexOf('rate="1')), /line 6: .*broken tags/],
    [
      good.replace('?>', '?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
      /line 1: document types/,
    ],
    [envelope(day('2026-11-19', '<![CDATA[x]]>')), /line 6: document types/],
    [envelope(day('2026-02-30', usd)), /line 6: "2026-02-30" is not a date/],
    [envelope(day('2026-11-19', usd) + day('2026-11-19', usd)), /2026-11-19 is given twice/],
    [envelope(day('2026-11-19', usd + usd)), /USD is given twice/],
    [envelope(day('2026-11-19', '')), /a day without rates/],
    [envelope('<Cube time="2026-11-19"/>'), /a day without rates/],
    [envelope(usd), /a rate outside of any day/],
    [envelope(day('2026-11-19', usd) + usd), /a rate outside of any day/],
    [envelope(day('2026-11-19', day('2026-11-18', usd))), /a day inside another day/],
    [envelope(day('2026-11-19', '<Cube currency="USD"/>')), /the rate of USD/],
    [envelope(day('2026-11-19', '<Cube currency="USD" rate="0"/>')), /the rate of USD/],
    [envelope(day('2026-11-19', '<Cube currency="USD" rate="&amp;"/>')), /the rate of USD/],
    [envelope(day('2026-11-19', '<Cube currency="usd" rate="1"/>')), /"usd" is not a currency/],
    [envelope(day('2026-11-19', '<Cube currency="EUR" rate="1"/>')), /"EUR" is not a currency/],
    [envelope(day('2026-11-19', `${usd}</Envelope>`)), /<\/Envelope> closes nothing/],
    [' '.repeat(ECB_LENGTH_MAX + 1), /longer than/],
  ]
  for (const [xml, message] of cases)
    assert.throws(() => parseEcb(xml), { name: 'SyntaxError', message }, String(message))
})

test('no file takes long, whatever is in it', () => {
  const long = ECB_LENGTH_MAX - 100
  for (const xml of [
    '<'.repeat(long),
    '<!--'.repeat(long / 4),
    `<Cube${' '.repeat(long)}`,
    `<${'a'.repeat(long)}`,
    `<Cube ${'a="b" '.repeat(long / 6)}`,
    '<a>'.repeat(long / 3),
  ]) {
    const before = performance.now()
    assert.throws(() => parseEcb(xml), SyntaxError)
    assert.ok(performance.now() - before < 3_000, xml.slice(0, 12))
  }
})
