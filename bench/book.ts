/**
 * `npm run bench -- book [--pairs 3] [--seconds 8] [--connections 16,64] [--idempotent] [--json FILE]`: bookings a second of the whole
 * server over HTTP, as a share of what pgbench reaches with the same statements on the same database. Server, its durable PostgreSQL and the
 * partners are processes of their own; the two sides take turns, and while pgbench runs the server is halted.
 */
import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Database } from '../src/db/database.ts'
import { dateOf, localDay } from '../src/travel/time.ts'
import type { BookedLoad, BookLoad, BookLoadMessage } from './book-load.ts'
import { runDriverPeer } from './driver-peer.ts'
import { gatherOffers } from './offers.ts'
import { pgbenchVersion, runPgbench, scriptsOf } from './pgbench.ts'
import { cpuSeconds, cpuSecondsOf } from './process.ts'
import { type RecordedBooking, recordBookings } from './recorded-bookings.ts'
import {
  type Figure,
  figure,
  machine,
  median,
  noise,
  percentile,
  printTable,
  report,
  round,
} from './report.ts'
import { servedAnew } from './served.ts'
import { importFares, type Server, withServer } from './server.ts'

const WARM_UP_SECONDS = 2
/** More than a small machine books, so that a load does not run out of them. */
const OFFERS_A_SECOND = 3_000
/** Bookings whose statements are recorded; the peer runs each as often as the others. */
const RECORDED = 8
const SETTLED_WITHIN_MS = 120_000

/** One class a cabin, with as many seats as the aircraft has: what is measured is booking, not selling out. */
const FARES = `carrier,origin,destination,cabin,class,currency,base,per_km,seats
*,*,*,economy,Y,USD,60,0.06,999
*,*,*,business,J,USD,200,0.25,999
*,*,*,first,F,USD,400,0.5,999
`

/** One turn of both sides. */
type Round = {
  connections: number
  /** Bookings a second. */
  http: number
  peer: number
  /** Latency of a booking over HTTP. */
  p50Ms: number
  p99Ms: number
  /** Processor time a booking. */
  serverUs: number
  postgresUs: number
  partnersUs: number
  /** Transactions ended and flushes of the log a booking, with all that the server does beside booking. */
  commits: number
  flushes: number
  others: BookedLoad['others']
}

type Peer = {
  name: string
  /** @returns bookings a second */
  run(url: string, connections: number, seconds: number): Promise<number>
}

/** Runs the benchmark and prints its table. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      pairs: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '8' },
      connections: { type: 'string', default: '16,64' },
      idempotent: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  })
  const seconds = Number(values.seconds)
  const { idempotent } = values
  await withServer({}, async server => {
    const before = noise('before')
    const today = localDay('UTC', Date.now())
    const served = servedAnew(server.counter, dateOf(today + 30))
    await importFares(server.house, FARES)
    await served
    const offers = (await gatherOffers(server.counter, RECORDED, 1, today)).slice(0, RECORDED)
    const { house, database } = server
    const recorded = await recordBookings(database, house.dataDir, house.intl.accountId, offers, idempotent)
    const peer = peerOf(recorded)
    const rounds: Round[] = []
    for (let pair = 0; pair < Number(values.pairs); pair++) {
      for (const connections of values.connections.split(',').map(Number)) {
        const load: BookLoad = {
          counter: server.counter,
          connections,
          offers: (seconds + WARM_UP_SECONDS) * OFFERS_A_SECOND,
          seed: 1000 * (pair + 1) + connections,
          today,
          warmUpSeconds: WARM_UP_SECONDS,
          seconds,
          idempotent,
        }
        const byPeer = () => alone(server, () => peer.run(server.url, connections, seconds))
        // Whoever comes second finds larger tables, so they take turns in that too.
        const first = pair % 2 === 1 ? await byPeer() : undefined
        const http = await overHttp(server, load)
        rounds.push({ ...http, peer: first ?? (await byPeer()) })
      }
    }
    printRounds(rounds, peer.name)
    console.log(await describeBookings(database, recorded, idempotent))
    console.log(`${machine()}\n${before}\n${noise('after')}`)
    report(figuresOf(rounds, peer.name), values.json)
  })
}

function peerOf(recorded: readonly RecordedBooking[]): Peer {
  const version = pgbenchVersion()
  if (version === undefined) {
    console.log('book.pgbench skipped: needs pgbench (on Debian: apt-get install postgresql-contrib).')
    console.log('Its place takes a peer that sends the same statements through the pg driver.')
    return { name: 'driver', run: (url, clients, seconds) => runDriverPeer(url, recorded, clients, seconds) }
  }
  const scripts = scriptsOf(recorded)
  console.log(`Peer: ${version}, -M prepared, ${scripts.texts.length} recorded bookings as scripts`)
  return { name: 'pgbench', run: (url, clients, seconds) => runPgbench(url, scripts, clients, seconds) }
}

/** Halts the server while its database works for somebody else, and removes what its worker would take for its own. */
async function alone<T>({ house, database }: Server, work: () => Promise<T>): Promise<T> {
  await checkpoint(database)
  house.process.kill('SIGSTOP')
  try {
    return await work()
  } finally {
    await database.query(`delete from confirmation where booking_id !~ '^bkg_'`)
    house.process.kill('SIGCONT')
  }
}

async function overHttp(server: Server, load: BookLoad): Promise<Omit<Round, 'peer'>> {
  await settled(server.database)
  await checkpoint(server.database)
  const child = fork(fileURLToPath(new URL('book-load.ts', import.meta.url)), { serialization: 'advanced' })
  const message = () =>
    new Promise<BookLoadMessage>((resolve, reject) => {
      child.once('message', said => resolve(said as BookLoadMessage))
      child.once('exit', () => reject(new Error('the partners of the benchmark have ended')))
    })
  const usage = async () => ({
    server: cpuSeconds(server.pid),
    postgres: cpuSecondsOf(server.postgresPids()),
    partners: cpuSeconds(child.pid!),
    ...(await counters(server.database)),
  })
  child.send(load)
  await message()
  const from = await usage()
  const ended = await message()
  const to = await usage()
  await new Promise(resolve => child.once('exit', resolve))
  if (ended.kind !== 'ended') throw new Error('the partners of the benchmark began twice')
  const { booked, others, latenciesMs, seconds } = ended.result
  const each = (name: keyof typeof from) => (to[name] - from[name]) / booked
  return {
    connections: load.connections,
    http: booked / seconds,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    serverUs: each('server') * 1e6,
    postgresUs: each('postgres') * 1e6,
    partnersUs: each('partners') * 1e6,
    commits: each('commits'),
    flushes: each('flushes'),
    others,
  }
}

/** Waits until the worker has nothing left from the round before. */
async function settled(database: Database): Promise<void> {
  const until = Date.now() + SETTLED_WITHIN_MS
  for (;;) {
    const rows = await database.query<{ due: number }>(
      `select count(*) as due from confirmation where state in ('due', 'sending')`,
    )
    if (rows[0]!.due === 0 || Date.now() > until) return
    await sleep(250)
  }
}

/** Both sides begin behind a checkpoint, so that neither pays for the other's. */
async function checkpoint(database: Database): Promise<void> {
  await database.query('checkpoint')
}

/** Transactions that ended with a commit, and flushes of the write-ahead log to disk, since the database was made. */
async function counters(database: Database): Promise<{ commits: number; flushes: number }> {
  const rows = await database.query<{ commits: number; flushes: number }>(
    `select (select xact_commit from pg_stat_database where datname = current_database()) as commits,
       (select sum(fsyncs)::bigint from pg_stat_io where object = 'wal') as flushes`,
  )
  return rows[0]!
}

function printRounds(rounds: readonly Round[], peer: string): void {
  printTable(
    [
      'connections',
      'HTTP /s',
      `${peer} /s`,
      'share',
      'p50 ms',
      'p99 ms',
      'server µs',
      'postgres µs',
      'partners µs',
      'commits',
      'flushes',
      'other answers',
    ],
    rounds.map(r => [
      r.connections,
      round(r.http, 0),
      round(r.peer, 0),
      round(r.http / r.peer, 3),
      round(r.p50Ms),
      round(r.p99Ms),
      round(r.serverUs, 0),
      round(r.postgresUs, 0),
      round(r.partnersUs, 0),
      round(r.commits),
      round(r.flushes, 2),
      Object.entries(r.others)
        .map(([name, count]) => `${count} × ${name}`)
        .join(', ') || 'none',
    ]),
  )
  console.log('µs: processor time a booking. Commits and flushes: the whole database’s, a booking.')
}

/** What a booking is made of, and that its commits are durable. */
async function describeBookings(
  database: Database,
  recorded: readonly RecordedBooking[],
  idempotent: boolean,
): Promise<string> {
  const setting = async (name: string) =>
    (await database.query<{ value: string }>('select current_setting($1) as value', [name]))[0]!.value
  const { transactions } = recorded[0]!
  const counts = transactions.map(t => (t.explicit ? `${t.statements.length} in a transaction` : '1 alone'))
  return [
    `A booking ${idempotent ? 'with' : 'without'} Idempotency-Key: statements ${counts.join(', then ')}.`,
    `PostgreSQL ${await setting('server_version')}: fsync ${await setting('fsync')}, synchronous_commit ${await setting('synchronous_commit')}`,
  ].join('\n')
}

/** The headline is the median share over all rounds; beside it each number of connections by itself. */
function figuresOf(rounds: readonly Round[], peer: string): Figure[] {
  const share = (some: readonly Round[]) => median(some.map(r => r.http / r.peer))
  const byConnections = Map.groupBy(rounds, r => r.connections)
  return [
    figure(`book.${peer}`, share(rounds), 'share'),
    ...[...byConnections].flatMap(([connections, some]) => {
      const id = (name: string) => `book.${name}.${connections}`
      const middle = (of: (round: Round) => number) => median(some.map(of))
      return [
        figure(id(peer), share(some), 'share'),
        figure(
          id('http'),
          middle(r => r.http),
          '1/s',
        ),
        figure(
          id(`${peer}.rate`),
          middle(r => r.peer),
          '1/s',
        ),
        figure(
          id('p50'),
          middle(r => r.p50Ms),
          'ms',
        ),
        figure(
          id('p99'),
          middle(r => r.p99Ms),
          'ms',
        ),
      ]
    }),
  ]
}
