import { isStatementError, isUnavailable } from '../../db/failure.ts'
import type { Log } from '../../log.ts'
import type { ResultRow } from './store.ts'

/** Results in one statement, and how long the first of them waits for more. */
const BATCH_MAX = 256
const GATHER_MS = 3
const RETRY_AFTER_MS = 200
/** SQLSTATE of a row that no partition takes. */
const NO_PARTITION = '23514'

export type Settler<R extends ResultRow> = {
  add(result: R): void
  /** Resolves when all that was added is written, or when `withinMs` has passed. */
  flush(withinMs: number): Promise<void>
}

export type SettlerNeeds<R extends ResultRow> = {
  log: Log
  /** Writes a batch; resolves to the lanes whose results settled nothing. */
  write(results: readonly R[]): Promise<readonly { endpoint: number; epoch: number }[]>
  /** Makes the days of the attempt log. */
  makeDays(): Promise<void>
  settled(result: R, stale: boolean): void
  /** A result that the database will not take, whatever we do. */
  refused(result: R): void
}

/** Writes results behind the attempts, one statement at a time, and keeps them until they are written. */
export function createSettler<R extends ResultRow>(needs: SettlerNeeds<R>): Settler<R> {
  const { log } = needs
  let waiting: R[] = []
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let failing = false

  function add(result: R): void {
    waiting.push(result)
    if (running !== undefined) return
    if (waiting.length >= BATCH_MAX) start()
    else timer ??= setTimeout(start, GATHER_MS)
  }

  function start(): void {
    clearTimeout(timer)
    timer = undefined
    running ??= run().finally(() => {
      running = undefined
      if (waiting.length > 0) timer ??= setTimeout(start, GATHER_MS)
    })
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX)
      waiting = waiting.slice(batch.length)
      if (!(await write(batch))) {
        waiting = [...batch, ...waiting]
        await new Promise(resolve => setTimeout(resolve, RETRY_AFTER_MS))
      }
      // What has come in meanwhile goes at once only when it fills a statement.
      if (waiting.length < BATCH_MAX) break
    }
  }

  /** False when it is to be tried again. */
  async function write(batch: readonly R[]): Promise<boolean> {
    try {
      const stale = await needs.write(batch)
      failing = false
      for (const result of batch) {
        const { endpoint, epoch } = result
        needs.settled(
          result,
          stale.some(lane => lane.endpoint === endpoint && lane.epoch === epoch),
        )
      }
      return true
    } catch (error) {
      const { code } = error as { code?: string }
      if (code === NO_PARTITION) {
        await needs.makeDays().catch(() => {})
        return false
      }
      if (isStatementError(error) && !isUnavailable(error)) return apart(batch, error)
      if (!failing)
        log.warn({ err: error, results: batch.length }, 'results could not be written; trying again')
      failing = true
      return false
    }
  }

  /** One result may be what the database does not take: it must not hold up the others. */
  async function apart(batch: readonly R[], error: unknown): Promise<boolean> {
    if (batch.length === 1) {
      log.error(
        { err: error, endpoint: batch[0]!.endpoint, event: batch[0]!.event },
        'a result cannot be written',
      )
      needs.refused(batch[0]!)
      return true
    }
    for (const result of batch) if (!(await write([result]))) waiting.push(result)
    return true
  }

  return {
    add,
    async flush(withinMs) {
      const until = performance.now() + withinMs
      while ((waiting.length > 0 || running !== undefined) && performance.now() < until) {
        start()
        await Promise.race([running, new Promise(resolve => setTimeout(resolve, until - performance.now()))])
      }
    },
  }
}
