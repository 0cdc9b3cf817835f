import { setTimeout as sleep } from 'node:timers/promises'
import { readClock } from './db/clock.ts'
import type { Database } from './db/database.ts'
import type { Logger } from './log.ts'
import { monotonicMs } from './partner/admit.ts'
import { readGeneration } from './partner/store.ts'
import { beat, type Pulse } from './pulse.ts'
import { buffersOf, followSeats, type ImageCache, type Loaded, loadWorld } from './supplier/inventory/load.ts'
import { readState } from './supplier/inventory/store.ts'
import { sameGeneration, type WorldBuffers } from './supplier/inventory/world.ts'

/** How often the database is looked at when nobody says that it changed. */
const BEAT_MS = 250
/** Changes that come together are read together. */
const GATHER_MS = 10

export type Follower = {
  /** What is for sale now, for a thread that starts. */
  world(): WorldBuffers | undefined
  /** Asks for a look at the seats at once; resolves when they are up to date. */
  seatsChanged(): Promise<void>
  stop(): Promise<void>
}

export type FollowNeeds = {
  database: Database
  pulse: Pulse
  images: ImageCache
  log: Logger
  now(): number
  /** Whether this process sells: one that only works for the worker's door needs no timetable. */
  sells: boolean
  /** Given a new world, to be handed to all threads. */
  swap(world: WorldBuffers): void
}

/**
 * Keeps one region's share of a process up to date with its database: which keys were changed, what was imported, which seats were sold. Looks
 * four times a second, and at once when told.
 */
export async function follow(needs: FollowNeeds): Promise<Follower> {
  const { database, log } = needs
  let loaded: Loaded | undefined
  let stopped = false
  let failing = false
  let wake: (() => void) | undefined
  let asked: PromiseWithResolvers<void> | undefined

  async function look(): Promise<void> {
    const sentAt = monotonicMs()
    const databaseNow = await readClock(database)
    const answeredAt = monotonicMs()
    beat(needs.pulse, await readGeneration(database), databaseNow, sentAt, answeredAt)
    if (!needs.sells) return
    const state = await readState(database)
    const stale =
      loaded === undefined ? state.imageBytes > 0 : !sameGeneration(state, loaded.world.generation)
    if (stale) {
      const startedAt = performance.now()
      loaded = await loadWorld(database, needs.images, needs.now())
      if (loaded === undefined) return
      needs.swap(buffersOf(loaded))
      const { flights, airports } = loaded.world.timetable.counts
      log.info(
        { ...loaded.world.generation, flights, airports, ms: Math.round(performance.now() - startedAt) },
        'inventory loaded',
      )
    } else if (loaded !== undefined && (await followSeats(database, loaded, needs.now())))
      needs.swap(buffersOf(loaded))
  }

  async function run(): Promise<void> {
    while (!stopped) {
      const answering = asked
      asked = undefined
      try {
        await look()
        if (failing) log.info('the database answers again')
        failing = false
      } catch (error) {
        if (!failing && !stopped) log.warn({ err: error }, 'the database does not answer')
        failing = true
      }
      answering?.resolve()
      if (asked === undefined && !stopped) await rest()
      if (asked !== undefined && !failing) await sleep(GATHER_MS)
      else if (asked !== undefined) await sleep(BEAT_MS)
    }
    asked?.resolve()
  }

  function rest(): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, BEAT_MS)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  await look()
  const unlisten = await database.listen('airside', () => wake?.())
  const running = run()
  return {
    world: () => loaded && buffersOf(loaded),
    seatsChanged() {
      asked ??= Promise.withResolvers<void>()
      wake?.()
      return asked.promise
    },
    async stop() {
      stopped = true
      wake?.()
      await unlisten()
      await running
    },
  }
}
