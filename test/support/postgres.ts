import { after } from 'node:test'
import { type ConnectOptions, connect, type Database } from '../../src/db/database.ts'
import { randomBase62 } from '../../src/id.ts'
import { startTestPostgres, TEMPLATE, type TestPostgres } from './setup.ts'

/** A database of a test's own. */
export type TestDatabase = {
  database: Database
  /** For more connections to the same database, from this process or another. */
  options: ConnectOptions
  /** Closes `database` and removes it from the server, whoever else is still connected. */
  drop(): Promise<void>
}

/** Patience for a loaded machine: a test that fails should fail for what it tests. */
const PATIENT = {
  statementTimeoutMs: 20_000,
  lockTimeoutMs: 10_000,
  connectTimeoutMs: 10_000,
  queueTimeoutMs: 10_000,
}

/** How long a file's own server waits for databases that its tests forgot to drop. */
const FORGOTTEN_MS = 5000

let own: Promise<TestPostgres> | undefined
let open = 0
let ending = false

// This hook runs before the file's own, which may still have databases to drop: the last one stops the server then.
after(async () => {
  ending = true
  if (open === 0) await stopOwn()
  else setTimeout(stopOwn, FORGOTTEN_MS).unref()
})

async function stopOwn(): Promise<void> {
  await (await own)?.stop()
}

/**
 * A fresh database with all migrations and no rows, cloned in well under 100 ms. `npm test` starts one PostgreSQL for
 * all files; a file that is run by itself starts its own, which ends with it.
 */
export function cloneDatabase(limits: Partial<ConnectOptions> = {}): Promise<TestDatabase> {
  return createDatabase(TEMPLATE, limits)
}

/** An empty database, without migrations. */
export function emptyDatabase(limits: Partial<ConnectOptions> = {}): Promise<TestDatabase> {
  return createDatabase('template0', limits)
}

async function createDatabase(template: string, limits: Partial<ConnectOptions>): Promise<TestDatabase> {
  const server = await serverUrl()
  const name = `test_${randomBase62(12).toLowerCase()}`
  await administer(server, `create database ${name} template ${template} strategy file_copy`)
  const options: ConnectOptions = { ...PATIENT, ...limits, url: databaseUrl(server, name) }
  const database = connect(options)
  open++
  return {
    database,
    options,
    async drop() {
      await database.close()
      await administer(server, `drop database if exists ${name} with (force)`)
      open--
      if (ending && open === 0) await stopOwn()
    },
  }
}

async function serverUrl(): Promise<string> {
  const given = process.env.AIRSIDE_TEST_POSTGRES
  if (given) return given
  own ??= startTestPostgres()
  return (await own).url
}

async function administer(url: string, statement: string): Promise<void> {
  const admin = connect({ ...PATIENT, url, poolMax: 1 })
  try {
    await admin.query(statement)
  } finally {
    await admin.close()
  }
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
