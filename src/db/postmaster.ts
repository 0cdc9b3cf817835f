import type { ChildProcess } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { isAlive } from './lock.ts'
import { spawnMortal } from './mortal.ts'

/** A running PostgreSQL. `exited` fulfils when it ended, for whatever reason. */
export type Postmaster = { pid: number; exited: Promise<void>; stop(): Promise<void> }

const PORT = 5432
/** A Unix socket's path has at most 107 bytes. */
const SOCKET_PATH_MAX = 107
const SOCKET_PREFIX = 'airside-socket-'
/** Longer than any recovery of a database that writes a checkpoint every five minutes. */
const READY_TIMEOUT_MS = 120_000
/** Fast, then immediate, then kill: how long each is waited for. */
const STOP_STEPS: readonly [NodeJS.Signals, number][] = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 3_000],
  ['SIGKILL', 2_000],
]

/** Beyond the largest process number of Linux. */
const NO_PROCESS = 999_999_999
/** PostgreSQL's words while backends of a killed server are still there; they leave when they notice its death. */
const BACKENDS_LEFT = /shared memory block .* still in use/
const BACKENDS_PATIENCE_MS = 10_000

const SETTINGS = [
  'listen_addresses=',
  'unix_socket_permissions=0700',
  'max_connections=100',
  'shared_buffers=128MB',
  'jit=off',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
  // Travellers' data must not reach the log: no statements, no values, no details. %e is the error code.
  'log_line_prefix=%e ',
  'log_error_verbosity=terse',
  'log_min_error_statement=panic',
  'log_parameter_max_length=0',
]
const DURABLE = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on']
const FLEETING = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
]

/** Where the socket of a cluster goes: inside it, or in a directory of its own when that path would be too long. */
export function socketDirectory(cluster: string, uid: number | undefined): string {
  if (Buffer.byteLength(join(cluster, `.s.PGSQL.${PORT}`)) <= SOCKET_PATH_MAX) return cluster
  const directory = mkdtempSync(join(tmpdir(), SOCKET_PREFIX))
  if (uid !== undefined) chownSync(directory, uid, uid)
  return directory
}

export type PostmasterOptions = {
  program: string
  cluster: string
  socket: string
  uid: number | undefined
  durable: boolean
  log: Log
}

/** Starts PostgreSQL on a cluster and waits until it takes connections. Throws with its last words if it ends before. */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const deadline = performance.now() + BACKENDS_PATIENCE_MS
  for (;;) {
    try {
      return await attempt(options)
    } catch (error) {
      if (!BACKENDS_LEFT.test((error as Error).message) || performance.now() > deadline) throw error
      await sleep(50)
    }
  }
}

async function attempt(options: PostmasterOptions): Promise<Postmaster> {
  const { program, cluster, socket, uid, durable, log } = options
  const settings = [...SETTINGS, `unix_socket_directories=${socket}`, ...(durable ? DURABLE : FLEETING)]
  const flags = ['-D', cluster, '-p', String(PORT), ...settings.flatMap(setting => ['-c', setting])]
  const child = spawnMortal(program, flags, { signal: 'INT', uid })
  const lastWords = relayLog(child, log)
  const exited = new Promise<void>(resolve => {
    child.once('exit', () => resolve())
    child.once('error', error => {
      lastWords.push(error.message)
      resolve()
    })
  })
  let over = false
  void exited.then(() => {
    over = true
  })
  const deadline = performance.now() + READY_TIMEOUT_MS
  while (statusOf(cluster, child.pid) !== 'ready') {
    if (over) {
      // The last lines may still be on their way.
      await sleep(20)
      throw new Error(`PostgreSQL did not start in ${cluster}: ${lastWords.join(' ')}`)
    }
    if (performance.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(
        `PostgreSQL in ${cluster} was not ready after ${READY_TIMEOUT_MS / 1000} s: ${lastWords.join(' ')}`,
      )
    }
    await sleep(5)
  }
  const pid = child.pid!
  return { pid, exited, stop: () => stopProcess(pid, () => over) }
}

/** What `postmaster.pid` tells about the PostgreSQL that runs, or last ran, on a cluster. */
export function recorded(cluster: string): { pid: number; socket: string; status: string } | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
    return { pid: Number(lines[0]), socket: lines[4] ?? '', status: lines[7]?.trim() ?? '' }
  } catch {
    return undefined
  }
}

/**
 * Clears the way for a new start on a cluster whose owner is dead: stops a PostgreSQL that outlived it, and makes
 * sure that a `postmaster.pid` left behind stops nobody. Throws if the cluster is served by a PostgreSQL that we
 * cannot see, as from another container that shares the directory.
 */
export async function stopOrphan(cluster: string, log: Log): Promise<void> {
  const last = recorded(cluster)
  if (!last) return
  if (isPostgresOf(last.pid, cluster)) {
    log.warn({ pid: last.pid }, 'PostgreSQL outlived the Airside that started it; stopping it')
    await stopProcess(last.pid, () => !isPostgresOf(last.pid, cluster))
  } else if (await answers(join(last.socket, `.s.PGSQL.${PORT}`))) {
    throw new Error(
      `${cluster} is in use by a PostgreSQL outside of this container; stop it or set AIRSIDE_DATA_DIR.`,
    )
  }
  removeSocketDirectory(last.socket)
  disownPidFile(cluster)
}

/**
 * Puts a number no process can have into a `postmaster.pid` whose process is gone, as another program may have the
 * old one by now. The file itself stays: it names the shared memory, by which PostgreSQL recognises that backends of
 * a killed server still write. Deleting it would let two servers write to one cluster.
 */
function disownPidFile(cluster: string): void {
  const path = join(cluster, 'postmaster.pid')
  if (!existsSync(path)) return
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^.*/, String(NO_PROCESS)))
}

/** Removes a socket directory if `socketDirectory` made it outside the cluster. */
export function removeSocketDirectory(directory: string): void {
  if (dirname(directory) === tmpdir() && basename(directory).startsWith(SOCKET_PREFIX)) {
    rmSync(directory, { recursive: true, force: true })
  }
}

function statusOf(cluster: string, pid: number | undefined): string | undefined {
  const now = recorded(cluster)
  return now?.pid === pid ? now?.status : undefined
}

/** Whether process `pid` is a PostgreSQL on this cluster: numbers are used again, so the command line decides. */
function isPostgresOf(pid: number, cluster: string): boolean {
  if (!(pid > 0) || !isAlive(pid)) return false
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return words.includes(cluster) || words.includes(`--pgdata=${cluster}`)
  } catch {
    // No /proc on this system: PostgreSQL wrote the number, and the process lives.
    return process.platform !== 'linux'
  }
}

async function stopProcess(pid: number, isOver: () => boolean): Promise<void> {
  for (const [signal, patienceMs] of STOP_STEPS) {
    if (isOver()) return
    try {
      process.kill(pid, signal)
    } catch {
      // It ended in between.
    }
    const deadline = performance.now() + patienceMs
    while (!isOver() && performance.now() < deadline) await sleep(5)
  }
  if (!isOver()) throw new Error(`PostgreSQL (process ${pid}) does not stop.`)
}

function answers(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(path)
    socket.setTimeout(1000, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** Passes PostgreSQL's log lines on. What a statement did wrong is its caller's to log, so plain errors are left out. */
function relayLog(child: ChildProcess, log: Log): string[] {
  const lastWords: string[] = []
  createInterface({ input: child.stderr! }).on('line', line => {
    lastWords.push(line)
    if (lastWords.length > 5) lastWords.shift()
    const [, code, level, text] = /^(\w{5}) (\w+): +(.*)$/.exec(line) ?? [undefined, '', '', line]
    const fields = { from: 'postgres', code }
    if (level === 'PANIC' || /^(XX|58|53)/.test(code!)) log.error(fields, text!)
    else if (level === 'WARNING') log.warn(fields, text!)
    else if (level !== 'ERROR') log.debug(fields, text!)
  })
  return lastWords
}
