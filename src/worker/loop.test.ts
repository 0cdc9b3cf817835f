import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../log.ts'
import { loop } from './loop.ts'

const errors: unknown[] = []
const log = { error: (fields: unknown) => errors.push(fields) } as unknown as Logger
const LONG_MS = 60_000

it('works at once while there is more, then rests until it is woken', async () => {
  let left = 5
  let runs = 0
  const one = loop('test', LONG_MS, log, async () => {
    runs++
    return --left > 0
  })
  await sleep(20)
  assert.equal(runs, 5)
  one.wake()
  await sleep(20)
  assert.equal(runs, 6)
  await one.stop()
})

it('does not miss a wake that comes while it works', async () => {
  let runs = 0
  const working = Promise.withResolvers<void>()
  const one = loop('test', LONG_MS, log, async () => {
    if (++runs === 1) await working.promise
    return false
  })
  one.wake()
  working.resolve()
  await sleep(20)
  assert.equal(runs, 2)
  await one.stop()
})

it('goes on after a failure, and stops only when the work under way is done', async () => {
  let runs = 0
  let done = false
  const one = loop('test', 5, log, async () => {
    if (++runs === 1) throw new Error('no')
    await sleep(30)
    done = true
    return true
  })
  while (runs < 2) await sleep(1)
  assert.equal(errors.length, 1)
  await one.stop()
  assert.equal(done, true)
  const before = runs
  await sleep(20)
  assert.equal(runs, before)
})
