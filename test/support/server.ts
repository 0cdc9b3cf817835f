import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const READY_WITHIN_MS = 60_000

/** A server's process, from its start to its end, with nothing assumed about its database or its accounts. */
export type ServerProcess = {
  process: ChildProcess
  /** All it has said, on both streams. */
  said(): string
  /** Resolves to the international base address once it serves. @throws Error with what it said if it ends before */
  ready(): Promise<string>
  /** Resolves when it has ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** SIGKILL, and waits. Harmless when it has ended. */
  kill(): Promise<void>
}

/** Starts a server with these settings and no others. */
export function startServer(env: Readonly<Record<string, string>>): ServerProcess {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: 'pipe',
  })
  let text = ''
  let over = false
  child.stdout.on('data', chunk => (text += chunk))
  child.stderr.on('data', chunk => (text += chunk))
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(resolve =>
    child.once('close', (code, signal) => {
      over = true
      resolve({ code, signal })
    }),
  )
  return {
    process: child,
    said: () => text,
    ended,
    async ready() {
      const until = performance.now() + READY_WITHIN_MS
      for (;;) {
        const address = /International +(http\S+)/.exec(text)
        if (address !== null) return address[1]!
        if (over) throw new Error(`The server ended at its start:\n${text}`)
        if (performance.now() > until) throw new Error(`The server was not ready in time:\n${text}`)
        await sleep(5)
      }
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** A port that was free a moment ago, for a server that must come back at the same address. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve((address as { port: number }).port))
    })
  })
}
