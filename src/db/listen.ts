import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { connectionConfig, type PoolOptions } from './pool.ts'

type Listener = (payload: string) => void

/** Waits between attempts to connect again; the last one repeats. */
const RECONNECT_WAITS_MS = [50, 200, 500, 1000, 2000, 5000]
/** A listening connection says nothing by itself; asked this often, it cannot be dead for long unnoticed. */
const HEARTBEAT_MS = 10_000
const CLOSE_PATIENCE_MS = 1000

/**
 * One connection that listens on all channels asked for, made when the first is. When it is lost it is made again,
 * and every listener is called with '', because what was notified in between is gone.
 */
export function listenOn(options: PoolOptions): {
  listen(channel: string, onNotify: Listener): Promise<() => Promise<void>>
  close(): Promise<void>
} {
  const { log } = options
  const listeners = new Map<string, Set<Listener>>()
  let client: pg.Client | undefined
  let connecting: Promise<pg.Client> | undefined
  let closed = false

  /** The connection, made if there is none, listening on every channel. */
  function connected(): Promise<pg.Client> {
    if (client) return Promise.resolve(client)
    connecting ??= open().finally(() => {
      connecting = undefined
    })
    return connecting
  }

  async function open(): Promise<pg.Client> {
    const fresh = new pg.Client({
      ...connectionConfig(options),
      application_name: `${options.applicationName} listen`,
    })
    fresh.on('error', error => log?.debug({ err: error }, 'listening connection lost'))
    fresh.on('notification', ({ channel, payload }) => {
      for (const listener of listeners.get(channel) ?? []) listener(payload ?? '')
    })
    try {
      await fresh.connect()
      for (const channel of listeners.keys()) await fresh.query(`listen ${pg.escapeIdentifier(channel)}`)
      if (closed) throw new Error('the database connection is closed')
    } catch (error) {
      void fresh.end().catch(() => {})
      throw error
    }
    const heartbeat = setInterval(() => void fresh.query('select 1').catch(() => {}), HEARTBEAT_MS)
    heartbeat.unref()
    fresh.once('end', () => {
      clearInterval(heartbeat)
      if (client === fresh) client = undefined
      void reconnect()
    })
    client = fresh
    return fresh
  }

  async function reconnect(): Promise<void> {
    for (let attempt = 0; !closed && listeners.size > 0; attempt++) {
      await sleep(RECONNECT_WAITS_MS[Math.min(attempt, RECONNECT_WAITS_MS.length - 1)], undefined, {
        ref: false,
      })
      try {
        if (closed) return
        await connected()
        log?.info({ attempt }, 'listening to the database again')
        for (const each of listeners.values()) for (const listener of each) listener('')
        return
      } catch (error) {
        log?.warn({ err: error, attempt }, 'cannot listen to the database; trying again')
      }
    }
  }

  return {
    async listen(channel, onNotify) {
      if (closed) throw new Error('the database connection is closed')
      const known = listeners.get(channel)
      const each = known ?? new Set<Listener>()
      // A listener of its own, so that the same function can listen twice.
      const listener: Listener = payload => onNotify(payload)
      each.add(listener)
      listeners.set(channel, each)
      const forget = () => {
        each.delete(listener)
        if (each.size === 0 && listeners.get(channel) === each) listeners.delete(channel)
        return each.size === 0
      }
      try {
        await (await connected()).query(`listen ${pg.escapeIdentifier(channel)}`)
      } catch (error) {
        forget()
        throw error
      }
      return async () => {
        if (forget()) await client?.query(`unlisten ${pg.escapeIdentifier(channel)}`).catch(() => {})
      }
    },

    async close() {
      closed = true
      listeners.clear()
      await connecting?.catch(() => {})
      const last = client
      const cut = setTimeout(() => last?.connection.stream.destroy(), CLOSE_PATIENCE_MS)
      await last?.end()
      clearTimeout(cut)
    },
  }
}
