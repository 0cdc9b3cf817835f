import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import fc from 'fast-check'
import { newId } from '../id.ts'
import { deriveKey } from '../secret.ts'
import { encodeReference } from '../supplier/inventory/reference.ts'
import { REFERENCE_MAX } from '../supplier/supplier.ts'
import { OFFER_ID_MAX, type OfferContents, offerHash, openOffer, sealOffer } from './seal.ts'

const key = deriveKey('a secret', 'offer intl')
const account = newId('acc')

const PLAIN = { noNullPrototype: true } as const
const contents: fc.Arbitrary<OfferContents> = fc.record(
  {
    mode: fc.constantFrom('live', 'test'),
    issuedAt: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    passengers: fc.integer({ min: 1, max: 9 }),
    lastDay: fc.integer({ min: 0, max: 65_535 }),
    perPerson: fc.record(
      {
        minor: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
        currency: fc.constantFrom('USD', 'JPY', 'KWD'),
      },
      PLAIN,
    ),
    rates: fc.constantFrom('', 'ECB 2026-11-20', 'demo 2026-11-20'),
    supplier: fc.constantFrom('inventory', 'duffel', 'a'),
    reference: fc.uint8Array({ maxLength: REFERENCE_MAX }),
  },
  PLAIN,
)

it('gives back what it sealed, for the account and mode it was sealed for', () => {
  fc.assert(
    fc.property(contents, offer => {
      const id = sealOffer(key, account, offer)
      assert.ok(id.length <= OFFER_ID_MAX)
      assert.match(id, /^off_[\w-]+$/)
      const opened = openOffer(key, account, offer.mode, id)
      assert.deepEqual({ ...opened, reference: Uint8Array.from(opened.reference) }, offer)
    }),
    { numRuns: 500 },
  )
})

const one: OfferContents = {
  mode: 'live',
  issuedAt: 1_800_000_000_000,
  passengers: 2,
  lastDay: 9_999,
  perPerson: { minor: 12_345, currency: 'USD' },
  rates: '',
  supplier: 'inventory',
  reference: new Uint8Array([1, 2, 3]),
}
const refused = { code: 'invalid_params' }

it('refuses every flipped bit, and every other text', () => {
  const id = sealOffer(key, account, one)
  const sealed = Buffer.from(id.slice(4), 'base64url')
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const altered = Buffer.from(sealed)
    altered[bit >> 3]! ^= 1 << (bit & 7)
    assert.throws(
      () => openOffer(key, account, 'live', `off_${altered.toString('base64url')}`),
      refused,
      `bit ${bit}`,
    )
  }
  // The last character carries bits that decoding drops: they too must be as they were.
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const others = [...alphabet].map(character => id.slice(0, -1) + character).filter(other => other !== id)
  for (const other of [
    ...others,
    `${id}A`,
    `${id}=`,
    id.slice(0, -1),
    id.replace('off_', 'OFF_'),
    `${id}\n`,
    '',
    'off_',
  ]) {
    assert.throws(() => openOffer(key, account, 'live', other), refused, other)
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text =>
      assert.throws(() => openOffer(key, account, 'live', text), refused),
    ),
  )
  assert.throws(() => openOffer(key, account, 'live', `off_${'A'.repeat(10_000_000)}`), refused)
})

it('refuses another account, mode, region and secret', () => {
  const id = sealOffer(key, account, one)
  assert.throws(() => openOffer(key, newId('acc'), 'live', id), refused)
  assert.throws(() => openOffer(key, account, 'test', id), refused)
  assert.throws(() => openOffer(deriveKey('a secret', 'offer cn'), account, 'live', id), refused)
  assert.throws(() => openOffer(randomBytes(32), account, 'live', id), refused)
})

it('is another token each time, and each token is booked as itself', () => {
  const [a, b] = [sealOffer(key, account, one), sealOffer(key, account, one)]
  assert.notEqual(a, b)
  assert.notDeepEqual(offerHash(a), offerHash(b))
})

it('stays short: six segments make a token of under 400 characters', () => {
  const segment = {
    carrier: 'ZX',
    number: 1234,
    suffix: '',
    from: 'SIN',
    to: 'HKG',
    departure: 14_000_000,
    elapsed: 240,
    bookingClass: 'Y',
    fare: 12_345,
    currency: 'USD',
  }
  const sizes = [1, 2, 3, 4, 5, 6].map(segments => {
    const reference = encodeReference({ cabin: 'economy', slices: [Array(segments).fill(segment)] })
    return sealOffer(key, account, { ...one, rates: 'ECB 2026-11-20', reference }).length
  })
  assert.deepEqual(
    sizes,
    [...sizes].sort((a, b) => a - b),
  )
  assert.ok(sizes[0]! < 200 && sizes[5]! < 400, `${sizes}`)
})
