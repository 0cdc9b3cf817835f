import type { Queryable } from '../../db/database.ts'
import type { Log } from '../../log.ts'
import { canRead, type Lane, type Queued, ROOM } from './lane.ts'
import { readDue } from './store.ts'

const READ_EVERY_MS = 2
/** Lanes in one read. */
const LANES_MAX = 500
/** Bodies read and not sent yet, for all lanes together. */
const BUFFER_BYTES_MAX = 8 * 1024 * 1024
const RETRY_AFTER_MS = 250

export type Reader = {
  /** Reads for a lane, soon, if it is hungry and has room and nothing buffered. */
  consider(lane: Lane): void
  /** Takes the next row of a lane's buffer. */
  take(lane: Lane): Queued
  /** Forgets what a lane has buffered. */
  empty(lane: Lane): void
  stop(): void
}

/**
 * Reads what is due into the lanes' buffers: one statement for all lanes with room, one at a time. There is no cursor: numbers of events are drawn
 * before they are committed, so a later number may show first. What is read and not settled is left out by name.
 * @param filled told when lanes have got rows
 */
export function createReader(db: Queryable, log: Log, filled: (lanes: readonly Lane[]) => void): Reader {
  const readable = new Set<Lane>()
  let bytes = 0
  let reading = false
  let readAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  function consider(lane: Lane): void {
    if (!canRead(lane)) return
    readable.add(lane)
    readSoon()
  }

  function readSoon(): void {
    if (reading || timer !== undefined || stopped || bytes >= BUFFER_BYTES_MAX) return
    const wait = readAt + READ_EVERY_MS - performance.now()
    if (wait > 0) readIn(wait)
    else {
      // Only once whoever woke us is done: it may have more lanes for the same read.
      reading = true
      queueMicrotask(() => void read())
    }
  }

  function readIn(ms: number): void {
    timer = setTimeout(() => {
      timer = undefined
      reading = true
      void read()
    }, ms)
  }

  async function read(): Promise<void> {
    readAt = performance.now()
    const asked: { lane: Lane; endpoint: number; room: number; unsettled: Set<number>; wakes: number }[] = []
    for (const lane of readable) {
      readable.delete(lane)
      if (!canRead(lane)) continue
      const { endpoint, unsettled, wakes } = lane
      asked.push({ lane, endpoint, room: ROOM - unsettled.size, unsettled, wakes })
      if (asked.length === LANES_MAX) break
    }
    try {
      const rows = asked.length === 0 ? [] : await readDue(db, asked)
      const at = performance.now()
      const found = Map.groupBy(rows, row => row.endpoint)
      for (const { lane, endpoint, room, wakes } of asked) {
        const own = found.get(endpoint) ?? []
        if (lane.dropped) continue
        if (own.length < room && lane.wakes === wakes) lane.hungry = false
        for (const row of own) {
          lane.unsettled.add(row.event)
          bytes += row.body.length
          lane.buffer.push({ ...row, readAt: at })
        }
        if (own.length > 0) lane.busyAt = at
        if (canRead(lane)) readable.add(lane)
      }
      reading = false
      filled(asked.map(({ lane }) => lane))
      if (readable.size > 0) readSoon()
    } catch (error) {
      reading = false
      if (stopped) return
      log.warn({ err: error }, 'what is due could not be read; trying again')
      for (const { lane } of asked) if (canRead(lane)) readable.add(lane)
      if (timer === undefined) readIn(RETRY_AFTER_MS)
    }
  }

  return {
    consider,
    take(lane) {
      const row = lane.buffer.shift()!
      bytes -= row.body.length
      consider(lane)
      if (readable.size > 0) readSoon()
      return row
    },
    empty(lane) {
      readable.delete(lane)
      for (const row of lane.buffer) bytes -= row.body.length
      lane.buffer = []
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
