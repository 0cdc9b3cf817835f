import { timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomBase62 } from '../id.ts'
import { mac } from '../secret.ts'
import type { Mode } from '../supplier/supplier.ts'

/** Random characters of a key: 32 of base 62 carry 190 bits. */
const RANDOM_LENGTH = 32
/** Six characters of base 62 hold any CRC-32. */
const CHECKSUM_LENGTH = 6
const BODY = /^[0-9A-Za-z]{38}$/
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Version of the pepper that new keys are hashed under, stored beside each hash. */
export const PEPPER_VERSION = 1
/** What the pepper is derived for, see `deriveKey` in secret.ts. */
export const PEPPER_PURPOSE = 'key pepper'

/** What a text that should be a key turns out to be. Only `key` is worth a look-up. */
export type KeyReading =
  | { kind: 'key'; mode: Mode }
  /** Begins with neither prefix: not one of our keys at all. */
  | { kind: 'unprefixed' }
  /** Cut short, too long, or with a character that no key has. */
  | { kind: 'malformed' }
  /** Right form, wrong checksum: mistyped or made up. */
  | { kind: 'mistyped' }

/** A new key such as `air_live_…`: prefix and mode, 32 random characters, 6 of checksum over all before them. */
export function makeKey(prefix: string, mode: Mode): string {
  const start = `${prefix}_${mode}_${randomBase62(RANDOM_LENGTH)}`
  return start + checksum(start)
}

/** Reads a text as a key by its form alone; a `key` may still be unknown. */
export function readKey(prefix: string, text: string): KeyReading {
  const mode = text.startsWith(`${prefix}_live_`)
    ? 'live'
    : text.startsWith(`${prefix}_test_`)
      ? 'test'
      : undefined
  if (mode === undefined) return { kind: 'unprefixed' }
  // The length first, so that no pattern ever runs over a long text.
  if (text.length !== keyLength(prefix) || !BODY.test(text.slice(prefix.length + 6)))
    return { kind: 'malformed' }
  const start = text.slice(0, -CHECKSUM_LENGTH)
  return text.slice(-CHECKSUM_LENGTH) === checksum(start) ? { kind: 'key', mode } : { kind: 'mistyped' }
}

/** Characters of a whole key. */
export function keyLength(prefix: string): number {
  return prefix.length + '_live_'.length + RANDOM_LENGTH + CHECKSUM_LENGTH
}

/**
 * What is stored of a key: HMAC-SHA-256 under the pepper, 32 bytes. The pepper never enters the database, so a
 * stolen dump cannot even confirm a guess; a slow hash would add nothing to 190 random bits.
 * @param pepper `deriveKey(secret, PEPPER_PURPOSE)`
 */
export function hashKey(pepper: Buffer, key: string): Buffer {
  return mac(pepper, key)
}

/** Whether two hashes are equal, in a time that does not tell how far they agree. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/** How a key is shown once it has been handed out: prefix, mode and last four characters. */
export function keyHint(prefix: string, mode: Mode, key: string): string {
  return `${prefix}_${mode}_…${key.slice(-4)}`
}

/**
 * The pattern for secret scanners: finds every key in a text, and hardly anything else. What it finds is a key for
 * certain when `readKey` agrees: the last six characters are the CRC-32 (IEEE, as in zlib) of all characters
 * before them, in base 62 with the digits 0-9A-Za-z, most significant first, padded with 0.
 */
export function keyPattern(prefix: string): RegExp {
  return new RegExp(
    `(?<![0-9A-Za-z])${prefix}_(?:live|test)_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}(?![0-9A-Za-z])`,
    'g',
  )
}

function checksum(start: string): string {
  let rest = crc32(start)
  let out = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    out = ALPHABET[rest % 62] + out
    rest = Math.floor(rest / 62)
  }
  return out
}
