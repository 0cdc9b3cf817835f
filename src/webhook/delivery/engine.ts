import type { Database, Queryable } from '../../db/database.ts'
import type { Logger } from '../../log.ts'
import {
  webhookAttempts,
  webhookDisabled,
  webhookFirstAttemptSeconds,
  webhookInFlight,
  webhookLatenessSeconds,
  webhookLeasesLost,
  webhookStaleResults,
} from '../../metrics.ts'
import type { SecretKey } from '../endpoint.ts'
import { signatureHeaders } from '../signature.ts'
import { CHANGED, DUE } from '../wake.ts'
import { attempt, DEADLINE_MS } from './attempt.ts'
import { every } from './every.ts'
import { holdLanes } from './holding.ts'
import { adapt, createTurns, isAiling, type Lane, openWire, type Queued } from './lane.ts'
import { holdLease } from './lease.ts'
import { notTried, type Outcome } from './outcome.ts'
import { createReader } from './reader.ts'
import { createSettler } from './settle.ts'
import { deleteWorker, disableLane, notify, type ResultRow, settleResults } from './store.ts'
import { createWire, type Reach } from './wire.ts'

/** Attempts on the wire at once. */
const SLOTS = 256
/** How often we look for what nobody told us of. */
const SCAN_EVERY_MS = 250
const SWEEP_EVERY_MS = 1_000
const COMPARE_EVERY_MS = 2_000
/** A retry due sooner than this gets a timer; later ones are found by the scan. */
const TIMER_WITHIN_MS = 10_000
const SHORTAGE_WAIT_MS = 100
const STOP_PATIENCE_MS = 5_500
const SETTLE_PATIENCE_MS = 2_000

export type EngineNeeds = {
  /** Connected with `byIndexOnly`: what is due may be nothing now and millions of rows in a minute. */
  database: Database
  /** For the lease alone, so that a renewal never waits behind other work. */
  leaseDatabase: Queryable
  secretKey: SecretKey
  /** Part of the signature header's name. */
  brand: string
  /** Waits after the first failure, the second …; one attempt more than there are waits. */
  retryMs: readonly number[]
  reach: Reach
  log: Logger
  makeDays(): Promise<void>
  slots?: number
  deadlineMs?: number
  leaseMs?: number
}

export type Engine = {
  /** Something has become due for these endpoints, as this process committed it. */
  due(endpoints: readonly number[]): void
  /** Begins no more attempts, waits for those on the wire, settles them and lets go of all lanes. */
  stop(): Promise<void>
}

type Result = ResultRow & { lane: Lane; allGone: boolean }

/** Sends one region's events: lanes are held under a lease, what is due is read, sent, and settled under the lane's epoch. */
export async function startEngine(needs: EngineNeeds): Promise<Engine> {
  const { database: db, log, retryMs } = needs
  const { region } = needs.secretKey
  const slots = needs.slots ?? SLOTS
  const turns = createTurns()
  const timers = new Set<NodeJS.Timeout>()
  let inFlight = 0
  let ailingInFlight = 0
  let stopping = false
  let idle: PromiseWithResolvers<void> | undefined

  const reader = createReader(db, log, lanes => {
    for (const lane of lanes) turns.add(lane)
    pump()
  })
  const holding = holdLanes({ database: db, secretKey: needs.secretKey, log, lease: () => lease, reader })
  const settler = createSettler<Result>({
    log,
    write: results => settleResults(db, results),
    makeDays: needs.makeDays,
    settled,
    refused: result => later(() => forget(result), TIMER_WITHIN_MS),
  })
  const lease = await holdLease(
    needs.leaseDatabase,
    log,
    {
      lost() {
        webhookLeasesLost.inc({ region })
        for (const lane of [...holding.lanes.values()]) holding.drop(lane)
      },
      renewed: pump,
    },
    needs.leaseMs,
  )

  function pump(): void {
    while (inFlight < slots && !stopping && lease.fresh()) {
      const lane = turns.next(ailingInFlight < slots / 2)
      if (lane === undefined) return
      void send(lane, reader.take(lane))
      turns.add(lane)
    }
  }

  async function send(lane: Lane, row: Queued): Promise<void> {
    const worker = lease.worker()!
    const ailing = isAiling(lane)
    const startedAt = performance.now()
    const waited = startedAt - row.readAt
    if (row.attempt === 1 && row.series === 0)
      webhookFirstAttemptSeconds.observe({ region }, (row.age_ms + waited) / 1000)
    webhookLatenessSeconds.observe({ region }, Math.max(0, row.late_ms + waited) / 1000)
    inFlight++
    lane.inFlight++
    if (ailing) ailingInFlight++
    webhookInFlight.set({ region }, inFlight)
    const { outcome, hopeless } = await tryOnce(lane, row)
    inFlight--
    lane.inFlight--
    if (ailing) ailingInFlight--
    webhookInFlight.set({ region }, inFlight)
    lane.busyAt = performance.now()
    if (outcome.untried) {
      // No fault of the endpoint's: as if nothing had been read. Idle connections make room.
      holding.closeIdleWires(0)
      lane.unsettled.delete(row.event)
      later(() => holding.wake(lane), SHORTAGE_WAIT_MS)
    } else conclude(lane, row, worker, startedAt, outcome, hopeless)
    turns.add(lane)
    pump()
    if (inFlight === 0) idle?.resolve()
  }

  /** `hopeless`: what is wrong is wrong with the row, and another attempt would meet it again. */
  async function tryOnce(lane: Lane, row: Queued): Promise<{ outcome: Outcome; hopeless: boolean }> {
    const { url, secrets } = lane
    if (secrets === undefined) return { outcome: notTried('secret_unreadable'), hopeless: true }
    if (url === undefined) return { outcome: notTried('url_refused'), hopeless: true }
    const { id, body } = row
    const headers = {
      'content-type': 'application/json',
      'user-agent': `${needs.brand}-Webhooks/1`,
      [`X-${needs.brand}-Attempt`]: String(row.attempt),
      ...signatureHeaders(needs.brand, secrets, { id, at: lease.now(), body }),
    }
    try {
      const make = () => createWire(url, needs.reach, lane.sessions)
      const message = { path: url.pathname + url.search, headers, body }
      const { outcome, wire } = await attempt(openWire(lane), make, message, needs.deadlineMs ?? DEADLINE_MS)
      if (wire !== undefined && !lane.dropped) lane.wires.push(wire)
      else wire?.cut(new Error('the lane was let go'))
      return { outcome, hopeless: false }
    } catch (error) {
      log.error({ err: error, endpoint: lane.id, event: id }, 'an attempt could not be made')
      return { outcome: notTried('url_refused'), hopeless: true }
    }
  }

  function conclude(
    lane: Lane,
    row: Queued,
    worker: number,
    startedAt: number,
    outcome: Outcome,
    hopeless: boolean,
  ): void {
    const delivered = outcome.reason === null
    const last = row.attempt > retryMs.length
    const again = !delivered && !last && !hopeless
    webhookAttempts.inc({ region, reason: outcome.reason ?? 'delivered' })
    adapt(lane, delivered)
    settler.add({
      ...outcome,
      lane,
      worker,
      endpoint: lane.endpoint,
      epoch: lane.epoch,
      event: row.event,
      eventAt: row.event_at,
      series: row.series,
      n: row.attempt,
      verdict: delivered ? 'delivered' : again ? 'again' : 'exhausted',
      waitMs: again ? retryMs[row.attempt - 1]! * (0.9 + 0.2 * Math.random()) : 0,
      width: lane.width,
      startedAt,
      allGone: last && outcome.status === 410 && row.gone === row.attempt - 1,
    })
  }

  function settled(result: Result, stale: boolean): void {
    const { lane, verdict, waitMs } = result
    if (stale) {
      webhookStaleResults.inc({ region })
      if (!lane.dropped) holding.letGo(lane)
    } else if (verdict === 'again' && waitMs < TIMER_WITHIN_MS) {
      later(() => holding.wake(lane), waitMs + 1)
    } else if (result.allGone) void disable(lane)
    forget(result)
  }

  function forget({ lane, event }: Result): void {
    lane.unsettled.delete(event)
    reader.consider(lane)
  }

  async function disable({ endpoint, id }: Lane): Promise<void> {
    try {
      if (!(await disableLane(db, endpoint, 'gone'))) return
      webhookDisabled.inc({ region, reason: 'gone' })
      log.warn({ webhookId: id }, 'an endpoint said that it is gone, every time; disabled')
      await notify(db, CHANGED, String(endpoint))
    } catch (error) {
      log.warn({ err: error, webhookId: id }, 'an endpoint that is gone could not be disabled')
    }
  }

  function later(work: () => void, ms: number): void {
    if (stopping) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      work()
    }, ms)
    timers.add(timer)
  }

  const scanning = every(SCAN_EVERY_MS, 'the look for what is due', log, holding.scan)
  const comparing = every(COMPARE_EVERY_MS, 'the comparison of lanes', log, holding.compareAll)
  const sweeping = every(SWEEP_EVERY_MS, 'the sweep', log, holding.sweep)
  scanning.now()
  const unlisten = await Promise.all([
    db.listen(DUE, payload => {
      if (payload === '') scanning.now()
      else if (!stopping) holding.due(payload.split(',').map(Number), false)
    }),
    db.listen(CHANGED, payload => {
      if (payload === '') comparing.now()
      else void holding.changed(Number(payload)).catch(comparing.now)
    }),
  ])

  async function stop(): Promise<void> {
    stopping = true
    reader.stop()
    for (const timer of timers) clearTimeout(timer)
    await Promise.all([...unlisten.map(end => end()), scanning.stop(), comparing.stop(), sweeping.stop()])
    if (inFlight > 0) {
      idle = Promise.withResolvers()
      const patience = setTimeout(idle.resolve, STOP_PATIENCE_MS)
      await idle.promise
      clearTimeout(patience)
    }
    await settler.flush(SETTLE_PATIENCE_MS)
    await holding.settled()
    const worker = lease.worker()
    await lease.stop()
    if (worker !== undefined)
      await deleteWorker(db, worker).catch(error => log.warn({ err: error }, 'lanes could not be let go'))
    for (const lane of [...holding.lanes.values()]) holding.drop(lane)
  }

  return {
    due: endpoints => {
      if (!stopping) holding.due(endpoints, true)
    },
    stop,
  }
}
