import { listenOn } from './listen.ts'
import { createPool, type PoolOptions } from './pool.ts'
import { statement } from './statement.ts'
import { openTransaction } from './transaction.ts'

/** Where statements go: the database itself, one statement a transaction, or a transaction of several. */
export type Queryable = {
  /**
   * Runs one statement and returns its rows. Every text is a prepared statement, so build none from values.
   * int8 comes as number, numeric, date and timestamp as text, timestamptz as Date, bytea as Buffer. In values,
   * undefined is null, an array is a PostgreSQL array, a plain object is JSON (write JSON arrays with JSON.stringify).
   */
  query<R>(text: string, values?: readonly unknown[]): Promise<R[]>
}

/** A Queryable that keeps or loses all it did together. Statements issued without waiting travel in one go. */
export type Transaction = Queryable & {
  readonly transaction: true
  /** Leaves a word for `ConnectOptions.committed`, which gets it once the transaction has committed, and never otherwise. */
  note(word: string): void
}

export type Database = Queryable & {
  /**
   * Runs `work` in a transaction: commits when it fulfils, rolls back when it rejects. Rejects as well when a
   * statement failed and `work` swallowed the error. When the connection is lost at COMMIT, the outcome is unknown:
   * isUnavailable says so, and only looking it up can tell. No network call belongs inside `work`.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /**
   * Calls `onNotify` for each NOTIFY on `channel`, and with '' whenever one may have been missed (the connection was
   * made again): look then. Resolves, once listening, to a function that ends it.
   */
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>
  /** Takes no more work, gives what runs `CLOSE_PATIENCE_MS` to finish, and closes all connections. */
  close(): Promise<void>
}

/** `postgresql://user:password@host:port/database?sslmode=…`, and limits where the defaults do not fit. */
export type ConnectOptions = { url: string } & Partial<PoolOptions> & {
    /** Given what was noted in a transaction, after its commit. Where the commit's outcome is unknown it may never come. */
    committed?: (notes: readonly string[]) => void
  }

/** A request waits at most 500 ms for a connection and gets its answer, or the error, within 2 s of any fault. */
export const LIMITS = {
  applicationName: 'airside',
  poolMax: 10,
  queueMax: 50,
  queueTimeoutMs: 500,
  connectTimeoutMs: 1000,
  statementTimeoutMs: 1500,
  lockTimeoutMs: 1000,
  idleInTransactionTimeoutMs: 5000,
} as const

const CLOSE_PATIENCE_MS = 5000

/** A database, reached when the first statement needs it: a server that is down shows there, not here. */
export function connect(options: ConnectOptions): Database {
  const settings: PoolOptions = { ...LIMITS, ...options }
  const pool = createPool(settings)
  const listener = listenOn(settings)

  return {
    async query<R>(text: string, values?: readonly unknown[]): Promise<R[]> {
      const connection = await pool.take()
      try {
        const { rows } = await connection.query(statement(text, values))
        pool.give(connection)
        return rows as R[]
      } catch (error) {
        pool.give(connection, error)
        throw error
      }
    },

    async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
      const connection = await pool.take()
      const open = openTransaction(connection)
      const notes: string[] = []
      const tx: Transaction = {
        transaction: true,
        note: word => void notes.push(word),
        async query<R>(text: string, values?: readonly unknown[]): Promise<R[]> {
          const { rows } = await open.run(text, values)
          return rows as R[]
        },
      }
      try {
        const result = await work(tx)
        await open.commit()
        pool.give(connection)
        if (notes.length > 0) options.committed?.(notes)
        return result
      } catch (error) {
        pool.give(connection, await open.rollback())
        throw error
      }
    },

    listen: listener.listen,

    async close() {
      await Promise.all([listener.close(), pool.close(CLOSE_PATIENCE_MS)])
    },
  }
}
