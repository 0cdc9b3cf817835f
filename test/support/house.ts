import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { DemoAccount } from '../../src/demo/accounts.ts'
import type { Region } from '../../src/settings.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const READY_WITHIN_MS = 60_000
const STOPPED_WITHIN_MS = 15_000

/** A whole Airside as a process of its own: both regions, the embedded PostgreSQL, the demo network, on free ports. */
export type House = {
  intl: DemoAccount
  cn: DemoAccount
  dataDir: string
  env: Readonly<Record<string, string>>
  /** What the process has logged so far. */
  log(): string
  /** What it has printed so far. */
  output(): string
  process: ChildProcess
  /** Runs an operator's command with `--json`; its parsed output. Throws with what it said when it fails. */
  command(...words: string[]): Promise<Record<string, unknown>>
  /** Kills the process with SIGKILL and waits until it is gone; the data stays. */
  kill(): Promise<void>
  /** Starts it again on the same data. */
  restart(): Promise<House>
  /** Stops it as Ctrl-C does and removes its data. Resolves to the exit code. */
  stop(): Promise<number | null>
}

export type HouseOptions = { env?: Readonly<Record<string, string>>; dataDir?: string }

/** Starts a house and waits until it is ready. */
export async function startHouse(options: HouseOptions = {}): Promise<House> {
  const dataDir = options.dataDir ?? freshDirectory()
  const env = {
    AIRSIDE_DATA_DIR: dataDir,
    AIRSIDE_PORT: '0',
    AIRSIDE_PORT_CN: '0',
    AIRSIDE_LOG: 'warn',
    AIRSIDE_THREADS: '2',
    ...options.env,
  }
  const child = spawn(process.execPath, [join(ROOT, 'src/main.ts')], {
    env: { ...clean(process.env), ...env },
    stdio: 'pipe',
  })
  let log = ''
  let output = ''
  child.stderr.on('data', chunk => (log += chunk))
  child.stdout.on('data', chunk => (output += chunk))
  const gone = new Promise<number | null>(resolve => child.once('exit', code => resolve(code)))
  await ready()
  const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Record<Region, DemoAccount>

  async function ready(): Promise<void> {
    const until = Date.now() + READY_WITHIN_MS
    while (!output.includes('is ready')) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`Airside did not start:\n${output}${log}`)
      if (Date.now() > until) throw new Error(`Airside was not ready in time:\n${output}${log}`)
      await sleep(20)
    }
  }

  return {
    intl: demo.intl,
    cn: demo.cn,
    dataDir,
    env,
    log: () => log,
    output: () => output,
    process: child,
    command: (...words) => runCommand(env, words),
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
    restart: () => startHouse({ ...options, dataDir }),
    async stop() {
      child.kill('SIGINT')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN_MS)
      const code = await gone
      clearTimeout(timer)
      if (existsSync(dataDir)) rmSync(dataDir, { recursive: true, force: true })
      return code
    },
  }
}

/** Traversable by others, so that PostgreSQL, which root starts unprivileged, can live in it. */
function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'airside-house-'))
  chmodSync(directory, 0o711)
  return directory
}

/** Runs an operator's command as an operator does, with `--json`. */
export async function runCommand(
  env: Readonly<Record<string, string>>,
  words: readonly string[],
): Promise<Record<string, unknown>> {
  const child = spawn(process.execPath, [join(ROOT, 'bin/airside.js'), ...words, '--json'], {
    env: { ...clean(process.env), ...env },
    stdio: 'pipe',
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', chunk => (output += chunk))
  child.stderr.on('data', chunk => (errors += chunk))
  const code = await new Promise(resolve => child.once('exit', resolve))
  if (code !== 0) throw new Error(errors)
  return JSON.parse(output)
}

/** The environment without settings of the machine that runs the tests. */
function clean(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('AIRSIDE_')))
}
