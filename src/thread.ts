import { createServer } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { FastifyInstance } from 'fastify'
import { createApi } from './api/server.ts'
import { book } from './booking/book.ts'
import { findBooking, listBookings } from './booking/read.ts'
import { connect, type Database } from './db/database.ts'
import { createLog } from './log.ts'
import type { Due, FromThread, RegionStart, ThreadStart, ToThread } from './messages.ts'
import { bookings, registry, requestLogDropped, requestSeconds, requests } from './metrics.ts'
import { search } from './offer/search.ts'
import { admission } from './partner/admit.ts'
import { allowanceKey, attachAllowances, rateLimitHeaders, take } from './partner/allowance.ts'
import { PEPPER_PURPOSE } from './partner/key.ts'
import { requestLog } from './partner/request-log.ts'
import { age, clock, freshAt, isServing, keyGeneration, pulse } from './pulse.ts'
import { deriveKey } from './secret.ts'
import type { Region } from './settings.ts'
import { createInventory, INVENTORY } from './supplier/inventory/inventory.ts'
import { rulesOf } from './supplier/inventory/rules.ts'
import { openWorld, type World } from './supplier/inventory/world.ts'
import { networks } from './webhook/address.ts'
import { secretPurpose } from './webhook/endpoint.ts'
import { createResolver } from './webhook/resolve.ts'
import { dueIn, notifier } from './webhook/wake.ts'

/** The roof of one API thread: a listener for each region, over the shared timetable. Everything else lives in the control thread. */
const start = workerData as ThreadStart
const control = parentPort!
const tell = (message: FromThread) => control.postMessage(message)
const log = createLog(start.settings.log, 'api')

/** A thread that has not heard from the database for so long is not ready. */
const PULSE_AGE_MAX_MS = 2_000
/** Connections of all threads and regions together, so that a database with the usual hundred has room. */
const CONNECTIONS_TOTAL = 64
const CONNECTIONS_MAX = 10
const ASK_TIMEOUT_MS = 2_000
/** How often a door that closes looks for connections whose last answer is out. */
const IDLE_SWEEP_MS = 50

const asked = new Map<number, (answer: string) => void>()
let tickets = 0

/** Asks the control thread; resolves with its answer, or with '' when it gives none in time. */
function ask(message: (ticket: number) => FromThread): Promise<string> {
  const ticket = ++tickets
  return new Promise(resolve => {
    const timer = setTimeout(() => answer(ticket, ''), ASK_TIMEOUT_MS)
    asked.set(ticket, text => {
      clearTimeout(timer)
      resolve(text)
    })
    tell(message(ticket))
  })
}

function answer(ticket: number, text: string): void {
  asked.get(ticket)?.(text)
  asked.delete(ticket)
}

type Door = { api: FastifyInstance; database: Database; close(): Promise<void>; swap(world: World): void }

function openDoor({ region, database: options, pulse: beats, world: first }: RegionStart): Door {
  const { settings, secret } = start
  const share = Math.floor(CONNECTIONS_TOTAL / settings.threads / start.regions.length)
  const poolMax = Math.max(2, Math.min(CONNECTIONS_MAX, share))
  const database = connect({
    ...options,
    poolMax,
    applicationName: `airside ${region} api`,
    log,
    committed: notes => tellSender(dueIn(notes)),
  })
  const elsewhere =
    start.sender === undefined
      ? connect({ ...options, poolMax: 1, applicationName: `airside ${region} notify`, log })
      : undefined
  const notices = elsewhere && notifier(elsewhere)
  const tellSender = (endpoints: number[]) => {
    if (endpoints.length === 0) return
    if (notices !== undefined) notices.due(endpoints)
    else start.sender?.postMessage({ region, endpoints } satisfies Due)
  }
  const shared = pulse(beats)
  const now = clock(shared)
  const table = attachAllowances(start.allowance)
  const requestsLog = requestLog({ database, log })
  let world = first && openWorld(first)
  const inventory = createInventory(() => world, rulesOf(settings))
  const house = {
    suppliers: new Map([[INVENTORY, inventory]]),
    database,
    log,
    now,
    rates: () => world?.rates,
    offerKey: deriveKey(secret, `offer ${region}`),
    requestKey: deriveKey(secret, `request ${region}`),
    travellerKey: { master: deriveKey(secret, `traveller data ${region}`), region },
    bookingWaitMs: settings.bookingWaitMs,
    seatsChanged: async () => void (await ask(ticket => ({ kind: 'seats changed', region, ticket }))),
  }
  const { admit } = admission({
    database,
    region,
    prefix: settings.keyPrefix,
    pepper: deriveKey(secret, PEPPER_PURPOSE),
    generation: () => keyGeneration(shared),
    freshAt: () => freshAt(shared),
  })
  const api = createApi({
    region,
    settings,
    log,
    now,
    admit,
    take(name, caller) {
      const allowance = settings.limits[name]
      const bucket = name.split('.', 1)[0]!
      const taken = take(
        table,
        allowanceKey(region, caller.accountId, caller.mode, bucket),
        allowance,
        Date.now(),
      )
      return { allowed: taken.allowed, headers: rateLimitHeaders(bucket, allowance, taken) }
    },
    search: (caller, query) => search(house, caller, query),
    async book(caller, request, reply, idempotencyKey) {
      const counted = {
        ...reply,
        booking(booking: Parameters<typeof reply.booking>[0]) {
          bookings.inc({ region, mode: caller.mode, status: booking.status })
          return reply.booking(booking)
        },
      }
      return book(house, caller, request, counted, idempotencyKey)
    },
    retrieve: (caller, id) => findBooking(house, caller, id),
    list: (caller, page) => listBookings(house, caller, page),
    webhooks: {
      database,
      secretKey: { key: deriveKey(secret, secretPurpose(region)), region },
      allow: networks(settings.webhookAllow),
      resolver: createResolver(settings.webhookDns),
    },
    logRequest(entry) {
      requestsLog.add(entry)
      requests.inc({ region, route: entry.route, status: entry.status })
      requestSeconds.observe({ region, route: entry.route }, entry.durationMs / 1000)
    },
    async ready() {
      if (!isServing(shared) || world === undefined || age(shared) > PULSE_AGE_MAX_MS) return false
      try {
        await database.query('select 1')
        return true
      } catch {
        return false
      }
    },
    async metrics() {
      requestLogDropped.set({ region }, requestsLog.dropped())
      return ask(ticket => ({ kind: 'metrics wanted', ticket }))
    },
  })
  return {
    api,
    database,
    swap(next) {
      world = next
    },
    async close() {
      // A connection that is busy now becomes idle once it is answered, and would stay open for its whole keep-alive time.
      const sweep = setInterval(() => api.server.closeIdleConnections(), IDLE_SWEEP_MS)
      await api.close()
      clearInterval(sweep)
      await requestsLog.close()
      await notices?.settled()
      await Promise.all([database.close(), elsewhere?.close()])
    },
  }
}

const doors = new Map<Region, Door>(start.regions.map(one => [one.region, openDoor(one)]))

control.on('message', (message: ToThread) => {
  if (message.kind === 'listen') void listen(message.ports, message.first)
  else if (message.kind === 'world') doors.get(message.region)?.swap(openWorld(message.world))
  else if (message.kind === 'seats followed') answer(message.ticket, '')
  else if (message.kind === 'metrics') answer(message.ticket, message.text)
  else if (message.kind === 'collect') void collect(message.ticket)
  else void stop()
})

/** Opens the listeners. Port 0 takes any free one; the control thread tells the other threads which. */
async function listen(ports: Readonly<Partial<Record<Region, number>>>, first: boolean): Promise<void> {
  const open: Partial<Record<Region, number>> = {}
  for (const [region, { api }] of doors) {
    const port = ports[region]!
    try {
      if (first && start.settings.threads > 1) await checkFree(port)
      await api.listen({
        host: start.settings.host,
        port,
        ...(start.settings.threads > 1 ? { reusePort: true } : {}),
      })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const name = region === 'cn' ? 'AIRSIDE_PORT_CN' : 'AIRSIDE_PORT'
      const reason =
        code === 'EADDRINUSE' ? `port ${port} is taken; stop what uses it or set ${name}` : message
      tell({ kind: 'failed', message: `Airside cannot listen on ${start.settings.host}: ${reason}` })
      return
    }
    const address = api.server.address()
    if (address !== null && typeof address === 'object') open[region] = address.port
  }
  tell({ kind: 'listening', ports: open })
}

/**
 * Threads share a port by a way that would let another Airside of the same user share it too, unnoticed: so the first one opens it for a moment
 * for itself alone.
 * @throws the listener's error when the port is taken
 */
async function checkFree(port: number): Promise<void> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject)
    probe.listen({ host: start.settings.host, port }, resolve)
  })
  await new Promise(resolve => probe.close(resolve))
}

async function collect(ticket: number): Promise<void> {
  tell({ kind: 'collected', ticket, metrics: await registry.getMetricsAsJSON() })
}

async function stop(): Promise<void> {
  await Promise.allSettled([...doors.values()].map(door => door.close()))
  start.sender?.close()
  tell({ kind: 'stopped' })
  control.close()
}
