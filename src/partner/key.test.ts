import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { deriveKey } from '../secret.ts'
import { hashKey, keyHint, keyLength, keyPattern, makeKey, PEPPER_PURPOSE, readKey, sameHash } from './key.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('a new key has the documented form, and no two are alike', () => {
  const keys = Array.from({ length: 1000 }, (_, i) => makeKey('air', i % 2 === 0 ? 'live' : 'test'))
  for (const [i, key] of keys.entries()) {
    assert.match(key, /^air_(live|test)_[0-9A-Za-z]{38}$/)
    assert.equal(key.length, keyLength('air'))
    assert.deepEqual(readKey('air', key), { kind: 'key', mode: i % 2 === 0 ? 'live' : 'test' })
  }
  assert.equal(new Set(keys).size, keys.length)
})

test('the checksum is CRC-32 in base 62, most significant first (worked example for scanner authors)', () => {
  const start = `air_test_${'0'.repeat(32)}`
  let crc = 0xffffffff
  for (const byte of Buffer.from(start)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  let value = (crc ^ 0xffffffff) >>> 0
  let text = ''
  for (let i = 0; i < 6; i++, value = Math.floor(value / 62)) text = BASE62[value % 62] + text
  assert.equal(readKey('air', start + text).kind, 'key')
})

test('of 100,000 mutated and made-up keys none is accepted, and each unmutated one is', () => {
  const change = fc.oneof(
    fc.record({
      kind: fc.constant('replace' as const),
      at: fc.nat(),
      by: fc.constantFrom(...BASE62, '_', '-', ' ', 'é', '\0'),
    }),
    fc.record({ kind: fc.constant('swap' as const), at: fc.nat() }),
    fc.record({ kind: fc.constant('drop' as const), at: fc.nat() }),
    fc.record({ kind: fc.constant('double' as const), at: fc.nat() }),
    fc.record({ kind: fc.constant('case' as const), at: fc.nat() }),
    fc.record({
      kind: fc.constant('invent' as const),
      body: fc.string({ unit: fc.constantFrom(...BASE62), minLength: 38, maxLength: 38 }),
    }),
  )
  let mutants = 0
  fc.assert(
    fc.property(fc.constantFrom('live' as const, 'test' as const), change, (mode, how) => {
      const key = makeKey('air', mode)
      assert.equal(readKey('air', key).kind, 'key')
      let mutant: string
      if (how.kind === 'invent') mutant = `air_${mode}_${how.body}`
      else {
        const at = how.at % key.length
        const [before, here, after] = [key.slice(0, at), key[at]!, key.slice(at + 1)]
        if (how.kind === 'replace') mutant = before + how.by + after
        else if (how.kind === 'drop') mutant = before + after
        else if (how.kind === 'double') mutant = before + here + here + after
        else if (how.kind === 'case')
          mutant = before + (here === here.toUpperCase() ? here.toLowerCase() : here.toUpperCase()) + after
        else mutant = before + (after[0] ?? '') + here + after.slice(1)
      }
      if (mutant === key) return
      mutants++
      assert.notEqual(readKey('air', mutant).kind, 'key', mutant)
    }),
    { numRuns: 110_000 },
  )
  assert.ok(mutants > 100_000, `only ${mutants} keys were really changed`)
})

test('a text is told apart: without prefix, malformed, mistyped', () => {
  const key = makeKey('air', 'live')
  const off = key.endsWith('0') ? '1' : '0'
  for (const text of [
    '',
    'air',
    'air_live',
    'air_LIVE_x',
    `x${key}`,
    key.replace('air', 'sky'),
    'sk_live_abc',
  ]) {
    assert.equal(readKey('air', text).kind, 'unprefixed', text)
  }
  for (const text of [
    'air_live_',
    'air_test_abc',
    key.slice(0, -1),
    `${key}0`,
    `${key.slice(0, -1)}!`,
    `air_live_${'a'.repeat(8000)}`,
  ]) {
    assert.equal(readKey('air', text).kind, 'malformed', text)
  }
  assert.equal(readKey('air', key.slice(0, -1) + off).kind, 'mistyped')
  assert.equal(
    readKey('air', key.replace('air_live_', 'air_test_')).kind,
    'mistyped',
    'the mode is under the checksum',
  )
  assert.equal(readKey('sky', makeKey('sky', 'test')).kind, 'key', 'an operator may choose the prefix')
})

test('the hash depends on every character and on the pepper', () => {
  const pepper = deriveKey('s'.repeat(32), PEPPER_PURPOSE)
  const key = makeKey('air', 'live')
  assert.equal(hashKey(pepper, key).length, 32)
  assert.ok(sameHash(hashKey(pepper, key), hashKey(pepper, key)))
  assert.ok(!sameHash(hashKey(pepper, key), hashKey(pepper, makeKey('air', 'live'))))
  assert.ok(!sameHash(hashKey(pepper, key), hashKey(deriveKey('t'.repeat(32), PEPPER_PURPOSE), key)))
  assert.ok(!sameHash(hashKey(pepper, key), new Uint8Array(31)))
})

test('a key is shown as prefix and last four', () => {
  const key = makeKey('air', 'test')
  assert.equal(keyHint('air', 'test', key), `air_test_…${key.slice(-4)}`)
})

test('the scanner pattern finds keys in text and leaves the rest', () => {
  const [a, b] = [makeKey('air', 'live'), makeKey('air', 'test')]
  const text = `KEY="${a}"\nurl=https://x/?k=${b}&air_live_short air_live_${'a'.repeat(39)} chair_live_${'a'.repeat(38)}`
  assert.deepEqual(text.match(keyPattern('air')), [a, b])
})
