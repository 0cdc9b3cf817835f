import type { Logger } from '../log.ts'

export type Loop = { wake(): void; stop(): Promise<void> }

/**
 * Does a piece of work again and again: at once while there is more of it, else after `everyMs` or when woken. A failure is logged and tried
 * again after the same wait.
 * @param work returns whether there may be more to do right now
 */
export function loop(name: string, everyMs: number, log: Logger, work: () => Promise<boolean>): Loop {
  let stopped = false
  let wake = () => {}
  async function run(): Promise<void> {
    while (!stopped) {
      let more = false
      try {
        more = await work()
      } catch (error) {
        if (!stopped) log.error({ loop: name, err: error }, 'a loop failed; it goes on')
      }
      if (!more && !stopped) await rest()
    }
  }
  const rest = () =>
    new Promise<void>(resolve => {
      const timer = setTimeout(resolve, everyMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const running = run()
  return {
    wake: () => wake(),
    async stop() {
      stopped = true
      wake()
      await running
    },
  }
}
