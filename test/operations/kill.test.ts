/** An operator's command that is killed half-way: what it began is finished by whoever comes next, each booking once. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { checkBooks } from '../faults/checker.ts'
import { runCommand } from '../support/house.ts'
import { cloneDatabase, type TestDatabase } from '../support/postgres.ts'
import { type Airline, date, multiply, openAirline } from './support.ts'

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
/** Bookings on the flight: several batches. */
const BOOKINGS = 2500

let test: TestDatabase
let airline: Airline
let env: Record<string, string>

before(async () => {
  test = await cloneDatabase()
  airline = await openAirline(test)
  env = {
    AIRSIDE_DATA_DIR: mkdtempSync(join(tmpdir(), 'airside-operations-')),
    AIRSIDE_DATABASE_URL: test.options.url,
    AIRSIDE_SECRET: 'a secret for tests, long enough to be taken',
    AIRSIDE_REGIONS: 'intl',
    AIRSIDE_LOG: 'error',
  }
  const { bookingId } = await airline.book({ from: 'SIN', to: 'NRT', flights: 'ZX2+ZX3' })
  await multiply(test.database, bookingId, BOOKINGS - 1)
})
after(async () => {
  await test?.drop()
  if (env !== undefined) rmSync(env.AIRSIDE_DATA_DIR!, { recursive: true, force: true })
})

const command = (...words: string[]): ChildProcess =>
  spawn(process.execPath, [CLI, ...words, '--json'], {
    env: { PATH: process.env.PATH, ...env },
    stdio: 'ignore',
  })

/** Starts a command and kills it with SIGKILL once bookings have begun to follow. @returns how many had */
async function killHalfWay(...words: string[]): Promise<number> {
  const child = command(...words)
  const gone = new Promise(resolve => child.once('exit', resolve))
  for (;;) {
    assert.equal(child.exitCode, null, 'the command was too fast to be killed')
    const [last] = await test.database.query<{ reached: number; followed: number; finished: boolean }>(
      `select reached, bookings_updated + bookings_cancelled as followed, finished_at is not null as finished
         from flight_operation order by id desc limit 1`,
    )
    if (last !== undefined && last.reached > 0 && !last.finished) {
      child.kill('SIGKILL')
      await gone
      break
    }
    await sleep(1)
  }
  const [left] = await test.database.query<{ followed: number }>(
    'select bookings_updated + bookings_cancelled as followed from flight_operation order by id desc limit 1',
  )
  return left!.followed
}

const versions = async () =>
  Object.fromEntries(
    (
      await test.database.query<{ key: string; count: number }>(
        `select status || ' ' || version as key, count(*)::int as count from booking group by 1 order by 1`,
      )
    ).map(row => [row.key, row.count]),
  )

describe('a command killed between two batches', () => {
  it('delay: the worker goes on where it stood', async t => {
    const followed = await killHalfWay('flight', 'delay', 'ZX2', date(), '--minutes', '45')
    t.diagnostic(`${followed} of ${BOOKINGS} had followed`)
    assert.ok(followed > 0 && followed < BOOKINGS)
    assert.deepEqual(await versions(), { 'confirmed 2': BOOKINGS - followed, 'confirmed 3': followed })
    await airline.followAll()
    assert.deepEqual(await versions(), { 'confirmed 3': BOOKINGS })
  })

  it('cancel: the same command again finishes it, and once more changes nothing', async t => {
    const followed = await killHalfWay('flight', 'cancel', 'ZX2', date())
    t.diagnostic(`${followed} of ${BOOKINGS} had followed`)
    assert.ok(followed > 0 && followed < BOOKINGS)
    for (let n = 0; n < 2; n++) {
      const { bookings, repeated } = await runCommand(env, ['flight', 'cancel', 'ZX2', date()])
      assert.deepEqual(bookings, { updated: 0, cancelled: BOOKINGS, unchanged: 0, failed: 0 })
      assert.equal(repeated, true)
    }
    assert.deepEqual(await versions(), { 'cancelled 4': BOOKINGS })
  })

  it('and seats, ledger, versions and events agree', async () => {
    const { findings, seatsSold } = await checkBooks(test.options.url)
    assert.deepEqual(findings, [])
    assert.equal(seatsSold, 0)
  })
})
