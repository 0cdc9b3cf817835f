/** Two servers on one database, and the operator's commands beside them: what is cancelled or late is sold nowhere within a second. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkBooks } from '../faults/checker.ts'
import { bookBody, bookingOf, type Client, connectClient, offersOf } from '../support/client.ts'
import { runCommand } from '../support/house.ts'
import { ask } from '../support/openapi.ts'
import { cloneDatabase, type TestDatabase } from '../support/postgres.ts'
import { type ServerProcess, startServer } from '../support/server.ts'
import { dayAhead, openShop } from '../support/small-network.ts'

const WITHIN_MS = 1000

let test: TestDatabase
let env: Record<string, string>
const servers: ServerProcess[] = []
const clients: Client[] = []
const baseUrls: string[] = []
let key: string

before(async () => {
  test = await cloneDatabase()
  env = {
    AIRSIDE_DATA_DIR: mkdtempSync(join(tmpdir(), 'airside-sale-')),
    AIRSIDE_DATABASE_URL: test.options.url,
    AIRSIDE_SECRET: 'a secret for tests, long enough to be taken',
    AIRSIDE_REGIONS: 'intl',
    AIRSIDE_PORT: '0',
    AIRSIDE_THREADS: '2',
    AIRSIDE_LOG: 'error',
    AIRSIDE_LIMITS: 'search.enterprise=1000000/60s',
  }
  key = (await openShop(env, { seats: 50 })).live
  for (let n = 0; n < 2; n++) {
    const server = startServer(env)
    servers.push(server)
    const baseUrl = await server.ready()
    baseUrls.push(baseUrl)
    clients.push(connectClient({ baseUrl, key }))
  }
})
after(async () => {
  for (const client of clients) client.close()
  for (const server of servers) await server.kill()
  await test?.drop()
  rmSync(env.AIRSIDE_DATA_DIR!, { recursive: true, force: true })
})

const on = dayAhead(20)
const search = (client: Client) =>
  client.search({ origin: 'HKG', destination: 'SIN', departDate: on, passengers: 1 })

/** Milliseconds from now until a search of every server, from every thread of it, sells the flight or does not. */
async function untilEverywhere(sold: boolean): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    const found = await Promise.all(
      clients.flatMap(client => Array.from({ length: 8 }, () => search(client))),
    )
    if (found.every(outcome => offersOf(outcome).length > 0 === sold)) return performance.now() - startedAt
    assert.ok(performance.now() - startedAt < 10 * WITHIN_MS, 'it was never seen')
    await sleep(10)
  }
}

it('a delay closes the flight everywhere, retimes its bookings, and a restore opens it again', async t => {
  const [first, second] = clients as [Client, Client]
  const [offer, late] = await Promise.all(
    clients.map(async client => offersOf(await search(client))[0]!.offerId),
  )
  const answer = await first.book(bookBody(offer!, 'M00001', 1))
  assert.ok(answer.kind === 'ok', JSON.stringify(answer))
  const booked = bookingOf(answer)
  const done = await runCommand(env, ['flight', 'delay', 'ZX4', on, '--minutes', '90'])
  const closedIn = await untilEverywhere(false)
  t.diagnostic(`closed everywhere ${Math.round(closedIn)} ms after the command`)
  assert.ok(closedIn < WITHIN_MS)
  assert.deepEqual(done.bookings, { updated: 1, cancelled: 0, unchanged: 0, failed: 0 })
  const refused = await second.book(bookBody(late!, 'M00002', 1))
  assert.ok(refused.kind === 'refused' && refused.code === 'unavailable')
  await runCommand(env, ['booking', 'reassign-seat', booked.bookingId, '--passenger', '1', '--seat', '4C'])
  const read = await ask(`${baseUrls[1]}/travel/booking/${booked.bookingId}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { slices, changes, version } = JSON.parse(read.text) as {
    slices: { departureTime: string; segments: { seats: object[] }[] }[]
    changes: { fields: { path: string; to: string }[] }[]
    version: number
  }
  assert.equal(slices[0]!.departureTime, `${on}T16:30:00+08:00`)
  assert.deepEqual(slices[0]!.segments[0]!.seats, [{ passenger: 0, seat: '4C' }])
  assert.equal(version, 4)
  assert.deepEqual(changes[0]!.fields[0], {
    path: 'slices[0].segments[0].departureTime',
    from: `${on}T15:00:00+08:00`,
    to: `${on}T16:30:00+08:00`,
  })
  await runCommand(env, ['flight', 'restore', 'ZX4', on])
  const openIn = await untilEverywhere(true)
  t.diagnostic(`open everywhere ${Math.round(openIn)} ms after the command`)
  assert.ok(openIn < WITHIN_MS)
})

it('a server that starts afterwards, and one that has imported since, know what is closed', async () => {
  await runCommand(env, ['flight', 'cancel', 'ZX4', on])
  await servers[0]!.kill()
  servers[0] = startServer(env)
  clients[0]!.close()
  clients[0] = connectClient({ baseUrl: await servers[0].ready(), key })
  assert.equal(offersOf(await search(clients[0])).length, 0)
  await openShop(env, { seats: 49 })
  await sleep(WITHIN_MS)
  for (const client of clients) assert.equal(offersOf(await search(client)).length, 0)
  assert.deepEqual((await checkBooks(test.options.url)).findings, [])
})

it('the commands explain what is wrong', async () => {
  const refused = (pattern: RegExp, ...words: string[]) => assert.rejects(runCommand(env, words), pattern)
  await refused(/DESIGNATOR: is missing/, 'flight', 'cancel')
  await refused(/DATE: is missing/, 'flight', 'cancel', 'ZX4')
  await refused(/--minutes: is missing/, 'flight', 'delay', 'ZX4', on)
  await refused(/from 1 to 2880/, 'flight', 'delay', 'ZX4', on, '--minutes', '2881')
  await refused(/no flight ZX7; near it are ZX4/, 'flight', 'cancel', 'ZX7', on)
  await refused(
    /ZX4 is cancelled|is cancelled; restore it first/,
    'flight',
    'delay',
    'ZX4',
    on,
    '--minutes',
    '5',
  )
  await refused(
    /There is no booking/,
    'booking',
    'reassign-seat',
    'bkg_1',
    '--passenger',
    '1',
    '--seat',
    '1A',
  )
  const [{ id }] = (await test.database.query<{ id: string }>('select id from booking')) as [{ id: string }]
  await refused(
    /is cancelled; nobody sits/,
    'booking',
    'reassign-seat',
    id,
    '--passenger',
    '1',
    '--seat',
    '1A',
  )
})
