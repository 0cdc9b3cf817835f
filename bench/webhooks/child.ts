/** Processes of a benchmark: each does what it is asked, one order at a time or several, and answers. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export type Child = {
  pid: number
  process: ChildProcess
  /** Has one of its deeds done; resolves to what came of it. @throws Error with what went wrong there, or when it ends first */
  ask<T = void>(deed: string, order?: unknown): Promise<T>
  /** Ends it at once. */
  kill(): Promise<void>
}

type Order = { ticket: number; deed: string; order: unknown }
type Answer = { ticket: number; result?: unknown; error?: string }

/** Starts `file` as a process of its own. It ends with us, whatever happens. */
export function startChild(file: URL, execArgv: readonly string[] = []): Child {
  const child = fork(fileURLToPath(file), { serialization: 'advanced', execArgv: [...execArgv] })
  const asked = new Map<number, PromiseWithResolvers<unknown>>()
  let tickets = 0
  child.on('message', ({ ticket, result, error }: Answer) => {
    const waiting = asked.get(ticket)
    asked.delete(ticket)
    if (error === undefined) waiting?.resolve(result)
    else waiting?.reject(new Error(error))
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const gone = new Promise<void>(resolve => {
    child.once('exit', code => {
      process.off('exit', kill)
      for (const { reject } of asked.values())
        reject(new Error(`a process of the benchmark ended with code ${code}`))
      resolve()
    })
  })
  return {
    pid: child.pid!,
    process: child,
    ask<T>(deed: string, order?: unknown): Promise<T> {
      const waiting = Promise.withResolvers<unknown>()
      const ticket = ++tickets
      asked.set(ticket, waiting)
      child.send({ ticket, deed, order } satisfies Order)
      return waiting.promise as Promise<T>
    },
    async kill() {
      asked.clear()
      kill()
      await gone
    },
  }
}

/** The other end: does what the parent asks for. */
export function obey(deeds: Readonly<Record<string, (order: never) => unknown>>): void {
  process.on('message', async ({ ticket, deed, order }: Order) => {
    try {
      const result = await (deeds[deed] as (order: unknown) => unknown)(order)
      process.send!({ ticket, result } satisfies Answer)
    } catch (error) {
      process.send!({ ticket, error: `${deed}: ${(error as Error).stack}` } satisfies Answer)
    }
  })
  process.on('disconnect', () => process.exit(0))
}

/** Milliseconds of a clock that all processes of this machine share. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
