/** Characters that are not mistaken for one another when read aloud or on paper. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const LENGTH = 6
const BITS = 30
const MASK = 2 ** BITS - 1

/**
 * The record locator of the nth reservation: six characters, no two alike for the first 2^30, and in no order that could be guessed at a
 * glance. Multiplying by an odd number and folding the upper half into the lower are both reversible, so every ordinal has its own.
 */
export function recordLocator(ordinal: number): string {
  let value = ordinal & MASK
  for (const factor of [0x2c1b3c6d, 0x297a2d39, 0x1b56c4e9]) {
    value = Math.imul(value, factor) & MASK
    value ^= value >>> (BITS / 2)
  }
  let locator = ''
  for (let i = 0; i < LENGTH; i++) locator += ALPHABET[(value >>> (5 * i)) & 31]
  return locator
}
