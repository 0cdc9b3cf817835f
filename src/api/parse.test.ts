import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Refusal } from '../refusal.ts'
import { parseBooking, parseIdempotencyKey, parsePage, parseSearch } from './parse.ts'

const NOW = Date.UTC(2026, 10, 21, 10)
const SEARCH = { origin: 'LHR', destination: 'SIN', departDate: '2027-03-28' }
const PASSENGER = {
  firstName: 'Ada',
  lastName: 'Byron',
  dateOfBirth: '1990-12-10',
  documentType: 'passport',
  documentNumber: 'X1234567',
  documentExpiry: '2031-06-30',
}
const BOOKING = {
  offerId: 'off_x',
  passengers: [PASSENGER],
  contactEmail: 'ada@example.com',
  contactPhone: '+442079460018',
}

/** The refusal that `run` throws. */
function refusal(run: () => unknown): Refusal {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    return error
  }
  return assert.fail('not refused')
}

const oneOf = (some: Record<string, unknown>) =>
  parseBooking({ ...BOOKING, passengers: [{ ...PASSENGER, ...some }] }, NOW).passengers[0]!

describe('a search', () => {
  test('has defaults', () => {
    assert.deepEqual(parseSearch(SEARCH, 'CNY'), {
      ...SEARCH,
      returnDate: undefined,
      passengers: 1,
      cabin: 'economy',
      currency: 'CNY',
    })
  })

  test('takes what is given and drops what it does not know', () => {
    const whole = { ...SEARCH, returnDate: '2027-04-04', passengers: 9, class: 'first', currency: 'JPY' }
    assert.deepEqual(parseSearch({ ...whole, cabin: 'x' }, 'USD'), {
      ...SEARCH,
      returnDate: '2027-04-04',
      passengers: 9,
      cabin: 'first',
      currency: 'JPY',
    })
  })

  test('is refused with every faulty field, one fault a field, the first named', () => {
    const { code, more, message } = refusal(() =>
      parseSearch({ origin: 5, departDate: '2027-02-29', passengers: 0, class: 'x' }, 'USD'),
    )
    assert.equal(code, 'invalid_params')
    assert.equal(more.param, 'origin')
    assert.ok(message.startsWith('origin: '))
    assert.deepEqual(
      more.details?.map(({ param, code }) => [param, code]),
      [
        ['origin', 'invalid_type'],
        ['destination', 'required'],
        ['departDate', 'invalid_format'],
        ['passengers', 'out_of_range'],
        ['class', 'not_allowed'],
      ],
    )
  })

  test('that is no object is refused as a whole', () => {
    for (const body of [undefined, null, 1, 'x', []])
      assert.equal(refusal(() => parseSearch(body, 'USD')).more.param, 'body')
  })
})

describe('a booking', () => {
  test('is normalised: blanks around, composed letters, phone in E.164', () => {
    const request = parseBooking(
      {
        ...BOOKING,
        passengers: [{ ...PASSENGER, firstName: ' Zoe\u0308 ', documentNumber: ' X1234567 ' }],
        contactEmail: ' ada@example.com ',
        contactPhone: '+44 (20) 7946-0018',
      },
      NOW,
    )
    assert.equal(request.passengers[0]!.firstName, 'Zo\u00eb')
    assert.equal(request.passengers[0]!.documentNumber, 'X1234567')
    assert.equal(request.contactEmail, 'ada@example.com')
    assert.equal(request.contactPhone, '+442079460018')
  })

  for (const name of [
    '李',
    "O'Brien-Smith",
    'Nguyễn Thị',
    'محمد',
    'Jr.',
    'X Æ A-12',
    '𠮷',
    'a'.repeat(100),
    'क्‍ष',
  ]) {
    test(`takes the name ${name.slice(0, 20)}`, () =>
      assert.equal(oneOf({ firstName: name }).firstName, name.normalize('NFC')))
  }

  test('takes births from yesterday to 120 years ago, by the day', () => {
    const born = (dateOfBirth: string) => oneOf({ dateOfBirth })
    born('2026-11-20')
    born('1906-11-21')
    for (const wrong of ['2026-11-21', '2026-11-22', '1906-11-20']) {
      assert.equal(refusal(() => born(wrong)).more.param, 'passengers[0].dateOfBirth', wrong)
    }
  })

  test('does not take one document for two, however it is spelled, but one number on two types of document', () => {
    const two = (some: Record<string, unknown>) =>
      parseBooking({ ...BOOKING, passengers: [PASSENGER, { ...PASSENGER, ...some }] }, NOW)
    assert.equal(refusal(() => two({ documentNumber: 'x 123-4567' })).more.details?.[0]?.code, 'duplicate')
    assert.equal(two({ documentType: 'national_id' }).passengers.length, 2)
  })

  for (const phone of [
    '+1 415 555 2671',
    '+86 138 1234 5678',
    '+8613812345678',
    '+49 30 901820',
    '+65 6123 4567',
    '+35315312345',
  ]) {
    test(`takes the phone number ${phone}`, () =>
      assert.match(parseBooking({ ...BOOKING, contactPhone: phone }, NOW).contactPhone, /^\+\d+$/))
  }

  test('shape and rules are refused together', () => {
    const { more } = refusal(() =>
      parseBooking(
        {
          ...BOOKING,
          offerId: 1,
          passengers: [{ ...PASSENGER, dateOfBirth: '2030-01-01' }],
          contactPhone: '+1',
        },
        NOW,
      ),
    )
    assert.deepEqual(
      more.details?.map(({ param }) => param),
      ['offerId', 'passengers[0].dateOfBirth', 'contactPhone'],
    )
  })
})

test('a page has defaults and bounds', () => {
  assert.deepEqual(parsePage(new URLSearchParams('')), { limit: 25, cursor: undefined })
  assert.deepEqual(parsePage(new URLSearchParams('limit=100&cursor=abc&status=failed')), {
    limit: 100,
    cursor: 'abc',
    status: 'failed',
  })
  for (const wrong of ['limit=0', 'limit=101', 'limit=01', 'limit=٣', 'status=x', 'cursor='])
    refusal(() => parsePage(new URLSearchParams(wrong)))
})

test('an Idempotency-Key is 1 to 255 visible characters or absent', () => {
  assert.equal(parseIdempotencyKey(undefined), undefined)
  for (const key of ['a', '~'.repeat(255), 'a,b;c=d']) assert.equal(parseIdempotencyKey(key), key)
  for (const key of ['', ' ', 'a b', 'a'.repeat(256), 'é', '\u007f', ['a', 'b']]) {
    assert.equal(refusal(() => parseIdempotencyKey(key)).more.param, 'Idempotency-Key')
  }
})

test('any JSON is taken or refused in our own words', () => {
  const fields = [
    'origin',
    'destination',
    'departDate',
    'returnDate',
    'passengers',
    'class',
    'currency',
    'offerId',
    'contactEmail',
    'contactPhone',
    ...Object.keys(PASSENGER),
  ]
  const field = fc.oneof(fc.constantFrom(...fields), fc.string())
  const leaf = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom('LHR', '2027-03-28', '+442079460018', 'passport', 1),
  )
  const body = fc.dictionary(
    field,
    fc.oneof(leaf, fc.array(fc.oneof(leaf, fc.dictionary(field, leaf)), { maxLength: 11 })),
  )
  fc.assert(
    fc.property(body, value => {
      for (const run of [() => parseSearch(value, 'USD'), () => parseBooking(value, NOW)]) {
        try {
          run()
        } catch (error) {
          assert.ok(error instanceof Refusal, String(error))
          for (const { message } of error.more.details ?? [])
            assert.doesNotMatch(message, /Invalid|expected|undefined/)
        }
      }
    }),
    { numRuns: 500 },
  )
})

test('no field takes long, however it is attacked', () => {
  for (const attack of [
    'a'.repeat(60_000),
    `${'a.'.repeat(30_000)}@`,
    `+${'1'.repeat(60_000)}`,
    `+${'1-'.repeat(30_000)}`,
    ' '.repeat(60_000),
    '\u0301'.repeat(30_000),
    '-'.repeat(60_000),
  ]) {
    const started = performance.now()
    const passengers = Array.from({ length: 9 }, () =>
      Object.fromEntries(Object.keys(PASSENGER).map(name => [name, attack])),
    )
    refusal(() =>
      parseBooking({ offerId: attack, passengers, contactEmail: attack, contactPhone: attack }, NOW),
    )
    assert.ok(
      performance.now() - started < 500,
      `${attack.slice(0, 5)}… took ${performance.now() - started} ms`,
    )
  }
})
