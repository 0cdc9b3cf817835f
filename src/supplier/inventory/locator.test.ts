import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordLocator } from './locator.ts'

test('record locators have six characters and never repeat', () => {
  const seen = new Set<string>()
  for (let ordinal = 1; ordinal <= 300_000; ordinal++) seen.add(recordLocator(ordinal))
  assert.equal(seen.size, 300_000)
  for (const locator of seen) assert.match(locator, /^[2-9A-HJ-NP-Z]{6}$/)
})

test('neighbouring reservations do not have neighbouring locators', () => {
  const first = recordLocator(1000)
  const same = [...recordLocator(1001)].filter((letter, i) => letter === first[i]).length
  assert.ok(same <= 2)
})
