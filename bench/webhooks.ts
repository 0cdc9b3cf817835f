/**
 * `npm run bench -- webhooks [--quick] [--rounds 5] [--only G1,G2,peers,G3,G5,G9] [--json FILE]`: how fast events are delivered that must not be
 * lost. The engine runs as the roof runs it, in a thread of its own, on a durable PostgreSQL; the receiver is a process of its own; all of them,
 * and what they are compared with, share the processors of one machine. What is compared takes turns in one run.
 */
import { once } from 'node:events'
import { chmodSync, mkdtempSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connect } from '../src/db/database.ts'
import { findEmbedded } from '../src/db/embedded.ts'
import { localDay } from '../src/travel/time.ts'
import { startHouse } from '../test/support/house.ts'
import { gatherOffers } from './offers.ts'
import { busySeconds, ownSeconds } from './process.ts'
import { type RecordedBooking, recordBookings } from './recorded-bookings.ts'
import {
  type Figure,
  figure,
  type Goal,
  machine,
  median,
  noise,
  percentile,
  printTable,
  report,
  round,
} from './report.ts'
import { measureCommits } from './webhooks/commits.ts'
import { measureDeadline } from './webhooks/deadline.ts'
import { type Drains, measureDrains } from './webhooks/drain.ts'
import { type HangingRound, measureHanging } from './webhooks/hanging.ts'
import { measurePeers, peersInstalled } from './webhooks/peers.ts'
import type { BookOrder } from './webhooks/sender.ts'
import { clear, openStage, type Scheme, type Stage } from './webhooks/stage.ts'
import { measureWake } from './webhooks/wake.ts'

const PARTS = ['G1', 'peers', 'G2', 'G3', 'G5', 'G9'] as const
type Part = (typeof PARTS)[number]

/** Bookings whose statements are recorded; the commit rate runs each as often as the others. */
const RECORDED = 8
const HANGING = [1, 10, 40] as const

/** How much is measured. */
type Extent = {
  pairs: number
  deliveries: number
  rounds: number
  wakeSeconds: number
  commitSeconds: number
}
const FULL: Extent = { pairs: 5, deliveries: 24_000, rounds: 3, wakeSeconds: 4, commitSeconds: 4 }
const QUICK: Extent = { pairs: 3, deliveries: 16_000, rounds: 1, wakeSeconds: 3, commitSeconds: 3 }

const GOALS: Readonly<Record<string, Goal>> = {
  'G1.http': { atLeast: 0.4 },
  'G1.https': { atLeast: 0.5 },
  'G2.p50': { atMost: 1 },
  'G2.p99': { atMost: 5 },
  'G2.1000.p99': { atMost: 10 },
  'G2.notify.p99': { atMost: 10 },
  'G2.lost.max': { atMost: 300 },
  'G3.1': { atLeast: 0.9 },
  'G3.10': { atLeast: 0.8 },
  'G3.40': { atLeast: 0.7 },
  'G3.p99': { atMost: 1.5 },
  G5: { atLeast: 0.65 },
  'G9.first': { atLeast: 5 },
  'G9.last': { atMost: 5.1 },
}

/** Runs the benchmark and prints its tables. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string', default: PARTS.join() },
      json: { type: 'string' },
    },
  })
  const parts = values.only.split(',') as Part[]
  const strange = parts.filter(part => !PARTS.includes(part))
  if (strange.length > 0) throw new Error(`There is no part ${strange.join()}; there are ${PARTS.join()}.`)
  const extent = values.quick ? QUICK : FULL
  if (values.rounds !== undefined) extent.pairs = extent.rounds = Number(values.rounds)
  const before = noise('before')
  const [busy, own, startedAt] = [busySeconds(), ownSeconds(), performance.now()]
  const figures: Figure[] = []
  const add = (id: string, value: number, unit: string) =>
    void figures.push(figure(id, value, unit, GOALS[id]))
  const served = parts.includes('G5') ? await recordOnServer() : undefined
  const stage = await openStage(served?.dataDir)
  // However we are stopped, nothing is left running or lying about.
  const breakOff = () => void stage.close().finally(() => process.exit(130))
  process.once('SIGINT', breakOff).once('SIGTERM', breakOff)
  try {
    if (parts.includes('G1')) await drains(stage, extent, add)
    if (parts.includes('peers')) await peers(stage, extent, add)
    if (parts.includes('G2')) await wakes(stage, extent, add)
    if (parts.includes('G3')) await hangings(stage, extent, add)
    if (served !== undefined) await commits(stage, extent, served, add)
    if (parts.includes('G9')) await deadlines(stage, add)
    console.log(await describe(stage))
    console.log(`${machine()}\n${before}\n${noise('after')}`)
    const foreign = (busySeconds() - busy - (ownSeconds() - own)) / ((performance.now() - startedAt) / 1000)
    console.log(
      `Others kept ${round(Math.max(0, foreign), 2)} of ${availableParallelism()} processors busy meanwhile${foreign > 0.2 ? ': measure again on a quiet machine' : ''}.`,
    )
    report(figures, values.json)
  } finally {
    process.off('SIGINT', breakOff).off('SIGTERM', breakOff)
    await stage.close()
  }
}

type Add = (id: string, value: number, unit: string) => void

async function drains(stage: Stage, { pairs, deliveries }: Extent, add: Add): Promise<void> {
  for (const scheme of ['https', 'http'] as const satisfies readonly Scheme[]) {
    const found = await measureDrains(stage, scheme, pairs, deliveries)
    printDrains(scheme, found)
    const middle = (of: (pair: Drains['pairs'][number]) => number) => median(found.pairs.map(of))
    add(
      `G1.${scheme}`,
      middle(pair => pair.engine / pair.raw),
      'share',
    )
    add(
      `G1.${scheme}.rate`,
      middle(pair => pair.engine),
      '1/s',
    )
    add(
      `G1.${scheme}.raw`,
      middle(pair => pair.raw),
      '1/s',
    )
    add(`G1.${scheme}.sender`, middle(({ usage }) => usage.sender / deliveries) * 1e6, 'µs')
    add(`G1.${scheme}.postgres`, middle(({ usage }) => usage.postgres / deliveries) * 1e6, 'µs')
    add(
      `G1.${scheme}.wal`,
      middle(({ usage }) => usage.wal / deliveries),
      'bytes',
    )
    add(`G1.${scheme}.queries`, found.commitsEach, 'each')
    add(`G1.${scheme}.dead`, found.deadEach, 'rows')
  }
}

function printDrains(scheme: Scheme, { pairs, deliveries, commitsEach, deadEach }: Drains): void {
  const each = (amount: number, unit = 1e6) => round((amount / deliveries) * unit, 0)
  console.log(`\nG1.${scheme}: ${deliveries} deliveries, durable and raw in turns`)
  printTable(
    ['durable /s', 'raw /s', 'share', 'sender µs', 'postgres µs', 'receiver µs', 'WAL bytes'],
    pairs.map(({ engine, raw, usage }) => [
      round(engine, 0),
      round(raw, 0),
      round(engine / raw, 3),
      each(usage.sender),
      each(usage.postgres),
      each(usage.receiver),
      each(usage.wal, 1),
    ]),
  )
  console.log(
    `A delivery: ${round(commitsEach, 3)} transactions, ${round(deadEach, 2)} dead rows in the queue’s tables.`,
  )
}

async function peers(stage: Stage, { rounds, deliveries }: Extent, add: Add): Promise<void> {
  if (!peersInstalled()) {
    console.log('Peers skipped: they need `npm --prefix bench/peers ci`.')
    return
  }
  await clear(stage)
  await stage.aim('https')
  const found = await measurePeers(stage, rounds, deliveries)
  for (const [name, rates] of found) add(`peer.${name}`, median(rates), '1/s')
}

async function wakes(stage: Stage, { wakeSeconds }: Extent, add: Add): Promise<void> {
  await clear(stage)
  await stage.aim('https')
  const sender = await stage.startSender('https')
  const rows: (string | number)[][] = []
  const measure = async (rate: number, told: BookOrder['told'], seconds = wakeSeconds) => {
    const { latencies, late } = await measureWake(stage, sender, { rate, seconds, told })
    const at = (share: number) => percentile(latencies, share)
    rows.push([
      `${rate}/s`,
      told,
      latencies.length,
      ...[0.5, 0.9, 0.99, 1].map(share => round(at(share), 2)),
      late,
    ])
    return at
  }
  try {
    for (const told of ['in process', 'directly'] as const)
      await measureWake(stage, sender, { rate: 300, seconds: 2, told })
    const floor = await measure(300, 'directly')
    add('G2.direct.p50', floor(0.5), 'ms')
    add('G2.direct.p99', floor(0.99), 'ms')
    const usual = await measure(300, 'in process', wakeSeconds * 2)
    add('G2.p50', usual(0.5), 'ms')
    add('G2.p99', usual(0.99), 'ms')
    add('G2.1000.p99', (await measure(1000, 'in process'))(0.99), 'ms')
    add('G2.notify.p99', (await measure(300, 'by NOTIFY'))(0.99), 'ms')
    add('G2.lost.max', (await measure(300, 'by nobody'))(1), 'ms')
  } finally {
    await sender.ask('stop')
    await sender.kill()
  }
  console.log('\nG2: from commit to receipt, one delivery a booking')
  printTable(
    ['bookings', 'sender told', 'receipts', 'p50 ms', 'p90 ms', 'p99 ms', 'max ms', 'begun late'],
    rows,
  )
}

async function hangings(stage: Stage, { rounds, deliveries }: Extent, add: Add): Promise<void> {
  const found: HangingRound[] = []
  for (let i = 0; i < rounds; i++) found.push(await measureHanging(stage, HANGING, deliveries))
  const p99 = (latencies: readonly number[]) => percentile(latencies, 0.99)
  console.log('\nG3: healthy deliveries a second while others of the 100 endpoints hang')
  printTable(
    ['none', ...HANGING.map(String), 'p99 ms', 'p99 ms beside 40', 'hung for at most s'],
    found.map(({ rates, fresh, freshBeside, hung }) => [
      ...[...rates.values()].map(rate => round(rate, 0)),
      round(p99(fresh), 2),
      round(p99(freshBeside), 2),
      round(Math.max(...hung) / 1000, 3),
    ]),
  )
  for (const hanging of HANGING)
    add(`G3.${hanging}`, median(found.map(({ rates }) => rates.get(hanging)! / rates.get(0)!)), 'share')
  // A median forgives a collapse in one round; this does not.
  add(
    'G3.worst',
    Math.min(...found.flatMap(({ rates }) => HANGING.map(n => rates.get(n)! / rates.get(0)!))),
    'share',
  )
  add('G3.p99', median(found.map(({ fresh, freshBeside }) => p99(freshBeside) / p99(fresh))), '×')
  add('G3.hung', Math.max(...found.flatMap(({ hung }) => hung)) / 1000, 's')
}

async function commits(
  stage: Stage,
  { rounds, commitSeconds }: Extent,
  served: Served,
  add: Add,
): Promise<void> {
  const found = await measureCommits(stage, served.recorded, served.accountId, rounds, commitSeconds)
  console.log('\nG5: bookings a second, 16 clients, at the level of SQL')
  printTable(
    ['without events', 'with two deliveries', 'share'],
    found.map(({ silent, told }) => [round(silent, 0), round(told, 0), round(told / silent, 3)]),
  )
  add('G5', median(found.map(({ silent, told }) => told / silent)), 'share')
  add('G5.rate', median(found.map(({ told }) => told)), '1/s')
}

async function deadlines(stage: Stage, add: Add): Promise<void> {
  const ended = await measureDeadline(stage)
  const fired = ended.filter(({ reason }) => reason.startsWith('timeout_')).map(({ seconds }) => seconds)
  console.log('\nG9: attempts at once that get nowhere')
  printTable(
    ['waiting for', 'reason', 'attempts', 'first s', 'last s'],
    [...Map.groupBy(ended, ({ waitingFor, reason }) => `${waitingFor}|${reason}`)].map(([name, some]) => [
      ...name.split('|'),
      some.length,
      round(Math.min(...some.map(({ seconds }) => seconds)), 4),
      round(Math.max(...some.map(({ seconds }) => seconds)), 4),
    ]),
  )
  // Timers fire on whole milliseconds of a clock of their own.
  add('G9.first', round(Math.min(...fired), 3), 's')
  add('G9.last', round(Math.max(...fired), 3), 's')
}

type Served = { dataDir: string; accountId: string; recorded: RecordedBooking[] }

/** Books on a whole server and notes the statements; the server ends, its database stays. */
async function recordOnServer(): Promise<Served> {
  const dataDir = mkdtempSync(join(tmpdir(), 'airside-bench-'))
  chmodSync(dataDir, 0o711)
  const house = await startHouse({ dataDir, env: { AIRSIDE_LIMITS: 'search.enterprise=100000000/1s' } })
  const { accountId, baseUrl, live } = house.intl
  try {
    const counter = { port: Number(new URL(baseUrl).port), key: live }
    const offers = await gatherOffers(counter, RECORDED, 1, localDay('UTC', Date.now()))
    const database = connect(findEmbedded(dataDir)!.url('airside_intl'))
    const recorded = await recordBookings(database, dataDir, accountId, offers.slice(0, RECORDED), false)
    await database.close()
    return { dataDir, accountId, recorded }
  } finally {
    const gone = once(house.process, 'exit')
    house.process.kill('SIGINT')
    await gone
  }
}

async function describe({ database }: Stage): Promise<string> {
  const setting = async (name: string) =>
    (await database.query<{ value: string }>('select current_setting($1) as value', [name]))[0]!.value
  return [
    'µs: processor time a delivery. Database, sender, receiver and generators share the processors below: trust the shares, not the rates.',
    'Raw: the same bytes signed and POSTed by undici, 64 at once, nothing stored. The engine sends up to 256 at once, 8 an endpoint.',
    'http: the engine refuses plain HTTP; its connector alone was given plain sockets. Peers send over TLS, 64 at once, without log or fence.',
    `PostgreSQL ${await setting('server_version')}: fsync ${await setting('fsync')}, synchronous_commit ${await setting('synchronous_commit')}`,
  ].join('\n')
}
