import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { bookingOf, day, openPartner, passenger } from './support.ts'

/** Hundreds of bodies that are wrong in one place each: every one is refused with 400 in the one shape, naming the place, and changes nothing. */
const { house, call, offer } = await openPartner()
after(() => house.stop())

type Case = { path: string; what: string; body: string | Uint8Array; param?: string; canary?: string }

const SEARCH = { origin: 'LHR', destination: 'SIN', departDate: day(30) }
const BOOK = bookingOf(await offer())

const NOT_TEXT: unknown[] = [null, 0, 1.5, true, [], {}, ['LHR']]
const HOSTILE_TEXT = ['', ' ', 'a\u0000', '\ud800', '\udfff x', 'x'.repeat(60_000)]

const cases: Case[] = []
const add = (path: string, what: string, value: unknown, param?: string) =>
  cases.push({ path, what, body: JSON.stringify(value), ...(param === undefined ? {} : { param }) })
const show = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 40)

function wrong(
  path: string,
  whole: Record<string, unknown>,
  field: string,
  values: readonly unknown[],
): void {
  for (const value of values) {
    // NUL and halves of pairs are refused for the body as a whole, before its fields are looked at.
    const unstorable = typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())
    add(path, `${field} = ${show(value)}`, { ...whole, [field]: value }, unstorable ? 'body' : field)
  }
}

function missing(path: string, whole: Record<string, unknown>, fields: readonly string[]): void {
  for (const field of fields)
    add(
      path,
      `no ${field}`,
      Object.fromEntries(Object.entries(whole).filter(([name]) => name !== field)),
      field,
    )
}

const DATES = [
  '2027-02-30',
  '2027-13-01',
  '2027-00-10',
  '2027-1-1',
  '27-01-01',
  '01/02/2027',
  '2027-01-01T00:00:00Z',
  '2027-01-01 ',
  'tomorrow',
  '0000-00-00',
  '2027-02-29',
  '+2027-01-01',
  '٢٠٢٧-٠١-٠١',
]

missing('/travel/search', SEARCH, ['origin', 'destination', 'departDate'])
for (const field of ['origin', 'destination']) {
  wrong('/travel/search', SEARCH, field, [
    ...NOT_TEXT,
    ...HOSTILE_TEXT,
    'LH',
    'LHRX',
    'lhr',
    'L1R',
    'LHR\n',
    ' LHR',
    'ÄÖÜ',
    'EGLL',
    "'; drop table booking; --",
  ])
}
wrong('/travel/search', SEARCH, 'departDate', [
  ...NOT_TEXT,
  ...HOSTILE_TEXT,
  ...DATES,
  '9999-12-31',
  '1999-12-31',
])
wrong('/travel/search', SEARCH, 'returnDate', [...NOT_TEXT, ...HOSTILE_TEXT, ...DATES])
wrong('/travel/search', SEARCH, 'passengers', [
  null,
  '1',
  '',
  true,
  [],
  {},
  [1],
  0,
  -1,
  10,
  1.5,
  1e21,
  2 ** 53 + 2,
])
wrong('/travel/search', SEARCH, 'class', [
  ...NOT_TEXT,
  ...HOSTILE_TEXT,
  'Economy',
  'premium_economy',
  'y',
  'constructor',
  '__proto__',
])
wrong('/travel/search', SEARCH, 'currency', [
  ...NOT_TEXT,
  ...HOSTILE_TEXT,
  'usd',
  'US',
  'USDX',
  'XXX',
  'XAU',
  '840',
  '$',
  'ABC',
])
for (const text of ['-0', '1e400', '-1e400', '0.1', '9007199254740993', '1.0000000000000002']) {
  cases.push({
    path: '/travel/search',
    what: `passengers = ${text}`,
    body: `{"origin":"LHR","destination":"SIN","departDate":"${day(30)}","passengers":${text}}`,
    param: 'passengers',
  })
}

missing('/travel/book', BOOK, ['offerId', 'passengers', 'contactEmail', 'contactPhone'])
wrong('/travel/book', BOOK, 'offerId', [
  ...NOT_TEXT,
  ...HOSTILE_TEXT,
  'off_',
  'undefined',
  `${BOOK.offerId}=`,
  ` ${BOOK.offerId}`,
  'off_%00',
  '../../etc/passwd',
])
wrong('/travel/book', BOOK, 'passengers', [
  null,
  1,
  'Ada',
  true,
  {},
  [],
  { 0: passenger(0), length: 1 },
  Array.from({ length: 10 }, (_, i) => passenger(i)),
])
wrong('/travel/book', BOOK, 'contactEmail', [
  ...NOT_TEXT,
  ...HOSTILE_TEXT,
  'ada',
  'ada@',
  '@example.com',
  'ada@example',
  'a b@example.com',
  'ada@@example.com',
  'ada@exa mple.com',
  `${'a'.repeat(250)}@example.com`,
  'ada@example.com\r\nBcc: all@example.com',
  'ada@example.com,eve@example.com',
  '<ada@example.com>',
])
wrong('/travel/book', BOOK, 'contactPhone', [
  ...NOT_TEXT,
  ...HOSTILE_TEXT,
  '442079460018',
  '0044 20 7946 0018',
  '+',
  '++442079460018',
  '+44',
  '+0000000000',
  '+999123456789',
  '+44207946001800000000',
  '+44abc',
  'tel:+442079460018',
  '+44\n2079460018',
  '(+44)2079460018',
])

const inPassenger = (field: string, values: readonly unknown[]) => {
  for (const value of values) {
    const unstorable = typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())
    add(
      '/travel/book',
      `passengers[0].${field} = ${show(value)}`,
      { ...BOOK, passengers: [passenger(0, { [field]: value })] },
      unstorable ? 'body' : `passengers[0].${field}`,
    )
  }
}
for (const field of [
  'firstName',
  'lastName',
  'dateOfBirth',
  'documentType',
  'documentNumber',
  'documentExpiry',
]) {
  const { [field]: _, ...rest } = passenger(0)
  add('/travel/book', `no passengers[0].${field}`, { ...BOOK, passengers: [rest] }, `passengers[0].${field}`)
}
for (const field of ['firstName', 'lastName'])
  inPassenger(field, [
    ...NOT_TEXT,
    ...HOSTILE_TEXT,
    '123',
    '--',
    '\t',
    'A\nB',
    'A\u0007',
    'A\u202eB',
    'a'.repeat(101),
    '😀',
  ])
for (const field of ['dateOfBirth', 'documentExpiry'])
  inPassenger(field, [...NOT_TEXT, ...HOSTILE_TEXT, ...DATES])
inPassenger('dateOfBirth', [day(0), day(1), '2999-01-01', '1850-01-01', '0001-01-01'])
inPassenger('documentExpiry', [day(-1), day(5), '1990-01-01'])
inPassenger('documentType', [...NOT_TEXT, ...HOSTILE_TEXT, 'Passport', 'visa', 'id'])
inPassenger('documentNumber', [
  ...NOT_TEXT,
  ...HOSTILE_TEXT,
  'X1',
  'x'.repeat(33),
  'X123_4567',
  'X1234567;',
  '<script>',
  'Ж1234567',
  '-1234567',
  'X1234\n567',
])
for (const value of [null, 1, 'Ada', [], true])
  add('/travel/book', `passengers[0] = ${show(value)}`, { ...BOOK, passengers: [value] })
add(
  '/travel/book',
  'two passengers with one document',
  { ...BOOK, passengers: [passenger(0), passenger(0, { firstName: 'Eve' })] },
  'passengers[1].documentNumber',
)
add(
  '/travel/book',
  'two passengers with one document, spelled otherwise',
  {
    ...BOOK,
    passengers: [
      passenger(0, { documentNumber: 'AB 1234567' }),
      passenger(0, { documentNumber: 'ab1234567' }),
    ],
  },
  'passengers[1].documentNumber',
)

const utf8 = (...bytes: number[]) => Uint8Array.from(bytes)
const text = (value: string) => new TextEncoder().encode(value)
const joined = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap(part => [...part]))
for (const path of ['/travel/search', '/travel/book']) {
  const whole = JSON.stringify(path === '/travel/search' ? SEARCH : BOOK)
  const raw: [string, string | Uint8Array][] = [
    ['nothing', ''],
    ['a blank', ' '],
    ['a brace', '{'],
    ['half a body', whole.slice(0, -5)],
    ['a comma at the end', `${whole.slice(0, -1)},}`],
    ['two values', whole + whole],
    ['single quotes', "{'origin':'LHR'}"],
    ['a comment', `/* */${whole}`],
    ['NaN', '{"passengers":NaN}'],
    ['a list', `[${whole}]`],
    ['null', 'null'],
    ['text', '"text"'],
    ['a number', '1'],
    ['true', 'true'],
    ['an empty object', '{}'],
    ['a byte order mark', joined(utf8(0xef, 0xbb, 0xbf), text(whole))],
    [
      'UTF-16',
      joined(utf8(0xff, 0xfe), new Uint8Array(new Uint16Array([...whole].map(c => c.charCodeAt(0))).buffer)),
    ],
    ['a stray byte', joined(text('{"a":"'), utf8(0xff), text('"}'))],
    ['an overlong slash', joined(text('{"a":"'), utf8(0xc0, 0xaf), text('"}'))],
    ['half a character', joined(text('{"a":"'), utf8(0xe2, 0x82), text('"}'))],
    ['an encoded surrogate', joined(text('{"a":"'), utf8(0xed, 0xa0, 0x80), text('"}'))],
    ['a control character in text', '{"origin":"L\u0001R"}'],
    ['NUL in an unknown field', `${whole.slice(0, -1)},"x":"\\u0000"}`],
    ['NUL in a name of a field', `${whole.slice(0, -1)},"\\u0000":1}`],
    ['half a pair in an unknown field', `${whole.slice(0, -1)},"x":["\\ud83d"]}`],
    ['__proto__', `${whole.slice(0, -1)},"__proto__":{"passengers":1}}`],
    ['constructor.prototype', `${whole.slice(0, -1)},"constructor":{"prototype":{"a":1}}}`],
    ['60,000 levels of lists', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['60,000 open lists', '['.repeat(60_000)],
    ['a deep unknown field', `${whole.slice(0, -1)},"x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['deep objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['XML', '<origin>LHR</origin>'],
    ['a form', 'origin=LHR&destination=SIN'],
  ]
  for (const [what, body] of raw) cases.push({ path, what, body })
}

test(`there are hundreds: ${cases.length}`, () => assert.ok(cases.length >= 200))

for (const { path, what, body, param } of cases) {
  test(`7 invalid_params: ${path} with ${what}`, async () => {
    const startedMs = performance.now()
    const { status, json, text: answer } = await call(path, { body })
    assert.equal(status, 400, answer.slice(0, 300))
    assert.equal(json.error.code, 'invalid_params')
    assert.equal(json.error.retryable, false)
    assert.doesNotMatch(
      answer,
      /Invalid input|Too (big|small)|expected|node_modules|\bat \w+ \(/,
      'our own words, no stack',
    )
    if (param !== undefined) {
      assert.equal(json.error.param, param)
      if (param !== 'body') assert.ok(json.error.details?.some(detail => detail.param === param))
    }
    assert.ok(performance.now() - startedMs < 1000, 'at once')
  })
}

test('nothing of a passenger is ever repeated', async () => {
  const secret = {
    firstName: 'Q7canary\u0007',
    lastName: 'Q7canary\n',
    documentNumber: 'Q7canary;',
    dateOfBirth: '2027-Q7canary',
    documentExpiry: 'Q7canary',
    documentType: 'Q7canary',
  }
  const { text: answer } = await call('/travel/book', {
    body: {
      ...BOOK,
      passengers: [passenger(0, secret)],
      contactEmail: 'Q7canary',
      contactPhone: '+Q7canary',
    },
    headers: { 'idempotency-key': 'Q7canary' },
  })
  assert.doesNotMatch(answer, /Q7canary/)
  assert.doesNotMatch(house.log(), /Q7canary/)
})

test('after all that nothing is booked and the house answers', async () => {
  const { status, json } = await call('/travel/bookings')
  assert.equal(status, 200)
  assert.equal(json.bookings.length, 0)
})
