import type { Log } from '../../log.ts'

export type Round = {
  /** Does it now, or once more as soon as the present run is over. */
  now(): void
  stop(): Promise<void>
}

/** Does something every so often and when asked, one at a time. A failure is logged once, and it goes on. */
export function every(ms: number, name: string, log: Log, work: () => Promise<void> | void): Round {
  let running: Promise<void> | undefined
  let again = false
  let failing = false
  let stopped = false

  async function run(): Promise<void> {
    do {
      again = false
      try {
        await work()
        failing = false
      } catch (error) {
        if (!failing && !stopped) log.warn({ err: error }, `${name} failed; it goes on`)
        failing = true
      }
    } while (again && !stopped)
  }

  function now(): void {
    if (stopped) return
    if (running !== undefined) again = true
    else
      running = run().finally(() => {
        running = undefined
      })
  }

  const timer = setInterval(() => running === undefined && now(), ms)
  return {
    now,
    async stop() {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}
