import pg from 'pg'
import type { Connection } from './pool.ts'
import { type Statement, statement } from './statement.ts'

/** One transaction on one connection. */
export type OpenTransaction = {
  run(text: string, values: readonly unknown[] | undefined): Promise<pg.QueryResult>
  /** Ends it. Throws when anything in it failed, even if its caller swallowed that error: nothing is kept then. */
  commit(): Promise<void>
  /** Ends it and never throws; resolves to the error that tells whether the connection can be used again, if any. */
  rollback(): Promise<unknown>
}

/**
 * Opens a transaction with its first statement: BEGIN travels in the same message group, which costs no round trip
 * of its own. PostgreSQL skips the rest of a group after an error, so the statement never runs outside the
 * transaction. Statements issued together after that travel together too.
 */
export function openTransaction(connection: Connection): OpenTransaction {
  let opening: Promise<pg.QueryResult> | undefined
  let over = false
  let firstError: unknown

  async function send(text: string, values: readonly unknown[] | undefined): Promise<pg.QueryResult> {
    const what = statement(text, values)
    if (opening === undefined) {
      opening = begin(connection, what)
      return await opening
    }
    // Until BEGIN is known to have worked, a statement sent behind it could run, and commit, alone.
    await opening
    if (over) throw transactionOver()
    return await connection.query(what)
  }

  return {
    async run(text, values) {
      if (over) throw transactionOver()
      try {
        return await send(text, values)
      } catch (error) {
        firstError ??= error
        throw error
      }
    },

    async commit() {
      over = true
      if (opening === undefined) return
      // A COMMIT after a failed statement is answered with ROLLBACK, without an error.
      const { command } = await connection.query(statement('commit'))
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back', { cause: firstError })
    },

    async rollback() {
      over = true
      if (opening === undefined) return undefined
      try {
        await connection.query(statement('rollback'))
        return firstError
      } catch (error) {
        return error
      }
    },
  }
}

const BEGIN = { name: 'begin', text: 'begin' }

async function begin(connection: Connection, first: Statement): Promise<pg.QueryResult> {
  const prepared = (connection.connection as unknown as { parsedStatements: Record<string, string> })
    .parsedStatements
  if (prepared[BEGIN.name] === undefined) {
    await connection.query(BEGIN)
    return await connection.query(first)
  }
  return await new Promise((resolve, reject) => {
    connection.query(new QueryAfterBegin(first, (error, result) => (error ? reject(error) : resolve(result))))
  })
}

type Wire = pg.Connection & {
  bind(config: { statement: string }): void
  execute(config: object): void
}

type DriverQuery = {
  submit(wire: pg.Connection): Error | null
  handleCommandComplete(message: unknown, wire: unknown): void
}

const Base = pg.Query as unknown as new (
  config: Statement,
  callback: (error: Error | undefined, result: pg.QueryResult) => void,
) => DriverQuery

/** The driver's query with a prepared BEGIN in front, before the one Sync that ends the group. */
class QueryAfterBegin extends Base {
  #begun = false

  override submit(connection: pg.Connection): Error | null {
    const wire = connection as Wire
    wire.stream.cork()
    try {
      wire.bind({ statement: BEGIN.name })
      wire.execute({})
      return super.submit(wire)
    } finally {
      wire.stream.uncork()
    }
  }

  override handleCommandComplete(message: unknown, wire: unknown): void {
    if (this.#begun) super.handleCommandComplete(message, wire)
    else this.#begun = true
  }
}

function transactionOver(): Error {
  return new Error('the transaction is over; its statements must be awaited inside of it')
}
