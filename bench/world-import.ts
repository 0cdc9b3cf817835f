/**
 * `npm run bench -- import --data FILE.ssim [--rate 100] [--threads 2] [--json FILE]`: a world's schedule (plain or gzip) and a fare ladder,
 * imported with the operator's commands into a server that goes on searching at a fixed rate: how long it takes, what the searches feel of
 * it, when the new world is served, what memory it needs, and how fast searches in it are answered.
 */
import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { demoFares } from '../src/demo/fares.ts'
import { randomFrom } from '../src/demo/random.ts'
import { airport, greatCircleKm } from '../src/travel/airport.ts'
import { dateOf, localDay } from '../src/travel/time.ts'
import { type Filed, readFiled } from './filed.ts'
import { dial, post } from './line.ts'
import type { Counter } from './offers.ts'
import { memoryMb } from './process.ts'
import { figure, machine, median, noise, percentile, printTable, report, round } from './report.ts'
import type { Searched, SearchLoad } from './search-load.ts'
import { servedAnew } from './served.ts'
import { importFares, type Server, withServer } from './server.ts'

/** Pairs that the demo network and any world fly. */
const PAIRS = ['LHR JFK', 'LHR SIN', 'JFK LAX', 'SIN SYD', 'LAX NRT', 'FRA JFK', 'CDG NRT', 'LHR HKG']
const LINES = 32
const CALM_SECONDS = 6
const SETTLE_SECONDS = 12
const REPEATS = 40
const VILLAGE_KM = 8_000
const VILLAGES_TRIED = 400

const GOAL = { seconds: 15, servedMs: 1_000, errors: 0, memoryMb: 800 }

/** Runs the benchmark. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string' },
      rate: { type: 'string', default: '100' },
      threads: { type: 'string', default: '2' },
      json: { type: 'string' },
    },
  })
  if (values.data === undefined) throw new Error('Give the schedule to import: --data FILE.ssim')
  const file = values.data
  const filed = readFiled(file)
  const fromDay = Math.max(localDay('UTC', Date.now()) + 10, filed.firstDay + 1)
  const toDay = Math.min(fromDay + 200, filed.lastDay - 2)
  if (toDay <= fromDay) throw new Error(`${file} ends before anything can be searched`)
  await withServer({ AIRSIDE_THREADS: values.threads }, async server => {
    const before = noise('before')
    const { counter, house } = server
    await importFares(house, ladder())
    const load = startSearches({
      counter,
      rate: Number(values.rate),
      lines: LINES,
      pairs: PAIRS,
      fromDay,
      toDay,
    })
    await sleep(CALM_SECONDS * 1000)
    const memory = watchMemory(server)
    memory.note('before')

    const served = servedAnew(counter, dateOf(fromDay))
    const beganAt = Date.now()
    const imported = await house.command('schedule', 'import', file, '--replace')
    const doneAt = Date.now()
    const servedAt = await served
    const faresAt = Date.now()
    await importFares(house, ladder())
    const faresDoneAt = Date.now()
    const endAt = Math.max(servedAt, faresDoneAt) + 1000
    await sleep(SETTLE_SECONDS * 1000)
    memory.note('after, while searching')
    const searched = await load.stop()
    await sleep(SETTLE_SECONDS * 1000)
    memory.note('after, at rest')
    const peaks = memory.stop()

    const phases = [
      { name: 'before', searches: searched.filter(s => s.at < beganAt && s.at > beganAt - 4000) },
      { name: 'during', searches: searched.filter(s => s.at >= beganAt && s.at < endAt) },
      { name: 'after', searches: searched.filter(s => s.at >= endAt) },
    ].map(({ name, searches }) => latencies(name, searches))
    printTable(
      ['searches', 'number', 'p50 ms', 'p99 ms', 'max ms', 'errors'],
      phases.map(p => [p.name, p.number, round(p.p50, 2), round(p.p99, 2), round(p.max), p.errors]),
    )
    printTable(
      ['memory', 'server MB', 'PostgreSQL MB'],
      [...memory.noted, ['highest', round(peaks.server, 0), round(peaks.postgres, 0)]],
    )
    console.log(
      'Server: resident set of the process, all threads. PostgreSQL: proportional set of all its processes.',
    )

    const asked = [
      await ask(counter, 'LHR–SIN', fromDay, day => ({
        origin: 'LHR',
        destination: 'SIN',
        departDate: dateOf(day),
      })),
      await ask(counter, 'JFK–NRT and back', fromDay, day => ({
        origin: 'JFK',
        destination: 'NRT',
        departDate: dateOf(day),
        returnDate: dateOf(day + 14),
      })),
      await villages(counter, filed, fromDay),
    ]
    printTable(
      ['in the new world', 'offers', 'first ms', 'p50 ms', 'p99 ms'],
      asked.map(a => [a.name, a.offers, round(a.first, 2), round(a.p50, 2), round(a.p99, 2)]),
    )
    const seconds = (doneAt - beganAt) / 1000
    const { legs, flights, flightDates } = imported as Record<string, number>
    console.log(`${legs} legs imported: ${flights} flights, ${flightDates} departures for sale`)
    console.log(
      `Work inside the command ${imported.seconds} s; the fares’ command ${(faresDoneAt - faresAt) / 1000} s`,
    )
    console.log(`${machine()}\n${before}\n${noise('after')}`)
    report(
      [
        figure('import.seconds', seconds, 's', { atMost: GOAL.seconds }),
        figure('import.served', servedAt - doneAt, 'ms', { atMost: GOAL.servedMs }),
        figure('import.errors', phases[1]!.errors, 'searches', { atMost: GOAL.errors }),
        ...phases.flatMap(p => [
          figure(`import.search.${p.name}.p50`, p.p50, 'ms'),
          figure(`import.search.${p.name}.p99`, p.p99, 'ms'),
        ]),
        figure('import.memory', memory.latest(), 'MB', { atMost: GOAL.memoryMb }),
        figure('import.memory.highest', peaks.server, 'MB'),
      ],
      values.json,
    )
  })
}

/** The demo's general ladder: wildcard fares of every cabin, for any carrier and pair. */
function ladder(): string {
  return demoFares()
    .split('\n')
    .filter((line, i) => i === 0 || line.startsWith('*,*,*,'))
    .join('\n')
}

function startSearches(load: SearchLoad): { stop(): Promise<Searched[]> } {
  const child = fork(fileURLToPath(new URL('search-load.ts', import.meta.url)), { serialization: 'advanced' })
  child.send(load)
  return {
    stop() {
      child.send('stop')
      return new Promise((resolve, reject) => {
        child.once('message', searched => resolve(searched as Searched[]))
        child.once('exit', () => reject(new Error('the partners of the benchmark have ended')))
      })
    },
  }
}

function latencies(name: string, searches: readonly Searched[]) {
  const ms = searches.map(search => search.ms)
  return {
    name,
    number: searches.length,
    p50: percentile(ms, 0.5),
    p99: percentile(ms, 0.99),
    max: Math.max(...ms),
    errors: searches.filter(search => search.status !== 200).length,
  }
}

/** Looks at the memory twice a second and keeps the highest. */
function watchMemory({ pid, postgresPids }: Server) {
  const noted: (string | number)[][] = []
  const highest = { server: 0, postgres: 0 }
  const look = () => {
    const now = {
      server: memoryMb(pid, 'VmRSS'),
      postgres: postgresPids().reduce((sum, child) => sum + memoryMb(child, 'Pss'), 0),
    }
    highest.server = Math.max(highest.server, memoryMb(pid, 'VmHWM'))
    highest.postgres = Math.max(highest.postgres, now.postgres)
    return now
  }
  const timer = setInterval(look, 500)
  let latest = 0
  return {
    noted,
    latest: () => latest,
    note(when: string) {
      const { server, postgres } = look()
      latest = server
      noted.push([when, round(server, 0), round(postgres, 0)])
    },
    stop() {
      clearInterval(timer)
      return highest
    },
  }
}

type Asked = { name: string; offers: number; first: number; p50: number; p99: number }

/** Asks for the same journey on many days, one question after another over one connection. */
async function ask(
  counter: Counter,
  name: string,
  fromDay: number,
  question: (day: number) => object,
): Promise<Asked> {
  const line = dial(counter.port)
  const ms: number[] = []
  const offers: number[] = []
  for (let i = 0; i < REPEATS; i++) {
    const request = post('/v1/travel/search', counter.key, JSON.stringify(question(fromDay + 3 * i)))
    const sentAt = performance.now()
    const { body } = await line.ask(request)
    ms.push(performance.now() - sentAt)
    offers.push(body.toString('latin1').split('"offerId"').length - 1)
  }
  line.close()
  return { name, offers: median(offers), first: ms[0]!, p50: percentile(ms, 0.5), p99: percentile(ms, 0.99) }
}

/** A journey between two airports with a single route each, far apart, that at most two connections can make. */
async function villages(counter: Counter, { routes }: Filed, fromDay: number): Promise<Asked> {
  const random = randomFrom(3)
  const small = [...routes].filter(([, count]) => count === 1).flatMap(([code]) => airport(code) ?? [])
  const line = dial(counter.port)
  try {
    for (let i = 0; i < VILLAGES_TRIED; i++) {
      const [from, to] = [
        small[Math.floor(random() * small.length)]!,
        small[Math.floor(random() * small.length)]!,
      ]
      if (greatCircleKm(from.latitude, from.longitude, to.latitude, to.longitude) < VILLAGE_KM) continue
      const question = (day: number) => ({ origin: from.code, destination: to.code, departDate: dateOf(day) })
      const { status } = await line.ask(
        post('/v1/travel/search', counter.key, JSON.stringify(question(fromDay))),
      )
      if (status === 200) return await ask(counter, `${from.code}–${to.code} (villages)`, fromDay, question)
    }
  } finally {
    line.close()
  }
  return { name: 'villages (none found)', offers: 0, first: Number.NaN, p50: Number.NaN, p99: Number.NaN }
}
