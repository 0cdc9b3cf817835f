import pg from 'pg'
import type { Log } from '../log.ts'
import { DatabaseBusy, isStatementError } from './failure.ts'
import { VALUE_TYPES } from './values.ts'

export type PoolOptions = {
  url: string
  applicationName: string
  /** Connections at most. */
  poolMax: number
  /** Callers waiting for a connection at most, and how long each waits. */
  queueMax: number
  queueTimeoutMs: number
  connectTimeoutMs: number
  /** The server gives a statement up after this; we give the connection up a little later, when the server is silent. */
  statementTimeoutMs: number
  lockTimeoutMs: number
  idleInTransactionTimeoutMs: number
  /**
   * For statements that an index serves, on tables that may be empty now and hold millions in a minute: a plan made in between lasts, and must be
   * the one by index whatever the statistics say.
   */
  byIndexOnly?: boolean
  log?: Log | undefined
}

export type Connection = pg.PoolClient

export type Pool = {
  /** A connection of one's own until `give`. Throws DatabaseBusy, or the driver's error when none can be made. */
  take(): Promise<Connection>
  /** Gives a connection back; `error` is what its last statement threw, if it did. Unfit connections are destroyed. */
  give(connection: Connection, error?: unknown): void
  /** Refuses new callers, waits for the running ones at most `patienceMs`, then cuts their connections. */
  close(patienceMs: number): Promise<void>
}

/** How long after the server should have answered the connection counts as dead. */
const SILENCE_MS = 250
const KEEP_ALIVE_AFTER_MS = 10_000
const IDLE_TIMEOUT_MS = 60_000

const BY_INDEX_ONLY = ['seqscan', 'bitmapscan', 'sort', 'incremental_sort']
  .map(way => `-c enable_${way}=off`)
  .join(' ')

/** What every connection of ours, pooled or not, is made with. */
export function connectionConfig(options: PoolOptions): pg.ClientConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    lock_timeout: options.lockTimeoutMs,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs,
    // With pipelining the driver destroys a connection that stays silent, instead of only leaving it.
    query_timeout: options.statementTimeoutMs + SILENCE_MS,
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: VALUE_TYPES,
    ...(options.byIndexOnly === true ? { options: BY_INDEX_ONLY } : {}),
  }
}

/**
 * A pool of connections with a short, bounded queue in front. The driver's pool would queue without end, and
 * counts waiting and connecting against one time-out; here it never queues, because at most `poolMax` callers pass.
 */
export function createPool(options: PoolOptions): Pool {
  const pool = new pg.Pool({
    ...connectionConfig(options),
    max: options.poolMax,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
  })
  const { log } = options
  // A connection that dies is an event on it, and an event without a listener ends the process. Whoever uses the
  // connection learns it from the statement; idle ones leave the pool.
  pool.on('connect', client =>
    client.on('error', error => log?.debug({ err: error }, 'database connection lost')),
  )
  pool.on('error', error => log?.debug({ err: error }, 'idle database connection lost'))

  const queue: { enter(): void; refuse(error: Error): void }[] = []
  const taken = new Set<Connection>()
  let inside = 0
  let closed = false

  function enter(): Promise<void> | undefined {
    if (inside < options.poolMax) {
      inside++
      return undefined
    }
    if (queue.length >= options.queueMax) {
      throw new DatabaseBusy(`${queue.length} callers wait for a database connection already`)
    }
    return new Promise((resolve, reject) => {
      const waiter = { enter, refuse }
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiter), 1)
        reject(new DatabaseBusy(`no database connection became free within ${options.queueTimeoutMs} ms`))
      }, options.queueTimeoutMs)
      function enter() {
        clearTimeout(timer)
        resolve()
      }
      function refuse(error: Error) {
        clearTimeout(timer)
        reject(error)
      }
      queue.push(waiter)
    })
  }

  function leave(): void {
    const next = queue.shift()
    if (next) next.enter()
    else inside--
  }

  return {
    async take() {
      if (closed) throw closedError()
      await enter()
      try {
        const connection = await pool.connect()
        taken.add(connection)
        return connection
      } catch (error) {
        leave()
        throw error
      }
    },

    give(connection, error) {
      taken.delete(connection)
      connection.release(isUnfit(connection, error))
      leave()
    },

    async close(patienceMs) {
      if (closed) return
      closed = true
      for (const waiter of queue.splice(0)) waiter.refuse(closedError())
      const cut = setTimeout(() => {
        for (const connection of taken) connection.connection.stream.destroy()
      }, patienceMs)
      await pool.end()
      clearTimeout(cut)
    },
  }
}

/**
 * Whether a connection must not be used again: its last statement failed with something else than a plain error of
 * the server (a lost connection, silence, a server going down), or a transaction is still open on it.
 */
function isUnfit(connection: Connection, error: unknown): boolean {
  if (error !== undefined && !isStatementError(error)) return true
  const status = connection.getTransactionStatus()
  return error === undefined ? status !== 'I' : status === 'T'
}

function closedError(): Error {
  return new Error('the database connection is closed')
}
