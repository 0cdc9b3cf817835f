import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { within } from './supplier.ts'

it('gives the answer, or the error, of a supplier that answers in time', async () => {
  assert.equal(await within(1_000, async () => 7), 7)
  await assert.rejects(
    within(1_000, async () => {
      throw new Error('no such route')
    }),
    /no such route/,
  )
})

it('gives up on one that does not, after telling it', async () => {
  let told: AbortSignal | undefined
  const answer = within(20, signal => {
    told = signal
    return new Promise(() => {})
  })
  // The deadline itself keeps no process alive.
  const [outcome] = await Promise.all([answer.catch((error: Error) => error.message), sleep(100)])
  assert.equal(outcome, 'no answer within 20 ms')
  assert.equal(told?.aborted, true)
})

it('leaves a signal alone once the answer is there', async () => {
  let told: AbortSignal | undefined
  await within(10, async signal => {
    told = signal
  })
  await sleep(30)
  assert.equal(told?.aborted, false)
})
