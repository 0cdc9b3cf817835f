/** How a start goes wrong, in words an operator can act on, and how fast one is after a crash. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { embeddedPostgres } from '../faults/embedded.ts'
import { connectClient, offersOf } from '../support/client.ts'
import { cloneDatabase, type TestDatabase } from '../support/postgres.ts'
import { type ServerProcess, startServer } from '../support/server.ts'
import { dayAhead } from '../support/small-network.ts'

const READY_AFTER_CRASH_MS = 5_000

const folder = mkdtempSync(join(tmpdir(), 'airside-start-'))
const env = {
  AIRSIDE_DATA_DIR: join(folder, 'data'),
  AIRSIDE_REGIONS: 'intl',
  AIRSIDE_PORT: '0',
  AIRSIDE_THREADS: '2',
  AIRSIDE_LOG: 'error',
}
let test: TestDatabase
let first: ServerProcess
let baseUrl: string

before(async () => {
  test = await cloneDatabase()
  first = startServer(env)
  baseUrl = await first.ready()
})

after(async () => {
  await first?.kill()
  await test?.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** Starts what must not start, and returns what it said. */
async function refused(some: Readonly<Record<string, string>>): Promise<string> {
  const server = startServer({ ...env, ...some })
  const timer = setTimeout(() => server.process.kill('SIGKILL'), 20_000)
  const { code } = await server.ended
  clearTimeout(timer)
  assert.equal(code, 1, server.said())
  assert.doesNotMatch(server.said(), /^\s+at .*\.ts:\d+/m, 'no stack')
  return server.said()
}

describe('a start that cannot be', () => {
  it('in a data directory that another Airside uses names that process', async () => {
    assert.match(
      await refused({}),
      new RegExp(`Another Airside is running with .*process ${first.process.pid}`),
    )
  })

  for (const threads of ['1', '2']) {
    it(`at a port that another Airside has, with ${threads} threads, names the port and the setting`, async () => {
      const port = new URL(baseUrl).port
      const said = await refused({ ...elsewhere(), AIRSIDE_PORT: port, AIRSIDE_THREADS: threads })
      assert.match(said, new RegExp(`port ${port} is taken.*AIRSIDE_PORT`))
    })
  }

  it('at a port that another program has names the port and the setting', async () => {
    const other = createServer()
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as { port: number }
    const said = await refused({ ...elsewhere(), AIRSIDE_PORT: String(port) })
    other.close()
    assert.match(said, new RegExp(`port ${port} is taken.*AIRSIDE_PORT`))
  })

  it('with faulty settings names all of them at once and shows no secret', async () => {
    const said = await refused({
      AIRSIDE_PORT: 'eighty',
      AIRSIDE_THREADS: '0',
      AIRSIDE_ROLES: 'api,cook',
      AIRSIDE_LOG: 'loud',
      AIRSIDE_LIMITS: 'search=1',
      AIRSIDE_SECRET: 'tooshort',
      AIRSIDE_DATABASE_URL: 'mysql://someone:sesame@somewhere/airside',
    })
    for (const name of ['PORT', 'THREADS', 'ROLES', 'LOG', 'LIMITS', 'SECRET', 'DATABASE_URL']) {
      assert.match(said, new RegExp(`AIRSIDE_${name}[=:]`))
    }
    assert.doesNotMatch(said, /tooshort|sesame/)
  })

  it('with a database that is not there says so', async () => {
    const said = await refused({
      ...elsewhere(),
      AIRSIDE_DATABASE_URL: 'postgres://airside:sesame@127.0.0.1:1/airside',
    })
    assert.match(said, /ECONNREFUSED|cannot be reached/)
    assert.doesNotMatch(said, /sesame/)
  })
})

/** A database and a data directory of its own, so that only the port is shared. */
function elsewhere(): Record<string, string> {
  return {
    AIRSIDE_DATA_DIR: join(folder, 'elsewhere'),
    AIRSIDE_DATABASE_URL: test.options.url,
    AIRSIDE_SECRET: 'a secret for tests, long enough to be taken',
  }
}

describe('a start after kill -9', () => {
  it('is ready within five seconds, with the same keys', async t => {
    const times: number[] = []
    for (let round = 0; round < 2; round++) {
      await first.kill()
      const startedAt = performance.now()
      first = startServer(env)
      baseUrl = await first.ready()
      const ms = performance.now() - startedAt
      t.diagnostic(`ready after ${Math.round(ms)} ms`)
      times.push(ms)
      assert.equal((await fetch(new URL('/readyz', baseUrl))).status, 200)
    }
    // The better one: other tests run at the same time.
    assert.ok(Math.min(...times) < READY_AFTER_CRASH_MS, `${times} ms`)
    await sells()
  })

  it('that came before the demo keys were written down makes new ones', async () => {
    await first.kill()
    rmSync(join(env.AIRSIDE_DATA_DIR, 'demo.json'))
    first = startServer(env)
    baseUrl = await first.ready()
    await sells()
  })

  it('in the midst of the first fill of the database does the rest', async () => {
    await first.kill()
    const data = join(folder, 'broken off')
    const again = { ...env, AIRSIDE_DATA_DIR: data }
    first = startServer(again)
    // The database is there, and its filling has begun or is about to.
    while (embeddedPostgres(data) === undefined) await sleep(5)
    await sleep(150)
    await first.kill()
    first = startServer(again)
    baseUrl = await first.ready()
    await sells(data)
  })
})

/** The demo keys of a data directory work, and there is something to buy. */
async function sells(dataDir = env.AIRSIDE_DATA_DIR): Promise<void> {
  const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as { intl: { test: string } }
  const client = connectClient({ baseUrl, key: demo.intl.test })
  const found = await client.search({ origin: 'LHR', destination: 'JFK', departDate: dayAhead(30) })
  client.close()
  assert.notEqual(offersOf(found).length, 0, JSON.stringify(found).slice(0, 300))
}
