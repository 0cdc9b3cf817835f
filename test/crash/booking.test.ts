/**
 * A booking is broken off at each of its statements: the server killed, or its connection cut, before a statement reaches PostgreSQL or after
 * it was carried out and before the server learns so. What a partner was told stays true, and trying again gives exactly one booking.
 */
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
import { type Moment, type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts'
import { type ServerProcess, startServer } from '../support/server.ts'
import { dayAhead, openShop } from '../support/small-network.ts'

/** The shortest there is; a pending booking, or a key, is taken over five seconds later. */
const BOOKING_WAIT_MS = 100
const TAKEN_OVER_WITHIN_MS = 12_000
/** Where the cut hit the worker that had just taken a booking up, its lease of 30 s passes before another one does. */
const SETTLED_WITHIN_MS = 45_000

/** Statements of an API connection that are no part of a booking. */
const BESIDE = /request_log|api_key|^select 1$/

/** A booking that was broken off: what was sent, and what came back. */
type Broken = { where: string; body: BookBody; key: string | undefined; outcome: Outcome }

let test: TestDatabase
let proxy: PostgresProxy
let env: Record<string, string>
let accountKey: string
let server: ServerProcess
let client: Client
const broken: Broken[] = []
let marks = 0

before(async () => {
  test = await cloneDatabase()
  proxy = await startPostgresProxy(test.options.url)
  const dataDir = mkdtempSync(join(tmpdir(), 'airside-crash-'))
  env = {
    AIRSIDE_DATA_DIR: dataDir,
    AIRSIDE_DATABASE_URL: proxy.url,
    AIRSIDE_SECRET: 'a secret for tests, long enough to be taken',
    AIRSIDE_REGIONS: 'intl',
    AIRSIDE_PORT: '0',
    AIRSIDE_THREADS: '1',
    AIRSIDE_LOG: 'error',
    AIRSIDE_BOOKING_WAIT: String(BOOKING_WAIT_MS),
    AIRSIDE_LIMITS: 'search.test=1000000/60s,search.enterprise=1000000/60s',
  }
  accountKey = (await openShop(env, { seats: 300 })).live
  await start()
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
  client = connectClient({ baseUrl: await server.ready(), key: accountKey })
}

/** A fresh offer with a connection, two people, and a body that books it. */
async function something(): Promise<BookBody> {
  const offers = offersOf(
    await client.search({ origin: 'SIN', destination: 'HKG', departDate: dayAhead(20), passengers: 2 }),
  )
  const mark = `M${String(++marks).padStart(5, '0')}`
  return bookBody(offers[offers.length - 1]!.offerId, mark, 2)
}

/** The statements of one undisturbed booking. */
async function steps(key: string | undefined): Promise<string[]> {
  const body = await something()
  await sleep(50)
  proxy.forget()
  assert.equal((await client.book(body, key)).kind, 'ok')
  return proxy.statements().filter(statement => !BESIDE.test(statement))
}

/** Books once while a trap waits at the `nth` statement of the booking. */
async function bookInto(
  moment: Moment,
  nth: number,
  key: string | undefined,
  spring: (sever: () => void) => void,
): Promise<Broken> {
  const body = await something()
  await sleep(20)
  let seen = 0
  proxy.arm({ moment, matches: statement => !BESIDE.test(statement) && ++seen > nth, spring })
  const outcome = await client.book(body, key)
  assert.ok(seen > nth, 'the trap was reached')
  return { where: '', body, key, outcome }
}

/** Tries again, as the contract tells partners to, until something definite comes. */
async function again(body: BookBody, key: string | undefined): Promise<Outcome> {
  const until = Date.now() + TAKEN_OVER_WITHIN_MS
  for (;;) {
    const outcome = await client.book(body, key)
    const open = outcome.kind === 'unknown' || (outcome.kind === 'refused' && outcome.code === 'conflict')
    if (!open || Date.now() > until) return outcome
    await sleep(200)
  }
}

const short = (statement: string) => statement.replace(/\s+/g, ' ').slice(0, 48)

describe('a booking whose connection to the database is cut', () => {
  for (const keyed of [true, false]) {
    it(`at each statement${keyed ? ', with an Idempotency-Key' : ''}`, async t => {
      const all = await steps(keyed ? 'steps' : undefined)
      assert.ok(
        all.filter(statement => statement === 'commit').length === 2,
        `two transactions: ${all.map(short).join(' | ')}`,
      )
      t.diagnostic(`${all.length} statements × 2`)
      for (const [nth, statement] of all.entries()) {
        for (const moment of ['before', 'after'] as const) {
          const key = keyed ? `cut-${moment}-${nth}` : undefined
          const one = await bookInto(moment, nth, key, sever => sever())
          broken.push({ ...one, where: `cut ${moment} ${nth} ${short(statement)}` })
        }
      }
    })
  }
})

describe('a booking whose server is killed', () => {
  for (const keyed of [true, false]) {
    for (const moment of ['before', 'after'] as const) {
      for (const transaction of [0, 1]) {
        it(`${moment} COMMIT ${transaction + 1}${keyed ? ', with an Idempotency-Key' : ''}`, async () => {
          const key = keyed ? `kill-${moment}-${transaction}` : undefined
          const all = await steps(keyed ? `steps-${moment}-${transaction}` : undefined)
          const commits = all.flatMap((statement, nth) => (statement === 'commit' ? [nth] : []))
          const one = await bookInto(moment, commits[transaction]!, key, () => server.process.kill('SIGKILL'))
          assert.equal(one.outcome.kind, 'unknown')
          broken.push({ ...one, where: `killed ${moment} COMMIT ${transaction + 1}` })
          await server.ended
          await start()
        })
      }
    }
  }

  it('after its last statement and before its answer is kept under its key', async () => {
    const all = await steps('steps-last')
    const one = await bookInto('before', all.length - 1, 'kill-last', () => server.process.kill('SIGKILL'))
    assert.equal(one.outcome.kind, 'unknown')
    broken.push({ ...one, where: 'killed before the answer was kept' })
    await server.ended
    await start()
  })

  it('right after its answer: the booking is there, unchanged', async () => {
    const body = await something()
    const told = await client.book(body, 'kill-answered')
    assert.equal(told.kind, 'ok')
    await server.kill()
    await start()
    const { requestId: _, ...then } = told.kind === 'ok' ? told.json : assert.fail()
    const read = await client.retrieve(String(then.bookingId))
    const { requestId: __, ...now } = read.kind === 'ok' ? read.json : assert.fail()
    assert.deepEqual(now, then)
    const replayed = await client.book(body, 'kill-answered')
    assert.ok(
      replayed.kind === 'ok' && replayed.replayed && replayed.body === told.body,
      'replayed byte for byte',
    )
  })
})

describe('after all that', () => {
  it('what was answered stands; what was not gives one booking when tried again', async t => {
    const told = broken.filter(one => one.outcome.kind !== 'unknown')
    t.diagnostic(
      `${broken.length} bookings broken off, ${broken.length - told.length} with an unknown outcome`,
    )
    const finals = await Promise.all(broken.map(one => again(one.body, one.key)))
    for (const [i, { where, body, key, outcome }] of broken.entries()) {
      const final = finals[i]!
      assert.ok(final.kind === 'ok', `${where}: ${JSON.stringify(final)}`)
      const { bookingId } = bookingOf(final)
      if (outcome.kind === 'ok') assert.equal(bookingOf(outcome).bookingId, bookingId, where)
      assert.notEqual(outcome.kind, 'refused', `${where}: ${JSON.stringify(outcome)}`)
      const repeated = await again(body, key)
      assert.ok(
        repeated.kind === 'ok' && bookingOf(repeated).bookingId === bookingId,
        `${where}: again the same booking`,
      )
      if (key !== undefined) assert.equal(repeated.body, final.body, `${where}: byte for byte`)
    }
  })

  it('nothing stays pending', async () => {
    const until = Date.now() + SETTLED_WITHIN_MS
    for (;;) {
      const { statuses } = await checkBooks(test.options.url)
      if (statuses.pending === undefined) break
      assert.ok(Date.now() < until, `still pending: ${statuses.pending}`)
      await sleep(200)
    }
  })

  it('one booking for each, and seats and ledger agree', async () => {
    const { statuses, findings, seatsSold } = await checkBooks(test.options.url)
    assert.deepEqual(findings, [])
    const emails = (await client.bookings()).map(booking => booking.confirmationEmail)
    assert.equal(new Set(emails).size, emails.length, 'no two bookings for one attempt')
    assert.equal(emails.length, marks, 'a booking for every attempt')
    assert.deepEqual(statuses, { confirmed: marks })
    assert.ok(seatsSold >= 2 * marks)
  })
})
