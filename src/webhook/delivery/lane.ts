import type { WebhookId } from '../../id.ts'
import type { SigningSecrets } from '../endpoint.ts'
import type { DueRow } from './store.ts'
import type { Wire } from './wire.ts'

/** Attempts on the wire at once, for one endpoint. */
export const WIDTH_MAX = 8
/** Rows read and not settled yet, for one endpoint. */
export const ROOM = 32
/** Failures in a row after which an endpoint shares half the slots with its like. */
const AILING_AFTER = 5

/** A row in the buffer, and when it was read, by the monotonic clock. */
export type Queued = DueRow & { readAt: number }

/** One endpoint's deliveries in the hands of this sender. */
export type Lane = {
  endpoint: number
  epoch: number
  id: WebhookId
  revision: number
  /** Undefined where it cannot be parsed. */
  url: URL | undefined
  /** Undefined where they cannot be opened. */
  secrets: SigningSecrets | undefined
  width: number
  /** Failures since the last success. */
  failures: number
  buffer: Queued[]
  /** Events read and not settled in the database. */
  unsettled: Set<number>
  inFlight: number
  /** There may be more due than was read. */
  hungry: boolean
  /** Counts what made it hungry, so that a read under way does not answer for what came after it was sent. */
  wakes: number
  busyAt: number
  dropped: boolean
  queued: boolean
  /** Wires that are not in use, the warmest last. */
  wires: Wire[]
  sessions: { last?: Buffer }
}

export const isAiling = (lane: Lane): boolean => lane.failures >= AILING_AFTER
export const canStart = (lane: Lane): boolean =>
  !lane.dropped && lane.buffer.length > 0 && lane.inFlight < lane.width
export const canRead = (lane: Lane): boolean =>
  !lane.dropped && lane.hungry && lane.buffer.length === 0 && lane.unsettled.size < ROOM

/** Makes a lane wider by one success, or half as wide by a failure. */
export function adapt(lane: Lane, delivered: boolean): void {
  if (delivered) {
    lane.failures = 0
    lane.width = Math.min(WIDTH_MAX, lane.width + 1)
  } else {
    lane.failures++
    lane.width = Math.max(1, lane.width >> 1)
  }
}

/** Takes the warmest wire of a lane that is still open. */
export function openWire(lane: Lane): Wire | undefined {
  for (let wire = lane.wires.pop(); wire !== undefined; wire = lane.wires.pop())
    if (wire.isOpen()) return wire
  return undefined
}

export type Turns = {
  /** Puts a lane in line, if it can start something and is not there yet. */
  add(lane: Lane): void
  /** The lane whose turn it is. `ailingMayGo`: whether ailing ones have slots left. */
  next(ailingMayGo: boolean): Lane | undefined
}

/** Lanes that can start an attempt, each in turn: the healthy and the ailing stand in lines of their own. */
export function createTurns(): Turns {
  const healthy = line()
  const ailing = line()
  let turn = false

  function add(lane: Lane): void {
    if (lane.queued || !canStart(lane)) return
    lane.queued = true
    ;(isAiling(lane) ? ailing : healthy).push(lane)
  }

  function take(from: ReturnType<typeof line>): Lane | undefined {
    for (let lane = from.shift(); lane !== undefined; lane = from.shift()) {
      lane.queued = false
      if (!canStart(lane)) continue
      if (from === healthy && isAiling(lane)) {
        add(lane)
        continue
      }
      return lane
    }
    return undefined
  }

  return {
    add,
    next(ailingMayGo) {
      turn = !turn
      if (!ailingMayGo) return take(healthy)
      return turn ? (take(ailing) ?? take(healthy)) : (take(healthy) ?? take(ailing))
    },
  }
}

/** A queue that does not move its whole content at every step. */
function line(): { push(lane: Lane): void; shift(): Lane | undefined } {
  let lanes: Lane[] = []
  let head = 0
  return {
    push: lane => void lanes.push(lane),
    shift() {
      const lane = lanes[head]
      if (lane === undefined) return undefined
      head++
      if (head > 1024 && head * 2 > lanes.length) {
        lanes = lanes.slice(head)
        head = 0
      }
      return lane
    },
  }
}
