import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LogLevel } from '../../src/settings.ts'

const CHILD = fileURLToPath(new URL('sender-child.ts', import.meta.url))

export type SenderOrder = {
  /** The database. */
  url: string
  /** Of the receivers' authority, as PEM. */
  certificate: string
  retryMs: readonly number[]
  leaseMs?: number
  deadlineMs?: number
  /** Nothing, unless this says otherwise. */
  log?: LogLevel
}

export type SenderProcess = {
  process: ChildProcess
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>
  /** SIGTERM, and waits; resolves to its exit code. */
  stop(): Promise<number | null>
  /** Keeps its event loop busy for so long. */
  block(ms: number): void
  /** What it wrote to standard error: nothing, unless something broke. */
  errors(): string
}

/**
 * Starts a sender as a process of its own, and waits until it sends.
 * @param preload a module loaded before it, as node's `--import` takes it
 */
export async function startSenderProcess(
  order: SenderOrder,
  env: Readonly<Record<string, string>> = {},
): Promise<SenderProcess> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  })
  let errors = ''
  child.stderr.on('data', chunk => (errors += chunk))
  child.stdin.on('error', () => {})
  const gone = once(child, 'exit') as Promise<[number | null]>
  const [first] = await Promise.race([once(child.stdout, 'data'), gone.then(() => [''])])
  if (!String(first).includes('sending')) throw new Error(`the sender did not start: ${errors}`)
  return {
    process: child,
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
    async stop() {
      child.kill('SIGTERM')
      return (await gone)[0]
    },
    block: ms => void child.stdin.write(String(ms)),
    errors: () => errors,
  }
}
