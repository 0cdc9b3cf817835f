import pg from 'pg'

/** Too many wait for a connection, or one waited too long: the caller should answer 503 and shed load. */
export class DatabaseBusy extends Error {
  override readonly name = 'DatabaseBusy'
}

/** Whether the server refused a statement and the connection is as good as before. */
export function isStatementError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !CONNECTION_SPOILT.test(error.code ?? '08')
}

/**
 * Classes 08, 57P and XX, 25P03 and 25P04 end the session. 0A000 and 26000 say that a prepared statement is stale,
 * as after a migration that changed its columns: only a new connection prepares it again.
 */
const CONNECTION_SPOILT = /^(08|57P|XX|25P0[34]|0A000|26000)/

/**
 * Whether an error means that the database cannot be reached or cannot work now (busy, lost, starting, full,
 * timed out), as opposed to a statement that is wrong: the caller may answer "try again".
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseBusy) return true
  if (error instanceof pg.DatabaseError) {
    return /^(08|53|57|58|XX|25P0[34]|40|55P03|0A000|26000)/.test(error.code ?? '')
  }
  if (!(error instanceof Error)) return false
  const { syscall } = error as NodeJS.ErrnoException
  return /^(connect|read|write|getaddrinfo)$/.test(syscall ?? '') || CONNECTION_LOST.test(error.message)
}

/** The driver's own errors carry no code. */
const CONNECTION_LOST =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout expired|timeout exceeded|the database connection)/
