/** G3: what healthy endpoints get while others accept everything and never answer. */
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../report.ts'
import { drain } from './drain.ts'
import { clear, makeEvents, owe, type Stage } from './stage.ts'
import { measureWake } from './wake.ts'

/** More than a hanging endpoint gets through at its narrowest in all of a round. */
const QUEUED_EACH = 200
/** Every hanging endpoint has timed out once by then, and is as wide as it deserves. */
const HANG_FIRST_MS = 5_400
/** A drain that has not ended by then is rated by what had come. */
const DRAIN_MS = 20_000
const FRESH = { rate: 300, seconds: 4, told: 'in process' } as const

export type HangingRound = {
  /** Healthy deliveries a second, by how many of the endpoints hang. */
  rates: ReadonlyMap<number, number>
  /** Milliseconds from commit to receipt at 300 bookings a second: without hanging endpoints, and with the most of them. */
  fresh: readonly number[]
  freshBeside: readonly number[]
  /** How long the hanging ones were waited for, as they see it, in milliseconds. */
  hung: readonly number[]
}

/** One sender's life: nobody hangs, then ever more do, and the healthy ones have always the same to get. */
export async function measureHanging(
  stage: Stage,
  steps: readonly number[],
  deliveries: number,
): Promise<HangingRound> {
  await clear(stage)
  await stage.aim('https')
  await stage.receiver.ask('hang', [])
  const sender = await stage.startSender('https')
  try {
    // The first opens connections; what all else is compared with is not left to one.
    const unhindered: number[] = []
    for (let i = 0; i < 4; i++) unhindered.push((await drain(stage, sender, makeEvents(deliveries))).engine)
    const rates = new Map([[0, median(unhindered.slice(1))]])
    const { latencies: fresh } = await measureWake(stage, sender, FRESH)
    let before = 0
    for (const hanging of steps) {
      await stage.receiver.ask(
        'hang',
        stage.endpoints.slice(0, hanging).map(endpoint => endpoint.address),
      )
      await owe(stage, makeEvents((hanging - before) * QUEUED_EACH, before, hanging))
      await sender.ask(
        'due',
        stage.endpoints.slice(0, hanging).map(endpoint => endpoint.seq),
      )
      await sleep(HANG_FIRST_MS)
      rates.set(
        hanging,
        (await drain(stage, sender, makeEvents(deliveries, hanging), hanging, DRAIN_MS)).engine,
      )
      before = hanging
    }
    const { latencies: freshBeside } = await measureWake(stage, sender, FRESH, before)
    return { rates, fresh, freshBeside, hung: await stage.receiver.ask<number[]>('hung') }
  } finally {
    await sender.kill()
    await stage.receiver.ask('hang', [])
  }
}
