import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '../db/database.ts'
import type { KeyId } from '../id.ts'
import { deleteRequests, insertRequests, type RequestEntry, updateLastUse } from './store.ts'

const FLUSH_EVERY_MS = 250
/** Lines written by one statement. */
const BATCH_MAX = 500
/** Lines waiting; more are dropped and counted, for a slow database must not fill the memory. */
const WAITING_MAX = 10_000
/** Keys whose last written minute is remembered, so that each is written once a minute. */
const USES_MAX = 10_000
const CLOSE_WITHIN_MS = 2000
const MINUTE_MS = 60_000
const PRUNE_BATCH = 5000

export type RequestLog = {
  /** Notes an answered request; returns at once and never throws. */
  add(entry: RequestEntry): void
  /** Lines lost so far, because too many waited or the database refused them. */
  dropped(): number
  /** Lines waiting to be written. */
  waiting(): number
  /** Writes what waits, within `withinMs`; what is still left then is lost and counted. */
  close(withinMs?: number): Promise<void>
}

/**
 * The log of requests that partners and support read, written behind the requests in batches; with it goes the
 * minute of each key's last use. A batch that fails is kept and tried again.
 */
export function requestLog(needs: {
  database: Queryable
  log: { warn(fields: object, message: string): void }
}): RequestLog {
  const { database, log } = needs
  let waiting: RequestEntry[] = []
  let dropped = 0
  let reported = 0
  let failing = false
  let flushing: Promise<boolean> | undefined
  /** Minute of last use that is not written yet, and that which is. */
  const uses = new Map<KeyId, number>()
  const written = new Map<KeyId, number>()
  const timer = setInterval(() => void flush(), FLUSH_EVERY_MS).unref()

  function add(entry: RequestEntry): void {
    if (entry.keyId !== undefined) note(entry.keyId, entry.at - (entry.at % MINUTE_MS))
    if (waiting.length >= WAITING_MAX) {
      dropped++
      return
    }
    waiting.push(entry)
    if (waiting.length % BATCH_MAX === 0) void flush()
  }

  function note(keyId: KeyId, minute: number): void {
    if ((written.get(keyId) ?? 0) < minute && (uses.has(keyId) || uses.size < USES_MAX))
      uses.set(keyId, minute)
  }

  /** One flush at a time; whether all that waited was written. */
  function flush(): Promise<boolean> {
    flushing ??= write().finally(() => {
      flushing = undefined
    })
    return flushing
  }

  async function write(): Promise<boolean> {
    try {
      while (waiting.length > 0) {
        const batch = waiting.slice(0, BATCH_MAX)
        const lost = await insertRequests(database, batch).then(() => 0, lostBy(batch))
        // Lines only ever join at the end, so the batch is still what stands in front.
        waiting = waiting.slice(batch.length)
        dropped += lost
      }
      if (uses.size > 0) await writeUses()
      if (dropped > reported) {
        log.warn({ lines: dropped - reported }, 'lines of the request log were dropped')
        reported = dropped
      }
      failing = false
      return true
    } catch (error) {
      // Once for each trouble, not four times a second.
      if (!failing)
        log.warn(
          { err: error, waiting: waiting.length },
          'the request log could not be written; it is tried again',
        )
      failing = true
      return false
    }
  }

  async function writeUses(): Promise<void> {
    const batch = [...uses]
    await updateLastUse(database, batch)
    if (written.size + batch.length > USES_MAX) written.clear()
    for (const [keyId, minute] of batch) {
      written.set(keyId, minute)
      if (uses.get(keyId) === minute) uses.delete(keyId)
    }
  }

  async function close(withinMs: number = CLOSE_WITHIN_MS): Promise<void> {
    clearInterval(timer)
    const ended = sleep(withinMs, 'late' as const, { ref: false })
    for (let late = false; !late && (waiting.length > 0 || uses.size > 0); ) {
      const outcome = await Promise.race([flush(), ended])
      if (outcome === false) await Promise.race([sleep(FLUSH_EVERY_MS), ended])
      late = outcome === 'late'
    }
    if (waiting.length > 0)
      log.warn({ lines: waiting.length }, 'lines of the request log were lost at the end')
    dropped += waiting.length
    waiting = []
  }

  return { add, dropped: () => dropped, waiting: () => waiting.length, close }
}

/**
 * Deletes request lines older than a number of days by the database's clock, in small statements that hold no lock
 * for long.
 * @returns how many lines went
 */
export async function pruneRequestLog(db: Queryable, olderThanDays: number = 30): Promise<number> {
  let total = 0
  for (;;) {
    const deleted = await deleteRequests(db, olderThanDays, PRUNE_BATCH)
    total += deleted
    if (deleted < PRUNE_BATCH) return total
  }
}

/** Data that the database will never take (SQLSTATE classes 22 and 23) is lost at once, or it would hold up all that follows. */
function lostBy(batch: readonly RequestEntry[]): (error: unknown) => number {
  return error => {
    const state = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (/^2[23]...$/.test(state)) return batch.length
    throw error
  }
}
