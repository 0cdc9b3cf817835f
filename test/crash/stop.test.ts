/** SIGTERM while bookings run: what was begun is finished and answered, and the process ends well. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkBooks } from '../faults/checker.ts'
import {
  type BookBody,
  bookBody,
  bookingOf,
  type Client,
  connectClient,
  type Outcome,
  offersOf,
} from '../support/client.ts'
import { cloneDatabase, type TestDatabase } from '../support/postgres.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts'
import { type ServerProcess, startServer } from '../support/server.ts'
import { dayAhead, openShop } from '../support/small-network.ts'

/** Half of what is promised: what waits for connections to time out would take longer. */
const STOPPED_WITHIN_MS = 5_000
/** As many as one thread has database connections, so that none waits for another. */
const IN_FLIGHT = 8
/** Long enough for the signal to arrive while every booking is between its two transactions. */
const COMMIT_HELD_MS = 450

let test: TestDatabase
let proxy: PostgresProxy
let env: Record<string, string>
let key: string
let server: ServerProcess
let client: Client
let marks = 0

before(async () => {
  test = await cloneDatabase()
  proxy = await startPostgresProxy(test.options.url)
  env = {
    AIRSIDE_DATA_DIR: mkdtempSync(join(tmpdir(), 'airside-stop-')),
    AIRSIDE_DATABASE_URL: proxy.url,
    AIRSIDE_SECRET: 'a secret for tests, long enough to be taken',
    AIRSIDE_REGIONS: 'intl',
    AIRSIDE_PORT: '0',
    AIRSIDE_THREADS: '1',
    AIRSIDE_LOG: 'error',
    AIRSIDE_LIMITS: 'search.enterprise=1000000/60s',
  }
  key = (await openShop(env, { seats: 900 })).live
})

after(async () => {
  client?.close()
  await server?.kill()
  await proxy?.close()
  await test?.drop()
  rmSync(env.AIRSIDE_DATA_DIR!, { recursive: true, force: true })
})

async function start(): Promise<void> {
  server = startServer(env)
  client = connectClient({ baseUrl: await server.ready(), key })
}

async function something(): Promise<BookBody> {
  const [offer] = offersOf(
    await client.search({ origin: 'SIN', destination: 'HKG', departDate: dayAhead(30) }),
  )
  return bookBody(offer!.offerId, `S${String(++marks).padStart(5, '0')}`, 1)
}

/** Sends SIGTERM and waits for the end. */
async function stop(): Promise<{ code: number | null; signal: NodeJS.Signals | null; ms: number }> {
  const startedAt = performance.now()
  server.process.kill('SIGTERM')
  const timer = setTimeout(() => server.process.kill('SIGKILL'), 2 * STOPPED_WITHIN_MS)
  const end = await server.ended
  clearTimeout(timer)
  return { ...end, ms: performance.now() - startedAt }
}

describe('SIGTERM', () => {
  it('lets bookings that are under way finish, answers them, and exits with 0', async t => {
    await start()
    const bodies = await Promise.all(Array.from({ length: IN_FLIGHT }, something))
    proxy.delayCommits(COMMIT_HELD_MS)
    const answers = Promise.all(bodies.map(body => client.book(body)))
    await sleep(COMMIT_HELD_MS / 3)
    const { code, signal, ms } = await stop()
    proxy.delayCommits(0)
    const kinds = (await answers).map(answer =>
      answer.kind === 'ok' ? bookingOf(answer).bookingStatus : JSON.stringify(answer),
    )
    assert.deepEqual(kinds, Array(IN_FLIGHT).fill('confirmed'))
    assert.deepEqual({ code, signal }, { code: 0, signal: null }, server.said())
    assert.ok(ms < STOPPED_WITHIN_MS, `${ms} ms`)
    t.diagnostic(`${IN_FLIGHT} bookings finished, stopped in ${Math.round(ms)} ms`)
    const { statuses, findings } = await checkBooks(test.options.url)
    assert.deepEqual({ statuses, findings }, { statuses: { confirmed: IN_FLIGHT }, findings: [] })
  })

  it('under load loses no answered booking, and what got no answer can be sent again', async t => {
    await start()
    const tried: { body: BookBody; outcome: Outcome }[] = []
    let over = false
    const partner = async () => {
      while (!over) {
        const body = await something().catch(() => undefined)
        if (body === undefined) return
        const outcome = await client.book(body)
        tried.push({ body, outcome })
        if (outcome.kind === 'unknown') return
      }
    }
    const partners = Array.from({ length: 6 }, partner)
    await sleep(500)
    const { code, ms } = await stop()
    over = true
    await Promise.all(partners)
    assert.equal(code, 0, server.said())
    const unanswered = tried.flatMap(({ outcome }) => (outcome.kind === 'unknown' ? [outcome.why] : []))
    t.diagnostic(
      `${tried.length} bookings, ${unanswered.length} without an answer (${unanswered.join(', ')}), stopped in ${Math.round(ms)} ms`,
    )

    await start()
    for (const { body, outcome } of tried) {
      const again = await client.book(body)
      assert.equal(again.kind, 'ok')
      if (outcome.kind === 'ok' && again.kind === 'ok')
        assert.equal(bookingOf(again).bookingId, bookingOf(outcome).bookingId)
    }
    const booked = await client.bookings()
    assert.equal(booked.length, IN_FLIGHT + tried.length)
    assert.deepEqual((await checkBooks(test.options.url)).findings, [])
  })

  it('stops as well when nothing runs', async () => {
    const { code, ms } = await stop()
    assert.equal(code, 0, server.said())
    assert.ok(ms < 3000, `${ms} ms`)
  })
})
