import type { Queryable } from '../../db/database.ts'
import type { Owner } from '../endpoint.ts'
import type { EventType } from '../event.ts'
import type { StoredEvent } from './delivery.ts'
import { eventsAbove, findEvent, readHead, seqsAbove, takeTransactionNumber } from './store.ts'

/** Events read at once. */
const BATCH = 200
/** Numbers looked back over at the start, for transactions that were still open then. */
const LOOK_BACK = 10_000
/** Whoever resumes gets again what happened so shortly before the last event that it got: others may have been committed after it. */
const OVERLAP_MS = 60_000
/** Events remembered while a long transaction keeps the floor from rising; beyond it the floor rises anyway. */
const SEEN_MAX = 10_000
/** Marks waiting for their transactions; they rise together once those are over. */
const MARKS_MAX = 100

export type Tail = {
  /** What has been committed since the last call, roughly in order; `more` when there is more to read right now. */
  next(): Promise<{ events: StoredEvent[]; more: boolean }>
}

/**
 * Follows an account's events as they are committed, each once. Numbers are taken before the commit, so a lower one may appear after a higher
 * one: everything above a floor is read again but for what was seen, and the floor rises to a number once all transactions that could have taken
 * a lower one are over.
 * @param after where to go on: the id of the last event that arrived. Events of about that time may come again. Undefined: from now on
 */
export async function tail(
  database: Queryable,
  owner: Owner,
  types: readonly EventType[] | undefined,
  after: string | undefined,
): Promise<Tail> {
  const head = await readHead(database)
  const resumed = after === undefined ? undefined : await findEvent(database, owner, after)
  let floor = Math.max(0, (resumed?.seq ?? head.last) - LOOK_BACK)
  const before = resumed && new Date(resumed.createdAt.getTime() - OVERLAP_MS)
  const seen = new Set(await seqsAbove(database, owner, floor, before))
  /** Whoever took a number up to `last` is a transaction before `transaction`. */
  const marks: { transaction: bigint; last: number }[] = []

  return {
    async next() {
      const { last, oldest } = await readHead(database)
      const events = await eventsAbove(database, owner, types, floor, [...seen], BATCH)
      for (const { seq } of events) seen.add(seq)
      const more = events.length === BATCH
      // Only what was read to its end lets the floor rise.
      if (!more) {
        while (marks.length > 0 && marks[0]!.transaction <= oldest)
          floor = Math.max(floor, marks.shift()!.last)
        if (seen.size > SEEN_MAX)
          floor = Math.max(floor, [...seen].sort((a, b) => a - b)[seen.size - SEEN_MAX]!)
        for (const seq of seen) if (seq <= floor) seen.delete(seq)
        if (last > (marks.at(-1)?.last ?? floor) && marks.length < MARKS_MAX)
          marks.push({ transaction: await takeTransactionNumber(database), last })
      }
      return { events, more }
    },
  }
}
