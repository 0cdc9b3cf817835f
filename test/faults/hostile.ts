/** Hostile input: every request gets a documented answer, none a 5xx, and nothing is written but what was answered. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { bookingOf, connectClient, offersOf } from '../support/client.ts'
import { checkAnswer } from '../support/openapi.ts'
import { exchange, type RawAnswer } from '../support/raw-http.ts'
import { startServer } from '../support/server.ts'
import { dayAhead, openShop } from '../support/small-network.ts'
import { checkBooks, withConnection } from './checker.ts'
import { embeddedPostgres } from './embedded.ts'
import { BROKEN_FRAMINGS, bytesOf, type Hostile, hostileRequest } from './hostile-requests.ts'
import { none, type Report, told } from './report.ts'

export type HostilePlan = { seed: number; requests: number; clients: number }

const BATCH = 500
const OFFERS = 24
/** The service gives a slow request up after ten seconds. */
const PATIENCE_MS = 15_000
const STACK = /\bat .*\.(ts|js):\d+|node_modules|PostgreSQL|pg_|\bsql\b/i
const OPEN = /^(HEAD|GET) \/(docs|healthz|readyz|metrics|v1\/openapi\.json)?(\?.*)?$/

/** A path at which nothing is documented. */
const NOWHERE = '/-'

type Fault = { rule: string; what: string }

/** Runs the campaign. */
export async function hostile(plan: HostilePlan): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'airside-hostile-'))
  const dataDir = join(folder, 'data')
  const env = {
    AIRSIDE_DATA_DIR: dataDir,
    AIRSIDE_REGIONS: 'intl',
    AIRSIDE_PORT: '0',
    AIRSIDE_THREADS: '2',
    AIRSIDE_LOG: 'warn',
    AIRSIDE_LIMITS: 'search.enterprise=1000000/60s,search.test=1000000/60s',
  }
  const { live, test } = await openShop(env, { seats: 900 })
  const server = startServer(env)
  const baseUrl = await server.ready()
  const port = Number(new URL(baseUrl).port)
  const client = connectClient({ baseUrl, key: test })
  const statuses = new Map<string, number>()
  const faults: Fault[] = []
  const booked = new Set<string>()
  const memory: number[] = []
  const startedAt = performance.now()
  try {
    for (let sent = 0, batch = 0; sent < plan.requests; batch++) {
      const query = {
        origin: 'SIN',
        destination: 'HKG',
        departDate: dayAhead(3 + (batch % 300)),
        passengers: 1,
      }
      const offers = await Promise.all(
        Array.from({ length: OFFERS }, async () => offersOf(await client.search(query))[0]!.offerId),
      )
      const material = { keys: [test, live], offers, bookingIds: [...booked].slice(-5) }
      const many = Math.min(BATCH, plan.requests - sent)
      const requests = fc.sample(hostileRequest(material), {
        numRuns: many,
        seed: plan.seed * 100_003 + batch,
      })
      sent += many
      await inParallel(plan.clients, requests, async request => {
        const answer = await exchange(
          port,
          bytesOf(request),
          request.method,
          BROKEN_FRAMINGS.has(request.framing),
          PATIENCE_MS,
        )
        const name = String(answer.status ?? answer.why)
        statuses.set(name, (statuses.get(name) ?? 0) + 1)
        for (const fault of judge(request, answer))
          faults.push({ rule: fault.rule, what: `${fault.what} ← ${describe(request)}` })
        if (answer.status === 200 && request.path === '/v1/travel/book') {
          booked.add(
            bookingOf({ kind: 'ok', body: answer.text, json: JSON.parse(answer.text), replayed: false })
              .bookingId,
          )
        }
      })
      memory.push(await residentBytes(port))
    }
    const seconds = (performance.now() - startedAt) / 1000
    const url = embeddedPostgres(dataDir)!.url
    const rows = await withConnection(url, query => query<{ id: string }>('select id from booking'))
    const books = await checkBooks(url)
    const unasked = rows.filter(({ id }) => !booked.has(id)).length
    const missing = [...booked].filter(id => !rows.some(row => row.id === id)).length
    const defects = server
      .said()
      .split('\n')
      .filter(line => line.includes('"defect"'))
    const alive =
      server.process.exitCode === null && (await fetch(new URL('/readyz', baseUrl))).status === 200
    const count = (rule: string) => faults.filter(fault => fault.rule === rule).length
    const mib = (bytes: number | undefined) => Math.round((bytes ?? 0) / 1_048_576)
    return {
      plan: { campaign: 'hostile', ...plan },
      verdicts: [
        told('hostile.requests', 'requests', plan.requests),
        told('hostile.rate', 'requests a second', Math.round(plan.requests / seconds)),
        told(
          'hostile.statuses',
          'answers',
          [...statuses]
            .sort()
            .map(([status, n]) => `${status}:${n}`)
            .join(' '),
        ),
        told('hostile.booked', 'valid ones that booked', booked.size),
        told(
          'hostile.memory',
          'resident MiB, a quarter of the way and at the end',
          `${mib(memory[memory.length >> 2])} ${mib(memory.at(-1))}`,
        ),
        none('hostile.5xx', 'answers of 5xx', count('5xx')),
        none(
          'hostile.undocumented',
          'answers that the OpenAPI document does not describe',
          count('undocumented'),
        ),
        none('hostile.hang', 'requests without an answer', count('hang')),
        none('hostile.auth', 'requests without a valid key that got further', count('auth')),
        none('hostile.leak', 'answers that tell of the inside', count('leak')),
        none('hostile.defects', 'defects in the log', defects.length),
        none('hostile.unasked', 'bookings written that were not answered', unasked),
        none('hostile.missing', 'bookings answered that are not there', missing),
        none('hostile.books', 'findings in the database', books.findings.length),
        none('hostile.dead', 'servers that died', alive ? 0 : 1),
      ],
      examples: [
        ...faults.map(({ rule, what }) => `${rule}: ${what}`),
        ...defects,
        ...books.findings.map(({ rule, what }) => `${rule}: ${what}`),
      ].map(text => text.slice(0, 600)),
    }
  } finally {
    client.close()
    server.process.kill('SIGTERM')
    await server.ended
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What is wrong with an answer. */
function judge(request: Hostile, answer: RawAnswer): Fault[] {
  if (answer.status === undefined) {
    // A request that never ends, or contradicts itself, may be met by a closed door.
    return answer.why === 'closed' && BROKEN_FRAMINGS.has(request.framing)
      ? []
      : [{ rule: 'hang', what: answer.why }]
  }
  const faults: Fault[] = []
  const { status, headers, text } = answer
  if (status >= 500) faults.push({ rule: '5xx', what: `${status} ${text}` })
  if (!request.admitted && status < 400 && !OPEN.test(`${request.method} ${request.path}`))
    faults.push({ rule: 'auth', what: String(status) })
  const isJson = headers.get('content-type')?.startsWith('application/json') === true
  if (isJson && status >= 400 && STACK.test(text)) faults.push({ rule: 'leak', what: text })
  if (status >= 400 && !isJson && request.method !== 'HEAD')
    faults.push({ rule: 'undocumented', what: `${status} ${headers.get('content-type')} ${text}` })
  // HEAD where only GET is served has no body to look at.
  const problem =
    request.method === 'HEAD' && status >= 400
      ? undefined
      : undocumented(request.method, pathOf(request.path), answer)
  // What the parser refuses belongs to no operation: its shape must be right all the same.
  const byParser = [400, 408, 431].includes(status) && undocumented('GET', NOWHERE, answer) === undefined
  if (problem !== undefined && !byParser) faults.push({ rule: 'undocumented', what: problem })
  return faults
}

/** What the OpenAPI document has against an answer, if anything. */
function undocumented(
  method: string,
  path: string,
  answer: RawAnswer & { status: number },
): string | undefined {
  try {
    checkAnswer(method, path, answer)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** The path that a target names, without its query. */
function pathOf(target: string): string {
  const path = target.split('?', 1)[0]!.replace(/^https?:\/\/[^/]*/, '')
  return path.startsWith('/') ? path : `/${path}`
}

function describe(request: Hostile): string {
  const headers = request.headers
    .filter(([name]) => name !== 'Authorization')
    .map(([name, value]) => `${name}: ${value.slice(0, 60)}`)
  const body =
    request.body === undefined
      ? ''
      : JSON.stringify(
          request.body
            .toString('utf8')
            .replace(/off_[\w-]+/, 'off_…')
            .slice(0, 300),
        )
  return `${request.method} ${request.path.slice(0, 100)} [${request.framing}] ${headers.join(', ')} ${body}`
}

async function inParallel<T>(
  lanes: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < items.length) await work(items[next++]!)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

async function residentBytes(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^process_resident_memory_bytes(?:\{.*\})? (\S+)/m.exec(text)?.[1] ?? 0)
}
