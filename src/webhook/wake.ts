import type { Queryable, Transaction } from '../db/database.ts'
import { notify } from './delivery/store.ts'

/** Deliveries have become due: the payload is the endpoints' numbers, separated by commas. */
export const DUE = 'airside_webhook_due'
/** An endpoint was changed, disabled or closed: whoever holds its lane looks again. */
export const CHANGED = 'airside_webhook_changed'

/** A payload may have 8,000 bytes. */
const PAYLOAD_ENDPOINTS_MAX = 700
/** Commits that come together are told together. */
const GATHER_MS = 2

/** Notes that these endpoints have something due, for whoever hears the commit. */
export function noteDue(tx: Transaction, endpoints: readonly number[]): void {
  for (const endpoint of endpoints) tx.note(`${NOTE}${endpoint}`)
}

const NOTE = 'webhook '

/** The endpoints among a transaction's notes. */
export function dueIn(notes: readonly string[]): number[] {
  return notes.filter(note => note.startsWith(NOTE)).map(note => Number(note.slice(NOTE.length)))
}

/**
 * Tells senders in other processes, by NOTIFY: endpoints coalesced, one statement under way at a time. Notifying takes a lock of the whole
 * database, so it never stands in a booking's transaction. What cannot be told is found by the senders themselves a little later.
 */
export function notifier(database: Queryable): {
  due(endpoints: readonly number[]): void
  settled(): Promise<void>
} {
  const waiting = new Set<number>()
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (waiting.size > 0) {
      await new Promise(resolve => setTimeout(resolve, GATHER_MS))
      const batch = [...waiting].slice(0, PAYLOAD_ENDPOINTS_MAX)
      for (const endpoint of batch) waiting.delete(endpoint)
      await notify(database, DUE, batch.join(',')).catch(() => {})
    }
  }

  return {
    due(endpoints) {
      for (const endpoint of endpoints) waiting.add(endpoint)
      running ??= run().finally(() => {
        running = undefined
      })
    },
    async settled() {
      await running
    },
  }
}
