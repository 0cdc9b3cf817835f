import type { Logger } from '../log.ts'

export type Loop = {
  /** Has the work done once more at once, or as soon as what runs now is done. */
  wake(): void
  /** Resolves when the work that is under way is done; none begins after. */
  stop(): Promise<void>
}

/**
 * Does a piece of work again and again: at once while there is more of it, else after `everyMs` or when woken. A failure is logged and tried
 * again after the same wait.
 * @param work returns whether there may be more to do right now
 */
export function loop(name: string, everyMs: number, log: Logger, work: () => Promise<boolean>): Loop {
  let stopped = false
  let woken = false
  let endRest = () => {}

  async function run(): Promise<void> {
    while (!stopped) {
      woken = false
      let more = false
      try {
        more = await work()
      } catch (error) {
        if (!stopped) log.error({ loop: name, err: error }, 'a loop failed; it goes on')
      }
      if (!more && !woken && !stopped) await rest()
    }
  }

  const rest = () =>
    new Promise<void>(resolve => {
      const timer = setTimeout(resolve, everyMs)
      endRest = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  function wake(): void {
    woken = true
    endRest()
  }

  const running = run()
  return {
    wake,
    async stop() {
      stopped = true
      wake()
      await running
    },
  }
}
