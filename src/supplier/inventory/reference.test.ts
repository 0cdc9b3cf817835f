import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { CABINS } from '../../travel/itinerary.ts'
import { REFERENCE_MAX } from '../supplier.ts'
import { decodeReference, encodeReference } from './reference.ts'

const letters = (length: number) => fc.stringMatching(new RegExp(`^[A-Z]{${length}}$`))

const segment = fc.record(
  {
    carrier: fc.stringMatching(/^[A-Z0-9]{2,3}$/),
    number: fc.integer({ min: 0, max: 9_999 }),
    suffix: fc.constantFrom('', 'A', 'Z'),
    from: letters(3),
    to: letters(3),
    departure: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    elapsed: fc.integer({ min: 1, max: 65_535 }),
    bookingClass: letters(1),
    fare: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    currency: letters(3),
  },
  { noNullPrototype: true },
)

const reference = fc.record(
  {
    cabin: fc.constantFrom(...CABINS),
    slices: fc.array(fc.array(segment, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }),
  },
  { noNullPrototype: true },
)

it('packs what it reads back, within what an offer has room for', () => {
  fc.assert(
    fc.property(reference, fc.nat(5), (one, shift) => {
      const bytes = encodeReference(one)
      assert.ok(bytes.length <= REFERENCE_MAX)
      // As a view into a larger buffer, the way the database driver hands bytes out.
      const within = new Uint8Array(bytes.length + shift)
      within.set(bytes, shift)
      assert.deepEqual(decodeReference(within.subarray(shift)), one)
    }),
    { numRuns: 1_000 },
  )
})

it('refuses another layout', () => {
  assert.throws(() => decodeReference(new Uint8Array([2, 0, 0])), /layout 2/)
  assert.throws(() => decodeReference(new Uint8Array()), /layout/)
})
