import assert from 'node:assert/strict'
import { test } from 'node:test'
import { figure, median, percentile } from './report.ts'

test('percentiles take the nearest rank, whatever the order', () => {
  assert.equal(percentile([5, 1, 4, 2, 3], 0.5), 3)
  assert.equal(percentile([5, 1, 4, 2, 3], 0.99), 5)
  assert.equal(percentile([5, 1, 4, 2, 3], 0), 1)
  assert.ok(Number.isNaN(percentile([], 0.5)))
})

test('the median of an even number is the mean of the middle two', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([3, 1, 2]), 2)
  assert.equal(median([7]), 7)
})

test('a figure meets its goal from the right side, and none without a goal', () => {
  assert.equal(figure('a', 15.0001, 's', { atMost: 15 }).met, true)
  assert.equal(figure('a', 15.1, 's', { atMost: 15 }).met, false)
  assert.equal(figure('a', 0.59, 'share', { atLeast: 0.6 }).met, false)
  assert.deepEqual(figure('a', 1 / 3, 'share'), {
    id: 'a',
    value: 0.3333,
    unit: 'share',
    goal: null,
    met: null,
  })
})
