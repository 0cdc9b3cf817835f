import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import {
  createSold,
  growSold,
  openSold,
  type SoldAt,
  setClosed,
  setSold,
  soldEntries,
  soldIn,
} from './sold.ts'

const AT: SoldAt = { mode: 'live', leg: 0, day: 9_800, cabin: 'economy' }

test('a table answers like a plain map, also after growing', () => {
  const place = fc.record({
    mode: fc.constantFrom('live' as const, 'test' as const),
    leg: fc.integer({ min: 0, max: 5 }),
    day: fc.constantFrom(0, 1, 9_800, 65_535),
    cabin: fc.constantFrom('economy' as const, 'business' as const, 'first' as const),
  })
  const write = fc.tuple(place, fc.constantFrom('A', 'M', 'Z'), fc.integer({ min: 0, max: 300 }))
  fc.assert(
    fc.property(fc.array(write, { maxLength: 80 }), writes => {
      const plain = new Map<string, Map<string, number>>()
      let sold = createSold(2)
      for (const [at, bookingClass, seats] of writes) {
        const key = JSON.stringify([at.mode, at.leg, at.day, at.cabin])
        plain.set(key, (plain.get(key) ?? new Map()).set(bookingClass, seats))
        while (!setSold(sold, at, bookingClass, seats)) sold = growSold(sold)
      }
      for (const [at] of writes) {
        const classes = plain.get(JSON.stringify([at.mode, at.leg, at.day, at.cabin]))!
        for (const [bookingClass, seats] of classes) assert.equal(soldIn(sold, at, bookingClass), seats)
        assert.equal(
          soldIn(sold, at),
          [...classes.values()].reduce((a, b) => a + b, 0),
        )
      }
      assert.equal(soldEntries(sold), plain.size)
      assert.equal(soldEntries(growSold(sold)), plain.size)
    }),
  )
})

test('a full table takes no further entry but still changes those it has', () => {
  const sold = createSold(2)
  assert.equal(sold.capacity, 2)
  for (const leg of [1, 2]) assert.equal(setSold(sold, { ...AT, leg }, 'Y', 1), true)
  assert.equal(setSold(sold, { ...AT, leg: 3 }, 'Y', 1), false)
  assert.equal(setSold(sold, { ...AT, leg: 2 }, 'Y', 0), true)
  assert.equal(soldIn(sold, { ...AT, leg: 2 }), 0)
  assert.equal(soldIn(sold, { ...AT, leg: 3 }), 0)
})

test('a closed cabin counts as sold beyond any configuration until it is opened again', () => {
  const sold = createSold(8)
  setSold(sold, AT, 'Y', 3)
  setClosed(sold, AT, true)
  assert.equal(soldIn(sold, AT), 65_535)
  assert.equal(soldIn(sold, { ...AT, cabin: 'first' }), 0)
  setClosed(sold, AT, false)
  assert.equal(soldIn(sold, AT), 3)
})

test('what is no class or no count is refused', () => {
  const sold = createSold(8)
  for (const bookingClass of ['', 'y', 'YY', '1'])
    assert.throws(() => setSold(sold, AT, bookingClass, 1), RangeError)
  for (const seats of [-1, 0.5, 70_000]) assert.throws(() => setSold(sold, AT, 'Y', seats), RangeError)
  assert.equal(soldEntries(sold) <= 1, true)
  assert.throws(() => openSold(new SharedArrayBuffer(64)), /Not a table/)
})

test('another thread sees what is written', async () => {
  const sold = createSold(8)
  setSold(sold, AT, 'Y', 7)
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads')
     import(workerData.module).then(({ openSold, soldIn }) => parentPort.postMessage(soldIn(openSold(workerData.buffer), workerData.at)))`,
    {
      eval: true,
      workerData: { module: new URL('./sold.ts', import.meta.url).href, buffer: sold.buffer, at: AT },
    },
  )
  const seen = await new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject))
  assert.equal(seen, 7)
})
