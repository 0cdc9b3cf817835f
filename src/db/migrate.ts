import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { ConnectOptions } from './database.ts'

/** One file of `migrations/`, such as `0003_booking.sql`: number 3, name `0003_booking`. */
type Migration = { number: number; name: string; text: string; sha256: string }
type Applied = { number: number; name: string; sha256: string }

/** The database and the files do not fit together; the message says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

export const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url))

const FILE = /^(\d{4})_[a-z0-9_]+\.sql$/
/** The current picture of all migrations, for people: not one of them. */
const PICTURE = 'schema.sql'
/** Any number that no other program on the same database uses: "airside" on a telephone's keys. */
const ADVISORY_LOCK = 2477433
/**
 * A statement that waits for a table's lock makes everyone else wait behind it. So it gives up soon, and the
 * migration is tried again after a pause in which the others get through.
 */
const LOCK_TIMEOUT_MS = 2000
const LOCK_ATTEMPTS = 15
const LOCK_PAUSE_MS = 500
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Brings a database up to date, forward only: each file that it lacks, in order, in a transaction of its own, noted
 * in the table `migration`. Any number of processes may do this at once. Returns the names of the files this call
 * applied. Throws MigrationError when an applied file was changed since, or the database is newer than the files.
 */
export async function migrate(
  options: ConnectOptions,
  directory = MIGRATIONS,
): Promise<{ applied: string[] }> {
  const migrations = readMigrations(directory)
  // Its own connection: a migration may take as long as it needs.
  const client = new pg.Client({
    connectionString: options.url,
    application_name: 'airside migrate',
    keepAlive: true,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    const applied: string[] = []
    for (;;) {
      const name = await patiently(() => applyNext(client, migrations))
      if (name === undefined) return { applied }
      applied.push(name)
    }
  } finally {
    await client.end()
  }
}

/** Applies the first migration that is missing and returns its name; undefined when none is. */
async function applyNext(client: pg.Client, migrations: readonly Migration[]): Promise<string | undefined> {
  await client.query('begin')
  try {
    // Whoever comes second waits here until the first has committed, and then sees its work.
    await client.query(`select pg_advisory_xact_lock(${ADVISORY_LOCK})`)
    await client.query(
      `create table if not exists migration (
         number int primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now()
       )`,
    )
    const { rows } = await client.query<Applied>('select number, name, sha256 from migration order by number')
    compare(rows, migrations)
    const next = migrations[rows.length]
    if (next) {
      await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
      await run(client, next)
      await client.query('insert into migration (number, name, sha256) values ($1, $2, $3)', [
        next.number,
        next.name,
        next.sha256,
      ])
    }
    await client.query('commit')
    return next?.name
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

async function run(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query(migration.text)
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code === LOCK_NOT_AVAILABLE) throw error
    const before = error.position ? migration.text.slice(0, Number(error.position)) : undefined
    const line = before === undefined ? '' : ` at line ${before.split('\n').length}`
    throw new MigrationError(`${migration.name}.sql failed${line} and changed nothing: ${error.message}`, {
      cause: error,
    })
  }
  if (client.getTransactionStatus() !== 'T') {
    throw new MigrationError(
      `${migration.name}.sql ends its transaction itself; leave BEGIN and COMMIT to the migrator.`,
    )
  }
}

async function patiently<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = LOCK_ATTEMPTS; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 0 || !(error instanceof pg.DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error
      await sleep(LOCK_PAUSE_MS)
    }
  }
}

/** Throws unless the applied migrations are the first ones of the files, unchanged. */
function compare(applied: readonly Applied[], migrations: readonly Migration[]): void {
  const known = migrations.length
  if (applied.length > known) {
    throw new MigrationError(
      `The database has ${applied.at(-1)!.name}, which this Airside does not know (it ends at ${migrations.at(-1)?.name ?? 'none'}): start the version that applied it, or a newer one.`,
    )
  }
  for (const [index, { number, name, sha256 }] of applied.entries()) {
    const file = migrations[index]!
    if (file.number !== number || file.sha256 !== sha256) {
      throw new MigrationError(
        `${file.name}.sql is not what was applied to this database as ${name}: an applied migration is never edited. Restore the file and put the change into a new one.`,
      )
    }
  }
}

function readMigrations(directory: string): Migration[] {
  const files = readdirSync(directory)
    .filter(file => file.endsWith('.sql') && file !== PICTURE)
    .sort()
  return files.map((file, index) => {
    const number = Number(FILE.exec(file)?.[1])
    if (number !== index + 1) {
      throw new MigrationError(
        `migrations/${file}: expected ${String(index + 1).padStart(4, '0')}_topic.sql here; numbers start at 0001, without gap or double.`,
      )
    }
    // Git may hand out other line ends; they do not make it another migration.
    const text = readFileSync(join(directory, file), 'utf8').replaceAll('\r\n', '\n')
    return { number, name: file.slice(0, -4), text, sha256: createHash('sha256').update(text).digest('hex') }
  })
}
