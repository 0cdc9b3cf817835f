import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, it } from 'node:test'
import { emptyDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import { MigrationError, migrate } from './migrate.ts'

let place: TestDatabase
let directory: string

beforeEach(async () => {
  place = await emptyDatabase()
  directory = mkdtempSync(join(tmpdir(), 'airside-migrations-'))
  write('0001_first.sql', 'create table first (id int);\ninsert into first values (1);')
  write('0002_second.sql', 'create table second (id int);')
  write('schema.sql', 'this is no migration')
  write('README.md', 'neither is this')
})
afterEach(async () => {
  await place.drop()
  rmSync(directory, { recursive: true })
})

const write = (file: string, text: string) => writeFileSync(join(directory, file), text)
const run = () => migrate(place.options, directory)
const noted = () => place.database.query('select number, name from migration order by number')
const exists = async (table: string) =>
  (await place.database.query<{ oid: number | null }>('select to_regclass($1)::int as oid', [table]))[0]!
    .oid !== null

it('applies what is missing, in order, once', async () => {
  assert.deepEqual(await run(), { applied: ['0001_first', '0002_second'] })
  assert.deepEqual(await run(), { applied: [] })
  write('0003_third.sql', 'alter table second add word text;')
  assert.deepEqual(await run(), { applied: ['0003_third'] })
  assert.deepEqual(await noted(), [
    { number: 1, name: '0001_first' },
    { number: 2, name: '0002_second' },
    { number: 3, name: '0003_third' },
  ])
})

it('applies nothing at all without files', async () => {
  for (const file of ['0001_first.sql', '0002_second.sql']) rmSync(join(directory, file))
  assert.deepEqual(await run(), { applied: [] })
})

it('lets processes that start together share the work', async () => {
  for (let n = 3; n <= 9; n++)
    write(`000${n}_more.sql`, `create table more_${n} (id int); select pg_sleep(0.01);`)
  const all = await Promise.all([run(), run(), run(), run()])
  assert.equal(all.flatMap(each => each.applied).length, 9)
  assert.equal((await noted()).length, 9)
})

it('keeps nothing of a migration that fails, and tells where', async () => {
  write('0003_wrong.sql', 'create table third (id int);\ncreate tabel fourth (id int);')
  await assert.rejects(run(), {
    name: 'MigrationError',
    message: '0003_wrong.sql failed at line 2 and changed nothing: syntax error at or near "tabel"',
  })
  assert.equal(await exists('second'), true)
  assert.equal(await exists('third'), false)
  write('0003_wrong.sql', 'create table third (id int);')
  assert.deepEqual(await run(), { applied: ['0003_wrong'] })
})

it('refuses an applied file that was edited, but not other line ends', async () => {
  await run()
  write('0001_first.sql', 'create table first (id int);\r\ninsert into first values (1);')
  assert.deepEqual(await run(), { applied: [] })
  write('0001_first.sql', 'create table first (id int);\ninsert into first values (2);')
  await assert.rejects(run(), { name: 'MigrationError', message: /^0001_first.sql is not what was applied/ })
})

it('refuses a database that is newer than the files', async () => {
  await run()
  rmSync(join(directory, '0002_second.sql'))
  await assert.rejects(run(), { name: 'MigrationError', message: /has 0002_second.*ends at 0001_first/ })
})

it('refuses names that leave the order open', async () => {
  for (const file of ['0004_gap.sql', '0002_double.sql', '3_short.sql', '0003-dash.sql']) {
    write(file, 'select 1')
    await assert.rejects(run(), MigrationError, file)
    rmSync(join(directory, file))
  }
  assert.equal(await exists('first'), false)
})

it('refuses a file that commits by itself', async () => {
  write('0003_commit.sql', 'create table third (id int); commit; create table fourth (id int);')
  await assert.rejects(run(), { name: 'MigrationError', message: /leave BEGIN and COMMIT/ })
})

it('does not make everyone wait behind it for a table that is in use', { timeout: 20_000 }, async () => {
  await run()
  write('0003_alter.sql', 'alter table second add word text;')
  let migrating: Promise<unknown> | undefined
  await place.database.transaction(async tx => {
    await tx.query('select * from second')
    migrating = run()
    await new Promise(resolve => setTimeout(resolve, 2500))
  })
  assert.deepEqual(await migrating, { applied: ['0003_alter'] })
})
