import { pino } from 'pino'
import type { LogLevel } from './settings.ts'

/** One JSON line per thing that happened, in UTC; callers pass only fields that may be seen. */
export type Logger = pino.Logger

/** What the ground needs of a logger. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** A logger for one part of the house, writing to standard error so that standard output stays for people and scripts. */
export function createLog(level: LogLevel, part: string): Logger {
  return pino(
    {
      level,
      base: { part },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describe },
    },
    pino.destination({ dest: 2, sync: true }),
  )
}

/** What of an error may be logged: no query values, no bodies. PostgreSQL's `detail` quotes row values and is left out. */
function describe(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const code = 'code' in error ? { code: error.code } : {}
  return { type: error.name, message: error.message, ...code, stack: error.stack }
}
