import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { findBinaries, UNPRIVILEGED } from './binaries.ts'
import { clusterPassword, createCluster, DATABASE_USER, existingCluster, placeCluster } from './cluster.ts'
import type { ConnectOptions } from './database.ts'
import { connect } from './database.ts'
import { lockHolder, takeLock } from './lock.ts'
import {
  type Postmaster,
  recorded,
  removeSocketDirectory,
  socketDirectory,
  startPostmaster,
  stopOrphan,
} from './postmaster.ts'

/** The PostgreSQL that comes along, running. */
export type Embedded = {
  /** How to connect to one of its databases. */
  url(database: string): ConnectOptions
  /** Fast shutdown within 15 s; open connections end. Can be called twice. */
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  /** Everything is kept below; made if missing. */
  dataDir: string
  log: Log
  /** Databases to create when missing. */
  databases?: readonly string[]
  /** False only for tests that may lose their data: no fsync. */
  durable?: boolean
  /** Where the files go that the unprivileged user cannot reach below `dataDir`, when we are root. */
  refuge?: string
}

const LOCK = 'airside.lock'
const REFUGE = '/var/lib/airside'
/** Waits between restarts of a PostgreSQL that ended by itself. */
const RESTART_WAITS_MS = [50, 100, 200, 500, 1000]

/**
 * Starts the embedded PostgreSQL on `dataDir`, making it on the first start. One process at a time: a second one
 * is refused with a message that names the first. What a killed one left (lock, running PostgreSQL) is cleared.
 * While it runs, a PostgreSQL that ends by itself is started again; if we are killed, it shuts itself down.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { log, durable = true, refuge = REFUGE, databases = ['airside_intl', 'airside_cn'] } = options
  // PostgreSQL refuses to run as root.
  const uid = process.getuid?.() === 0 ? UNPRIVILEGED : undefined
  mkdirSync(options.dataDir, { recursive: true, mode: uid === undefined ? 0o700 : 0o711 })
  const dataDir = realpathSync(options.dataDir)
  const lock = takeLock(
    join(dataDir, LOCK),
    pid => `Another Airside is running with ${dataDir} (process ${pid}); stop it or set AIRSIDE_DATA_DIR.`,
  )
  let socket: string | undefined
  let postmaster: Postmaster | undefined
  let stopping = false
  let supervising: Promise<void> | undefined

  async function stop(): Promise<void> {
    stopping = true
    await postmaster?.stop()
    await supervising
    if (socket !== undefined) removeSocketDirectory(socket)
    lock.release()
  }

  try {
    const binaries = findBinaries(refuge, uid)
    const cluster = placeCluster(dataDir, refuge, uid, log)
    await createCluster(cluster, binaries, uid, durable)
    if (!lock.isStillOurs()) throw new Error(`Another Airside started with ${dataDir} at the same moment.`)
    await stopOrphan(cluster, log)
    socket = socketDirectory(cluster, uid)
    const start = { program: binaries.postgres, cluster, socket, uid, durable, log }
    const url = urlFor(socket, clusterPassword(cluster))
    const supervise = async () => {
      let attempt = 0
      for (;;) {
        await postmaster?.exited
        if (stopping) return
        log.error({ attempt }, 'PostgreSQL ended by itself; starting it again')
        await sleep(RESTART_WAITS_MS[Math.min(attempt++, RESTART_WAITS_MS.length - 1)])
        if (stopping) return
        try {
          await stopOrphan(cluster, log)
          postmaster = await startPostmaster(start)
          attempt = 0
        } catch (error) {
          log.error({ err: error }, 'PostgreSQL did not start again')
        }
        if (stopping) return await postmaster?.stop()
      }
    }
    postmaster = await startPostmaster(start)
    await createDatabases(url, databases, log)
    supervising = supervise()
    return { url, stop }
  } catch (error) {
    await stop().catch(failure => log.error({ err: failure }, 'PostgreSQL did not stop'))
    throw error
  }
}

/**
 * The embedded PostgreSQL that another process runs on `dataDir` right now, for commands that talk to a running
 * server; undefined when none does.
 */
export function findEmbedded(dataDir: string): Pick<Embedded, 'url'> | undefined {
  const cluster = existingCluster(dataDir)
  if (cluster === undefined || lockHolder(join(dataDir, LOCK)) === undefined) return undefined
  const running = recorded(cluster)
  return running?.status === 'ready' ? { url: urlFor(running.socket, clusterPassword(cluster)) } : undefined
}

function urlFor(socket: string, password: string): (database: string) => ConnectOptions {
  return database => ({
    url: `postgresql://${DATABASE_USER}:${password}@localhost/${encodeURIComponent(database)}?host=${encodeURIComponent(socket)}`,
  })
}

async function createDatabases(
  url: (database: string) => ConnectOptions,
  databases: readonly string[],
  log: Log,
): Promise<void> {
  const admin = connect({ ...url('postgres'), log, poolMax: 1, statementTimeoutMs: 60_000 })
  try {
    const rows = await admin.query<{ datname: string }>('select datname from pg_database')
    const existing = new Set(rows.map(row => row.datname))
    for (const database of databases) {
      if (!existing.has(database)) await admin.query(`create database "${database.replaceAll('"', '""')}"`)
    }
  } finally {
    await admin.close()
  }
}
