import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { allowanceKey, allowanceTable, attachAllowances, rateLimitHeaders, take } from './allowance.ts'

const START = Date.UTC(2026, 0, 1)

test('the whole quantity may be used at once, then one comes back each interval', () => {
  const table = allowanceTable(64)
  const allowance = { quantity: 60, windowSeconds: 60 }
  for (let i = 0; i < 60; i++) {
    assert.deepEqual(take(table, 'k', allowance, START), {
      allowed: true,
      remaining: 59 - i,
      resetSeconds: i + 1,
      retryAfterSeconds: 0,
    })
  }
  assert.deepEqual(take(table, 'k', allowance, START), {
    allowed: false,
    remaining: 0,
    resetSeconds: 60,
    retryAfterSeconds: 1,
  })
  assert.equal(take(table, 'k', allowance, START + 999).allowed, false)
  assert.equal(take(table, 'k', allowance, START + 1000).allowed, true)
  assert.equal(take(table, 'k', allowance, START + 1000).allowed, false)
  assert.equal(take(table, 'other', allowance, START + 1000).allowed, true, 'nobody else is touched')
  assert.equal(
    take(table, 'k', allowance, START + 61_000).remaining,
    59,
    'rested, the caller has the whole quantity again',
  )
})

test('the wait told to a refused caller is the wait that suffices', () => {
  const table = allowanceTable(64)
  const allowance = { quantity: 2, windowSeconds: 60 }
  take(table, 'k', allowance, START)
  take(table, 'k', allowance, START)
  const refused = take(table, 'k', allowance, START + 500)
  assert.deepEqual(refused, { allowed: false, remaining: 0, resetSeconds: 60, retryAfterSeconds: 30 })
  assert.equal(take(table, 'k', allowance, START + 500 + 30_000).allowed, true)
})

/** The same limit told as a leaking bucket, in exact fractions: content drains steadily and each request pours in one. */
function leakyBucket(quantity: number, windowSeconds: number) {
  const full = BigInt(quantity) * BigInt(windowSeconds) * 1000n
  const perRequest = BigInt(windowSeconds) * 1000n
  let content = 0n
  let last: number | undefined
  return (nowMs: number) => {
    const drained = last === undefined ? 0n : BigInt(nowMs - last) * BigInt(quantity)
    content = content > drained ? content - drained : 0n
    last = nowMs
    if (content + perRequest > full)
      return { allowed: false, remaining: Number((full - content) / perRequest) }
    content += perRequest
    return { allowed: true, remaining: Number((full - content) / perRequest) }
  }
}

test('model: agrees with a leaking bucket on every sequence of requests', () => {
  let requests = 0
  fc.assert(
    fc.property(
      // Quantities that divide the window into whole nanoseconds, so that both sides are exact.
      fc.constantFrom(1, 2, 3, 5, 8, 30, 60, 120, 1200, 100_000),
      fc.constantFrom(1, 10, 60, 3600).map(seconds => seconds * 3),
      fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(5), fc.nat(2000), fc.nat(200_000)), {
        maxLength: 300,
        size: 'max',
      }),
      (quantity, windowSeconds, waits) => {
        const table = allowanceTable(16)
        const oracle = leakyBucket(quantity, windowSeconds)
        let now = START
        for (const wait of waits) {
          now += wait
          requests++
          const got = take(table, 'k', { quantity, windowSeconds }, now)
          assert.deepEqual({ allowed: got.allowed, remaining: got.remaining }, oracle(now))
          assert.equal(got.retryAfterSeconds > 0, !got.allowed)
        }
      },
    ),
    { numRuns: 1000 },
  )
  assert.ok(requests > 50_000)
})

test('a quantity that does not divide the window is never exceeded', () => {
  for (const quantity of [7, 11, 999, 1_000_003]) {
    const table = allowanceTable(16)
    let allowed = 0
    for (let i = 0; i < Math.min(quantity, 2000) + 5; i++)
      if (take(table, 'k', { quantity, windowSeconds: 60 }, START).allowed) allowed++
    assert.equal(allowed, Math.min(quantity, 2005))
  }
})

test('a clock set back costs a window at most, not the time it was set back by', () => {
  const table = allowanceTable(16)
  const allowance = { quantity: 10, windowSeconds: 60 }
  take(table, 'k', allowance, START + 86_400_000)
  const after = take(table, 'k', allowance, START)
  assert.equal(after.allowed, false)
  assert.ok(after.resetSeconds <= 60)
  assert.equal(take(table, 'k', allowance, START + 6000).allowed, true)
})

const HAMMER = `
const { parentPort, workerData } = require('node:worker_threads')
import(workerData.module).then(({ attachAllowances, take }) => {
  const table = attachAllowances(workerData.buffer)
  const gate = new Int32Array(workerData.gate)
  const allowed = new Array(workerData.keys).fill(0)
  Atomics.add(gate, 0, 1)
  while (Atomics.load(gate, 0) < workerData.threads) {}
  for (let round = 0; round < workerData.rounds; round++)
    for (let k = 0; k < workerData.keys; k++)
      if (take(table, 'k' + k, workerData.allowance, workerData.now).allowed) allowed[k]++
  parentPort.postMessage(allowed)
})`

/** Lets four threads take `rounds` times from each of `keys` keys at one instant; the number allowed for each key. */
async function hammer(
  keys: number,
  rounds: number,
  allowance: { quantity: number; windowSeconds: number },
  slots: number,
) {
  const table = allowanceTable(slots)
  const threads = 4
  const workerData = {
    module: new URL('./allowance.ts', import.meta.url).href,
    buffer: table.buffer,
    gate: new SharedArrayBuffer(4),
    threads,
    keys,
    rounds,
    allowance,
    now: START,
  }
  const counts = await Promise.all(
    Array.from({ length: threads }, async () => {
      const worker = new Worker(HAMMER, { eval: true, workerData })
      const [allowed] = (await once(worker, 'message')) as [number[]]
      await worker.terminate()
      return allowed
    }),
  )
  return Array.from({ length: keys }, (_, k) => counts.reduce((sum, count) => sum + count[k]!, 0))
}

test('four threads hammering one key are allowed exactly the quantity', async () => {
  assert.deepEqual(await hammer(1, 30_000, { quantity: 50_000, windowSeconds: 60 }, 1024), [50_000])
})

test('four threads that meet in new keys still count each of them once', async () => {
  const allowed = await hammer(3000, 5, { quantity: 7, windowSeconds: 60 }, 8192)
  assert.deepEqual(new Set(allowed), new Set([7]))
})

test('a slot that another thread takes between looking and taking is left to it', t => {
  const table = allowanceTable(16)
  const allowance = { quantity: 1, windowSeconds: 60 }
  const load = Atomics.load
  let raced = false
  const race = (array: BigInt64Array, slot: number) => {
    const found = load(array, slot)
    if (!raced && array === table.keys && found === 0n) {
      raced = true
      Atomics.store(table.keys, slot, 12345n)
      Atomics.store(table.times, slot, BigInt(START + 60_000) * 1_000_000n)
    }
    return found
  }
  t.mock.method(Atomics, 'load', race as typeof Atomics.load)
  assert.equal(take(table, 'k', allowance, START).allowed, true)
  assert.equal(take(table, 'k', allowance, START).allowed, false)
  assert.equal(raced, true)
  assert.equal(table.keys.filter(name => name !== 0n).length, 2)
})

test('a slot that is given away between looking and counting is not counted on', t => {
  const table = allowanceTable(16)
  const allowance = { quantity: 2, windowSeconds: 60 }
  take(table, 'k', allowance, START)
  const slot = table.keys.findIndex(name => name !== 0n)
  const compareExchange = Atomics.compareExchange
  let raced = false
  const race = (array: BigInt64Array, at: number, expected: bigint, next: bigint) => {
    const found = compareExchange(array, at, expected, next)
    if (!raced && array === table.times) {
      raced = true
      Atomics.store(table.keys, slot, 12345n)
    }
    return found
  }
  t.mock.method(Atomics, 'compareExchange', race as typeof Atomics.compareExchange)
  assert.equal(take(table, 'k', allowance, START + 60_000).remaining, 1)
  assert.equal(take(table, 'k', allowance, START + 60_000).remaining, 0, 'both were counted in one slot')
  assert.equal(raced, true)
})

test('a full table gives away slots whose time has passed, and lets through who finds none', () => {
  const table = allowanceTable(64)
  const allowance = { quantity: 1, windowSeconds: 60 }
  for (let i = 0; i < 64; i++) assert.equal(take(table, `old${i}`, allowance, START).allowed, true)
  for (let i = 0; i < 64; i++)
    assert.equal(take(table, `old${i}`, allowance, START).allowed, false, 'all are counted')
  for (let i = 0; i < 3; i++) assert.equal(take(table, 'uncounted', allowance, START).allowed, true)
  for (let i = 0; i < 64; i++) assert.equal(take(table, `new${i}`, allowance, START + 60_000).allowed, true)
  for (let i = 0; i < 64; i++)
    assert.equal(take(table, `new${i}`, allowance, START + 60_000).allowed, false, 'the new ones are counted')
})

test('keys of 200,000 accounts keep apart', () => {
  const table = allowanceTable(524_288)
  for (let i = 0; i < 200_000; i++) {
    const key = allowanceKey(
      i % 2 === 0 ? 'intl' : 'cn',
      `acc_${i.toString(36).padStart(24, '0')}`,
      i % 3 === 0 ? 'live' : 'test',
      'search',
    )
    assert.equal(take(table, key, { quantity: 2, windowSeconds: 60 }, START).remaining, 1, key)
  }
})

test('a table handed over as its buffer is the same table', () => {
  const table = allowanceTable(16)
  take(table, 'k', { quantity: 2, windowSeconds: 60 }, START)
  assert.equal(
    take(attachAllowances(table.buffer), 'k', { quantity: 2, windowSeconds: 60 }, START).remaining,
    0,
  )
})

test('headers name policy, what is left and, when refused, the wait', () => {
  const allowance = { quantity: 60, windowSeconds: 60 }
  assert.deepEqual(
    rateLimitHeaders('search', allowance, {
      allowed: true,
      remaining: 12,
      resetSeconds: 30,
      retryAfterSeconds: 0,
    }),
    {
      'RateLimit-Policy': '"search";q=60;w=60',
      RateLimit: '"search";r=12;t=30',
    },
  )
  assert.deepEqual(
    rateLimitHeaders('webhooks', allowance, {
      allowed: false,
      remaining: 0,
      resetSeconds: 60,
      retryAfterSeconds: 1,
    }),
    {
      'RateLimit-Policy': '"webhooks";q=60;w=60',
      RateLimit: '"webhooks";r=0;t=60',
      'Retry-After': '1',
    },
  )
})
