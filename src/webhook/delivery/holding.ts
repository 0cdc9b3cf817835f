import type { Database } from '../../db/database.ts'
import type { Log } from '../../log.ts'
import { openSecret, type SecretKey, type SigningSecrets } from '../endpoint.ts'
import { notifier } from '../wake.ts'
import type { Lane } from './lane.ts'
import type { Lease } from './lease.ts'
import type { Reader } from './reader.ts'
import {
  buryWorkers,
  changedLanes,
  claimLanes,
  dueLanes,
  type LaneRow,
  releaseLanes,
  unknownLanes,
} from './store.ts'

/** Lanes in one claim. */
const LANES_MAX = 500
const IDLE_AFTER_MS = 10_000
/** Open connections kept without use, for all lanes together. */
const IDLE_WIRES_MAX = 1_024

export type HoldingNeeds = {
  database: Database
  secretKey: SecretKey
  log: Log
  lease(): Lease
  reader: Reader
}

/** The lanes this sender holds. */
export type Holding = {
  lanes: ReadonlyMap<number, Lane>
  /** Something is due for these endpoints. `ours`: this process committed it, and nobody else has heard. */
  due(endpoints: readonly number[], ours: boolean): void
  wake(lane: Lane): void
  /** Forgets a lane: nothing more begins for it. What is on the wire ends, and settles only if nobody has taken the lane over. */
  drop(lane: Lane): void
  /** Forgets a lane and lets go of it in the database. */
  letGo(lane: Lane): void
  /** Looks for lanes with something due that nobody told us of, and for senders that are dead. */
  scan(): Promise<void>
  /**
   * Compares lanes with the database: lost, closed and disabled ones are dropped, changed endpoints taken over, and lanes let go of that are ours
   * in the database alone, because the answer to a claim was lost.
   */
  compareAll(): Promise<void>
  /** An endpoint was changed, disabled or closed. Whoever closed it waits until we have let go. */
  changed(endpoint: number): Promise<void>
  /** Lets go of lanes that have nothing to do. */
  sweep(): void
  /** Closes connections that are open without use, the coldest first, until so many are left. */
  closeIdleWires(keep: number): void
  /** Resolves when what was being claimed and released is. */
  settled(): Promise<void>
}

/** Claims lanes, keeps them as their endpoints are, and lets go of them. */
export function holdLanes({ database: db, secretKey, log, lease, reader }: HoldingNeeds): Holding {
  const lanes = new Map<number, Lane>()
  /** Lanes to claim, and whether this process was the one to commit what is due there. */
  const wanted = new Map<number, boolean>()
  const elsewhere = notifier(db)
  let claiming: Promise<void> | undefined
  let releasing: Promise<void> = Promise.resolve()

  function due(endpoints: readonly number[], ours: boolean): void {
    for (const endpoint of endpoints) {
      const lane = lanes.get(endpoint)
      if (lane === undefined) wanted.set(endpoint, ours || wanted.get(endpoint) === true)
      else wake(lane)
    }
    if (wanted.size > 0) claimSoon()
  }

  function wake(lane: Lane): void {
    lane.hungry = true
    lane.wakes++
    reader.consider(lane)
  }

  function claimSoon(): void {
    claiming ??= claim()
      .catch(error => log.debug({ err: error }, 'lanes could not be claimed; the next look finds them'))
      .finally(() => {
        claiming = undefined
        if (wanted.size > 0) claimSoon()
      })
  }

  async function claim(): Promise<void> {
    await releasing
    const batch = [...wanted].slice(0, LANES_MAX)
    for (const [endpoint] of batch) wanted.delete(endpoint)
    const worker = lease().worker()
    if (worker === undefined) return
    const rows = await claimLanes(
      db,
      worker,
      batch.map(([endpoint]) => endpoint),
    )
    if (lease().worker() !== worker) return
    for (const row of rows) adopt(row)
    // Somebody else holds the others, and has not heard of what was committed here.
    elsewhere.due(
      batch.filter(([endpoint, ours]) => ours && !lanes.has(endpoint)).map(([endpoint]) => endpoint),
    )
  }

  function adopt(row: LaneRow): void {
    const lane: Lane = {
      endpoint: row.endpoint,
      epoch: row.epoch,
      id: row.id,
      revision: row.revision,
      url: URL.canParse(row.url) ? new URL(row.url) : undefined,
      secrets: secretsOf(row),
      width: row.width,
      failures: 0,
      buffer: [],
      unsettled: new Set(),
      inFlight: 0,
      hungry: true,
      wakes: 0,
      busyAt: performance.now(),
      dropped: false,
      queued: false,
      wires: [],
      sessions: {},
    }
    lanes.set(row.endpoint, lane)
    reader.consider(lane)
  }

  function secretsOf(row: LaneRow): SigningSecrets | undefined {
    const current = openSecret(secretKey, row.id, row.secret)
    if (current === undefined) return undefined
    const secrets: SigningSecrets = { current: { text: current, given: row.secret_given } }
    if (row.previous_secret === null) return secrets
    const previous = openSecret(secretKey, row.id, row.previous_secret)
    if (previous === undefined) return undefined
    return {
      ...secrets,
      previous: { secret: { text: previous, given: row.previous_given! }, until: row.cut_over! },
    }
  }

  function drop(lane: Lane): void {
    lane.dropped = true
    reader.empty(lane)
    if (lanes.get(lane.endpoint) === lane) lanes.delete(lane.endpoint)
    for (const wire of lane.wires.splice(0)) wire.cut(new Error('the lane was let go'))
  }

  /** A claim waits for it, so that what is released here is never what was just claimed. */
  function release(endpoints: readonly number[]): Promise<void> {
    const worker = lease().worker()
    if (worker === undefined || endpoints.length === 0) return releasing
    releasing = releasing
      .then(() => releaseLanes(db, worker, endpoints))
      .catch(error => log.debug({ err: error }, 'lanes could not be released; the next look finds them'))
    return releasing
  }

  async function scan(): Promise<void> {
    await buryWorkers(db)
    const worker = lease().worker()
    if (worker === undefined) return
    due(await dueLanes(db, worker), false)
  }

  async function compare(held: readonly Lane[]): Promise<void> {
    const worker = lease().worker()
    if (worker === undefined || held.length === 0) return
    const lost: number[] = []
    for (const { held: stillHeld, ...row } of await changedLanes(db, worker, held)) {
      const lane = lanes.get(row.endpoint)
      if (lane === undefined || lane.epoch !== row.epoch) continue
      if (stillHeld) {
        lane.secrets = secretsOf(row)
        lane.revision = row.revision
      } else {
        drop(lane)
        lost.push(lane.endpoint)
      }
    }
    await release(lost)
  }

  async function compareAll(): Promise<void> {
    await compare([...lanes.values()])
    const worker = lease().worker()
    if (worker === undefined) return
    const strays = await unknownLanes(db, worker, [...lanes.keys()])
    // A claim may have been answered meanwhile.
    await claiming
    await release(strays.filter(endpoint => !lanes.has(endpoint)))
  }

  async function changed(endpoint: number): Promise<void> {
    await claiming
    const lane = lanes.get(endpoint)
    await (lane === undefined ? release([endpoint]) : compare([lane]))
  }

  function sweep(): void {
    const now = performance.now()
    const idlers = [...lanes.values()].filter(
      lane => lane.unsettled.size === 0 && !lane.hungry && now - lane.busyAt > IDLE_AFTER_MS,
    )
    for (const lane of idlers) drop(lane)
    void release(idlers.map(lane => lane.endpoint))
    closeIdleWires(IDLE_WIRES_MAX)
  }

  function closeIdleWires(keep: number): void {
    let open = 0
    for (const lane of lanes.values()) {
      lane.wires = lane.wires.filter(wire => wire.isOpen())
      while (lane.wires.length > 0 && open + lane.wires.length > keep)
        lane.wires.shift()!.cut(new Error('too many idle connections'))
      open += lane.wires.length
    }
  }

  return {
    lanes,
    due,
    wake,
    drop,
    letGo(lane) {
      drop(lane)
      void release([lane.endpoint])
    },
    scan,
    compareAll,
    changed,
    sweep,
    closeIdleWires,
    async settled() {
      await claiming
      await releasing
      await elsewhere.settled()
    },
  }
}
