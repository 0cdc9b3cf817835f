/**
 * `npm run bench -- search [--data FILE] [--queries 2000] [--seed 1] [--json FILE]`: how long a search takes, on one thread, over a year of the
 * world's flights. FILE is SSIM, plain or gzip; without it a world is generated. Every question is asked once, after others have warmed the
 * code up; there is no cache to be hot or cold.
 */
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type Query, search } from '../src/timetable/connect.ts'
import { operates, type Timetable } from '../src/timetable/image.ts'
import { buildMarket } from '../src/timetable/market.ts'
import type { Stall } from '../src/timetable/quote.ts'
import { DEFAULT_RULES, type Rules } from '../src/timetable/rules.ts'
import { createSold } from '../src/timetable/sold.ts'
import { type Random, random } from '../test/support/random.ts'
import { inventedRate, inventFares, loadTimetable, sellHalf } from './network.ts'

/** Days that are asked for: from the 200th of the timetable on. */
const FIRST_ASKED = 200
const DAYS_ASKED = 14
const DAYS_SOLD = DAYS_ASKED + 24
const WARM_UP = 500

/** One line of the table: what is asked, and the limits in µs of p50 and p99 if it has any. */
type Run = {
  name: string
  /** Name of its goals. */
  id: string
  rules: Rules
  ask(r: Random): Query
  halfSold: boolean
  limits?: { p50: number; p99: number }
}

type Figures = { p50: number; p95: number; p99: number; max: number; mean: number; options: number }

/** Runs the benchmark and prints its table; with `--json FILE` also writes the goals' figures. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string' },
      json: { type: 'string' },
      queries: { type: 'string', default: '2000' },
      seed: { type: 'string', default: '1' },
    },
  })
  const queries = Number(values.queries)
  const seed = Number(values.seed)
  const timetable = loadTimetable(values.data, seed)
  const market = buildMarket(timetable, inventFares(timetable, seed), inventedRate)
  const firstDay = timetable.firstDay.reduce((a, b) => Math.min(a, b)) + FIRST_ASKED
  const fresh: Stall = { timetable, market, sold: createSold(1) }
  const halfSold: Stall = { timetable, market, sold: sellHalf(timetable, market, firstDay, DAYS_SOLD, seed) }
  const world = values.data === undefined ? 'generated' : 'B'

  const before = calibrate()
  const table: Record<string, Record<string, number>> = {}
  const goals: { id: string; value: number; unit: string; goal: number; met: boolean }[] = []
  for (const line of runsOn(timetable, firstDay)) {
    const figures = measure(line, line.halfSold ? halfSold : fresh, queries, seed)
    table[line.name] = Object.fromEntries(
      Object.entries(figures).map(([k, v]) => [k, Math.round(v * 10) / 10]),
    )
    for (const percentile of ['p50', 'p99'] as const) {
      const goal = line.limits?.[percentile]
      if (goal === undefined) continue
      const value = Math.round(figures[percentile] * 10) / 10
      goals.push({ id: `${line.id}.${world}.${percentile}`, value, unit: 'µs', goal, met: value <= goal })
    }
  }
  const after = calibrate()

  const onDay = departuresOn(timetable, firstDay).reduce((a, b) => a + b, 0)
  console.log(
    `World ${world}: ${timetable.counts.airports} airports, ${timetable.counts.routes} pairs, ${onDay} flights on day one`,
  )
  console.log(
    `Each line ${queries} questions, seed ${seed}, 50 offers, MCT DD 30 DI 60 ID 90 II 90; µs on one thread`,
  )
  console.table(table)
  console.table(goals)
  const ratio = (name: keyof Calibration) =>
    `${name} ${before[name].toFixed(1)} → ${after[name].toFixed(1)} ns`
  console.log(`Noise (before → after): ${ratio('randomLoad')}, ${ratio('copyKilobyte')}`)
  console.log(
    `Node ${process.version}, tz ${process.versions.tz}, ${cpus()[0]?.model.trim()}, ${cpus().length} cores`,
  )
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(goals, null, 2)}\n`)
}

/** Every line of the table. The limits of `mixed` are those of the first release, the others those of the design. */
function runsOn(timetable: Timetable, firstDay: number): Run[] {
  const departures = departuresOn(timetable, firstDay)
  const gravity = pickBy(departures)
  const uniform = pickBy(departures.map(count => Math.min(1, count)))
  const pair = (r: Random, pick: (r: Random) => number): Pick<Query, 'origins' | 'destinations'> => {
    const origin = pick(r)
    let destination = pick(r)
    while (destination === origin) destination = pick(r)
    return { origins: [origin], destinations: [destination] }
  }
  const asks =
    (pick: (r: Random) => number, passengers: number, roundTrip: boolean) =>
    (r: Random): Query => {
      const departDay = firstDay + r.whole(0, DAYS_ASKED - 1)
      const returnDay = roundTrip ? departDay + r.whole(1, 21) : undefined
      return { mode: 'live', ...pair(r, pick), departDay, returnDay, passengers, cabin: 'economy' }
    }
  const mixed = (r: Random): Query => ({
    ...asks(gravity, r.whole(1, 9), r.chance(0.5))(r),
    cabin: r.of(['economy', 'economy', 'economy', 'economy', 'business', 'business', 'first']),
  })
  const sameDay = (r: Random): Query => {
    const query = asks(gravity, 1, false)(r)
    return { ...query, returnDay: query.departDay + r.whole(0, 1) }
  }
  const two = DEFAULT_RULES
  const one = { ...DEFAULT_RULES, mostConnections: 1 }
  return [
    {
      name: 'mixed: both ways, all cabins, parties 1–9',
      id: 'mixed',
      rules: two,
      ask: mixed,
      halfSold: true,
      limits: { p50: 2000, p99: 20_000 },
    },
    {
      name: 'one way, ≤ 2 connections',
      id: 'G1',
      rules: two,
      ask: asks(gravity, 1, false),
      halfSold: false,
      limits: { p50: 25, p99: 250 },
    },
    {
      name: 'one way, ≤ 2, party of 4, half sold',
      id: '',
      rules: two,
      ask: asks(gravity, 4, false),
      halfSold: true,
    },
    { name: 'one way, ≤ 2, uniform', id: '', rules: two, ask: asks(uniform, 1, false), halfSold: false },
    {
      name: 'one way, ≤ 1 connection',
      id: 'G2',
      rules: one,
      ask: asks(gravity, 1, false),
      halfSold: false,
      limits: { p50: 3, p99: 40 },
    },
    {
      name: 'round trip, ≤ 2',
      id: 'G3',
      rules: two,
      ask: asks(gravity, 1, true),
      halfSold: false,
      limits: { p50: 55, p99: 500 },
    },
    {
      name: 'round trip, ≤ 2, party of 4, half sold',
      id: '',
      rules: two,
      ask: asks(gravity, 4, true),
      halfSold: true,
    },
    { name: 'round trip, ≤ 2, uniform', id: '', rules: two, ask: asks(uniform, 1, true), halfSold: false },
    { name: 'round trip, back on the same or next day', id: '', rules: two, ask: sameDay, halfSold: false },
  ]
}

function departuresOn(timetable: Timetable, day: number): number[] {
  const departures = new Array<number>(timetable.counts.airports).fill(0)
  for (let route = 0; route < timetable.counts.routes; route++) {
    for (let flight = timetable.flightStart[route]!; flight < timetable.flightStart[route + 1]!; flight++) {
      if (timetable.stops[flight] === 0 && operates(timetable, flight, day))
        departures[timetable.routeFrom[route]!]!++
    }
  }
  return departures
}

function pickBy(weights: readonly number[]): (r: Random) => number {
  let total = 0
  const upTo = weights.map(weight => (total += weight))
  return r => {
    const at = r.next() * total
    return upTo.findIndex(sum => at < sum)
  }
}

/** Asks every question in two rounds; the better time of each counts. */
function measure({ ask, rules }: Run, stall: Stall, count: number, seed: number): Figures {
  const warmUp = random(seed + 1)
  for (let i = 0; i < Math.min(count, WARM_UP); i++) search({ ...stall, rules }, ask(warmUp))
  const r = random(seed)
  const queries = Array.from({ length: count }, () => ask(r))
  const best = new Float64Array(count).fill(Infinity)
  let options = 0
  for (let round = 0; round < 2; round++) {
    queries.forEach((query, i) => {
      const start = performance.now()
      options += search({ ...stall, rules }, query).length
      best[i] = Math.min(best[i]!, (performance.now() - start) * 1000)
    })
  }
  const sorted = best.slice().sort()
  const at = (share: number) => sorted[Math.min(count - 1, Math.floor(count * share))]!
  const mean = sorted.reduce((a, b) => a + b, 0) / count
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1), mean, options: options / 2 / count }
}

type Calibration = { randomLoad: number; copyKilobyte: number }

/** What this machine needs just now for a dependent random load and for copying a kilobyte, in nanoseconds. */
function calibrate(): Calibration {
  const size = 2 ** 22
  const next = new Int32Array(size)
  for (let i = 0; i < size; i++) next[i] = (Math.imul(i, 1_664_525) + 1_013_904_223) & (size - 1)
  const loads = 2_000_000
  let at = 0
  let start = performance.now()
  for (let i = 0; i < loads; i++) at = next[at]!
  const randomLoad = ((performance.now() - start) * 1e6) / (loads + (at & 1))
  const [from, to] = [new Uint8Array(size), new Uint8Array(size)]
  start = performance.now()
  for (let i = 0; i < 20; i++) to.set(from)
  return { randomLoad, copyKilobyte: ((performance.now() - start) * 1e6) / ((20 * size) / 1024) }
}
