import type { Queryable } from '../../db/database.ts'
import type { Log } from '../../log.ts'
import { insertWorker, renewLease } from './store.ts'

/** A sender that is silent for so long has lost its lanes. */
export const LEASE_MS = 6_000
const RENEW_EVERY_MS = 2_000
/** An attempt begins only so soon after the last good renewal was sent: well before anybody else may begin one. */
const START_WITHIN_MS = 4_000
const RETRY_AFTER_MS = 300

export type Lease = {
  /** This sender's number; undefined while it has none. */
  worker(): number | undefined
  /** Whether an attempt may begin. */
  fresh(): boolean
  /** The database's clock, in milliseconds since 1970. This machine's may be wrong. */
  now(): number
  stop(): Promise<void>
}

/**
 * One lease for all lanes of a sender, renewed every 2 s. When it could not be renewed in time, `lost` is called, and a new one is taken under
 * another number.
 */
export async function holdLease(
  db: Queryable,
  log: Log,
  on: { lost(): void; renewed(): void },
  leaseMs: number = LEASE_MS,
): Promise<Lease> {
  let worker: number | undefined
  let sentAt = Number.NEGATIVE_INFINITY
  let clock = { database: Date.now(), monotonic: performance.now() }
  let stopped = false
  let rest: { resolve(): void } | undefined

  async function take(): Promise<void> {
    const at = performance.now()
    const taken = await insertWorker(db, leaseMs)
    worker = taken.id
    renewed(at, taken.now)
  }

  function renewed(at: number, now: number): void {
    sentAt = at
    clock = { database: now, monotonic: performance.now() }
  }

  async function renew(): Promise<void> {
    const at = performance.now()
    const now = await renewLease(db, worker!, leaseMs)
    if (now === undefined) {
      log.warn({ worker }, 'the lease was not renewed in time; all lanes are let go')
      worker = undefined
      on.lost()
      if (!stopped) await take()
    } else renewed(at, now)
  }

  async function run(): Promise<void> {
    while (!stopped) {
      await sleep(RENEW_EVERY_MS * (leaseMs / LEASE_MS))
      for (let failing = false; !stopped; ) {
        try {
          if (worker === undefined) await take()
          else await renew()
          on.renewed()
          break
        } catch (error) {
          if (!failing) log.warn({ err: error }, 'the lease could not be renewed; trying again')
          failing = true
          await sleep(RETRY_AFTER_MS)
        }
      }
    }
  }

  const sleep = (ms: number) =>
    new Promise<void>(resolve => {
      if (stopped) return resolve()
      const timer = setTimeout(resolve, ms)
      rest = {
        resolve() {
          clearTimeout(timer)
          resolve()
        },
      }
    })

  await take()
  const running = run()
  return {
    worker: () => worker,
    fresh: () => worker !== undefined && performance.now() - sentAt < START_WITHIN_MS * (leaseMs / LEASE_MS),
    now: () => clock.database + performance.now() - clock.monotonic,
    async stop() {
      stopped = true
      rest?.resolve()
      await running
    },
  }
}
