import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { silent } from '../../test/support/setup.ts'
import { connect, type Database } from './database.ts'
import { type Embedded, findEmbedded, startEmbedded } from './embedded.ts'
import { isAlive } from './lock.ts'

const CHILD = fileURLToPath(new URL('../../test/support/embedded-child.ts', import.meta.url))
const isRoot = process.getuid?.() === 0

/** A user that every Linux has, and that owns nothing. */
const DAEMON = 1

let home: string
let dataDir: string
const children: ChildProcess[] = []
const running: Embedded[] = []

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'airside-embedded-'))
  if (isRoot) chmodSync(home, 0o755)
  dataDir = join(home, 'data')
})
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop()
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
  }
  rmSync(home, { recursive: true, force: true })
})

/** Starts PostgreSQL in this process; stopped after the test. */
async function start(options = {}): Promise<Embedded> {
  const embedded = await startEmbedded({ dataDir, log: silent, databases: ['airside_intl'], ...options })
  running.push(embedded)
  return embedded
}

/** Starts it in a process of its own; resolves to that process and what it printed first. */
async function startChild(...more: string[]): Promise<{ child: ChildProcess; said: string[] }> {
  const child = spawn(process.execPath, [CHILD, dataDir, ...more], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const [line] = await once(createInterface({ input: child.stdout! }), 'line')
  return { child, said: (line as string).split(' ') }
}

async function using<T>(embedded: Pick<Embedded, 'url'>, work: (db: Database) => Promise<T>): Promise<T> {
  const db = connect(embedded.url('airside_intl'))
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

async function until(condition: () => boolean | Promise<boolean>, patienceMs = 15_000): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, 'waited in vain')
    await sleep(10)
  }
}

const postmasterPid = () =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])

it('is durable, checked, UTF-8, private, and keeps its data over a restart', async () => {
  const first = await start({ databases: ['airside_intl', 'airside_cn'] })
  await using(first, async db => {
    const [settings] = await db.query(
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
        current_setting('full_page_writes') as full_page_writes, current_setting('data_checksums') as data_checksums,
        current_setting('listen_addresses') as listen_addresses, current_setting('server_encoding') as server_encoding,
        current_setting('timezone') as timezone`,
    )
    assert.deepEqual(settings, {
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      data_checksums: 'on',
      listen_addresses: '',
      server_encoding: 'UTF8',
      timezone: 'UTC',
    })
    await db.query("create table word as select * from (values ('Zürich'), ('東京'), ('a'), ('B')) w(text)")
  })
  assert.equal(statSync(join(dataDir, 'postgres')).mode & 0o777, 0o700)
  const wrong = connect({ url: first.url('airside_intl').url.replace(/:[^:@]+@/, ':guess@') })
  await assert.rejects(wrong.query('select 1'), { code: '28P01' })
  await wrong.close()
  await first.stop()
  await first.stop()
  assert.equal(existsSync(join(dataDir, 'airside.lock')), false)
  const second = await start()
  const rows = await using(second, db => db.query<{ text: string }>('select text from word order by text'))
  assert.deepEqual(
    rows.map(row => row.text),
    ['B', 'a', 'Zürich', '東京'].sort(),
  )
})

it('refuses a second start on the same directory, naming the first, and is found by commands', async () => {
  assert.equal(findEmbedded(dataDir), undefined)
  const { child } = await startChild()
  await assert.rejects(start(), {
    message: `Another Airside is running with ${dataDir} (process ${child.pid}); stop it or set AIRSIDE_DATA_DIR.`,
  })
  const found = findEmbedded(dataDir)
  assert.ok(found)
  assert.deepEqual(await using(found, db => db.query('select count(*) as n from kept')), [{ n: 1 }])
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
  assert.equal(findEmbedded(dataDir), undefined)
})

it('shuts itself down when its owner is killed, and starts again on what that left', async () => {
  const { child, said } = await startChild()
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.ok(existsSync(join(dataDir, 'airside.lock')))
  await until(() => !isAlive(Number(said[1])))
  assert.deepEqual((await startChild()).said[2], '2')
})

it('starts at once after its owner was killed, while the old PostgreSQL is still there', async () => {
  for (let round = 1; round <= 3; round++) {
    const { child, said } = await startChild()
    assert.deepEqual([said[0], said[2]], ['ready', String(round)])
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await start()
})

it('stops a PostgreSQL that nobody told of its owner’s death', async () => {
  const { child, said } = await startChild()
  const pid = Number(said[1])
  // Stopped processes answer nothing: neither the watcher's signal nor ours takes effect until it continues.
  process.kill(pid, 'SIGSTOP')
  child.kill('SIGKILL')
  await once(child, 'exit')
  const again = start()
  await sleep(300)
  assert.ok(isAlive(pid))
  process.kill(pid, 'SIGCONT')
  await using(await again, async db =>
    assert.deepEqual(await db.query('select count(*) as n from kept'), [{ n: 1 }]),
  )
  assert.equal(isAlive(pid), false)
})

it('removes a postmaster.pid and a lock whose numbers belong to other processes now', async () => {
  await (await start()).stop()
  const cluster = join(dataDir, 'postgres')
  const lines = [process.ppid, cluster, 1, 5432, cluster, '', '  1  1', 'ready   ']
  writeFileSync(join(cluster, 'postmaster.pid'), lines.join('\n'))
  writeFileSync(join(dataDir, 'airside.lock'), JSON.stringify({ pid: process.ppid, born: 'another boot 1' }))
  assert.equal(findEmbedded(dataDir), undefined)
  await using(await start(), db => db.query('select 1'))
  assert.ok(isAlive(process.ppid))
})

it('starts PostgreSQL again when that is killed, and loses nothing it acknowledged', async () => {
  const embedded = await start()
  await using(embedded, async db => {
    await db.query('create table kept (id int)')
    let kept = 0
    const insert = () =>
      db.query('insert into kept values (1)').then(
        () => Boolean(++kept),
        () => false,
      )
    for (let round = 0; round < 3; round++) {
      const old = postmasterPid()
      const killed = performance.now()
      process.kill(old, 'SIGKILL')
      // Its backends may take some more before they notice.
      await until(async () => (await insert()) && ![old, 999_999_999].includes(postmasterPid()))
      assert.ok(performance.now() - killed < 5000)
    }
    const [row] = await db.query<{ n: number }>('select count(*) as n from kept')
    assert.ok(kept >= 3 && row!.n >= kept)
  })
})

it('never starts beside backends that a killed PostgreSQL left', async () => {
  const embedded = await start()
  await using(embedded, async db => {
    const [row] = await db.query<{ pid: number }>('select pg_backend_pid() as pid')
    const old = postmasterPid()
    // A stopped backend cannot notice that its server died.
    process.kill(row!.pid, 'SIGSTOP')
    process.kill(old, 'SIGKILL')
    await sleep(1000)
    await using(embedded, other => assert.rejects(other.query('select 1')))
    process.kill(row!.pid, 'SIGCONT')
    await until(() =>
      using(embedded, other => other.query('select 1')).then(
        () => true,
        () => false,
      ),
    )
  })
})

it('leaves nothing broken when it is killed while making the database', async () => {
  const child = spawn(process.execPath, [CHILD, dataDir], { stdio: 'ignore' })
  const drafts = () =>
    existsSync(dataDir) ? readdirSync(dataDir).filter(name => name.startsWith('postgres.new-')) : []
  await until(() => drafts().some(name => existsSync(join(dataDir, name, 'base'))))
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(existsSync(join(dataDir, 'postgres')), false)
  const first = await start()
  await using(first, db => db.query('select 1'))
  await first.stop()
  // The interrupted initdb may have written on while the first start swept; the next one finds it gone.
  await start()
  assert.deepEqual(drafts(), [])
})

it('refuses a database of another PostgreSQL, and lets go of the directory', async () => {
  await (await start()).stop()
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '15\n')
  await assert.rejects(start(), /was made by PostgreSQL 15; this Airside brings 18/)
  assert.equal(existsSync(join(dataDir, 'airside.lock')), false)
})

it('puts the socket elsewhere when its path would be too long', async () => {
  dataDir = join(home, 'd'.repeat(90), 'data')
  const embedded = await start()
  await using(embedded, db => db.query('select 1'))
  const socket = new URL(embedded.url('x').url).searchParams.get('host')!
  assert.equal(statSync(socket).mode & 0o777, 0o700)
  await embedded.stop()
  assert.equal(existsSync(socket), false)
})

it('keeps the database where its user can go when root’s directory is closed', {
  skip: !isRoot,
}, async () => {
  const closed = join(home, 'closed')
  mkdirSync(closed, { mode: 0o700 })
  dataDir = join(closed, 'data')
  const warnings: object[] = []
  const refuge = join(home, 'refuge')
  const log = { ...silent, warn: (fields: object) => warnings.push(fields) }
  const first = await start({ refuge, log })
  await using(first, db => db.query('create table kept (id int)'))
  assert.equal((warnings[0] as { closed: string }).closed, closed)
  await first.stop()
  const second = await start({ refuge })
  assert.deepEqual(await using(second, db => db.query('select * from kept')), [])
})

it('runs as an ordinary user', { skip: !isRoot && 'every other test shows it' }, async () => {
  mkdirSync(dataDir)
  chownSync(dataDir, DAEMON, DAEMON)
  const child = spawn(process.execPath, [CHILD, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    uid: DAEMON,
    gid: DAEMON,
  })
  children.push(child)
  const [line] = await once(createInterface({ input: child.stdout! }), 'line')
  assert.match(line as string, /^ready/)
  assert.equal(statSync(join(dataDir, 'postgres')).uid, DAEMON)
})
