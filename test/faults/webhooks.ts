/** The campaign on deliveries: events are published while their senders, and the PostgreSQL under them, are killed, frozen and starved. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect, type Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type AccountId, newId } from '../../src/id.ts'
import { publish } from '../../src/webhook/publish.ts'
import { keepDays } from '../../src/webhook/upkeep/upkeep.ts'
import { dueIn, notifier } from '../../src/webhook/wake.ts'
import { createAuthority } from '../support/authority.ts'
import { random } from '../support/random.ts'
import { never, type Receiver, startReceiver } from '../support/receiver.ts'
import { type SenderOrder, type SenderProcess, startSenderProcess } from '../support/sender-process.ts'
import { addEndpoint, changeOf } from '../webhook/support.ts'
import { embeddedPostgres } from './embedded.ts'
import { none, openJournal, type Report, told, type Verdict } from './report.ts'
import { checkDeliveries } from './webhook-check.ts'

export type WebhooksPlan = {
  seed: number
  minutes: number
  /** Events a second. */
  rate: number
  kills: number
  stops: number
  /** Rows behind the endpoint that is dead for long. */
  backlog: number
}

const HEALTHY = 5
const FLAKY = 2
/** Events for the endpoint that never answers: each takes four deadlines, one after the other. */
const HANGING = 2
const RETRY_MS = [200, 400, 800]
const LEASE_MS = 2_000
const SENDERS = 2
const CALM_WITHIN_MS = 60_000
const PATIENT = {
  statementTimeoutMs: 60_000,
  lockTimeoutMs: 10_000,
  connectTimeoutMs: 5_000,
  queueTimeoutMs: 10_000,
  queueMax: 10_000,
}
const CHILD = fileURLToPath(new URL('../support/embedded-child.ts', import.meta.url))
/** One of the senders lives an hour ahead, then an hour behind. */
const SKEWS = [3_600_000, -3_600_000]

/** What the publisher has been told is committed. */
export type Published = { booking: string }

/** Runs the campaign. */
export async function webhooks(plan: WebhooksPlan): Promise<Report> {
  const draw = random(plan.seed)
  const folder = mkdtempSync(join(tmpdir(), 'airside-webhooks-'))
  const dataDir = join(folder, 'data')
  const authority = createAuthority()
  const journal = openJournal<Published>(join(folder, 'published.jsonl'))
  const faults = openJournal<{ fault: string }>(join(folder, 'faults.jsonl'))
  const receiver = await startReceiver(authority.issue(['127.0.0.1']))
  const postgres = await startPostgres(dataDir)
  const { url } = embeddedPostgres(dataDir)!
  await migrate({ url, ...PATIENT })
  const notices = notifier({ query: (text, values) => database.query(text, values) })
  const database: Database = connect({
    ...PATIENT,
    url,
    poolMax: 16,
    committed: notes => notices.due(dueIn(notes)),
  })
  await keepDays(database)
  const account = newId('acc')
  const order: SenderOrder = { url, certificate: authority.certificate, retryMs: RETRY_MS, leaseMs: LEASE_MS }
  const secrets = await furnish(database, account, receiver, draw.next)
  const senders: SenderProcess[] = []
  let skews = 0
  for (let i = 0; i < SENDERS; i++) senders.push(await startSenderProcess(order))

  // Faults at drawn instants; publishing goes on all the while.
  const counts: Record<string, number> = {}
  const what = shuffled(
    [...Array<string>(plan.kills).fill('kill'), ...Array<string>(plan.stops).fill('postgres'), ...more(plan)],
    draw.next,
  )
  const startedAt = performance.now()
  let over = false
  const publishing = flow(database, account, journal, plan.rate, () => over)
  const gapMs = (plan.minutes * 60_000) / what.length
  for (const [i, fault] of what.entries()) {
    await sleep(Math.max(0, startedAt + gapMs * (i + draw.next()) - performance.now()))
    faults.note({ fault })
    counts[fault] = (counts[fault] ?? 0) + 1
    const n = draw.whole(0, SENDERS - 1)
    const sender = senders[n]!
    if (fault === 'kill') {
      await sender.kill()
      const skew = draw.chance(0.2) ? SKEWS[skews++ % 2]! : 0
      if (skew !== 0) counts.skew = (counts.skew ?? 0) + 1
      senders[n] = await restarted(order, skew)
    } else if (fault === 'freeze') {
      sender.process.kill('SIGSTOP')
      setTimeout(() => sender.process.kill('SIGCONT'), draw.whole(200, LEASE_MS * 2))
    } else if (fault === 'block') sender.block(draw.whole(500, LEASE_MS * 2))
    else if (fault === 'backends') await cutBackends(database)
    else await crashPostgres(dataDir)
  }
  over = true
  await publishing
  await sleep(LEASE_MS * 2)
  const drainMs = await drained(database)
  const verdicts: Verdict[] = Object.entries(counts).map(([name, n]) =>
    told(`fault ${name}`, `faults: ${name}`, n),
  )
  const died = senders.filter(one => one.process.exitCode !== null).map(one => one.errors())
  verdicts.push(
    none('R14', 'senders that ended by themselves', died.length),
    told('drain', 'ms until nothing was queued any more', Math.round(drainMs)),
    {
      id: 'drained',
      what: 'drained within a minute',
      value: drainMs < CALM_WITHIN_MS ? 'yes' : 'no',
      wanted: 'yes',
      held: drainMs < CALM_WITHIN_MS,
    },
  )
  const found = await checkDeliveries(url, journal.read(), receiver, secrets)
  verdicts.push(...found.verdicts)

  // Stopped gracefully under load: nothing is sent twice.
  const repeatedBefore = found.repeated
  over = false
  const again = flow(database, account, journal, plan.rate, () => over)
  await sleep(1_000)
  await senders[0]!.stop()
  await sleep(1_000)
  over = true
  await again
  await drained(database)
  const graceful = await checkDeliveries(url, journal.read(), receiver, secrets)
  verdicts.push(none('P13', 'sent twice by a graceful stop', graceful.repeated - repeatedBefore))

  verdicts.push(
    ...(plan.backlog > 0 ? await behindBacklog(database, account, receiver, senders[1]!, plan.backlog) : []),
  )
  await Promise.all(senders.map(sender => (sender.process.exitCode === null ? sender.kill() : undefined)))
  await database.close()
  await stopPostgres(postgres)
  await receiver.close()
  authority.discard()
  journal.close()
  faults.close()
  const failed = verdicts.some(({ held }) => !held)
  if (!failed) {
    // Run as root, the files of PostgreSQL lie where its own user can reach them.
    const files = realpathSync(join(dataDir, 'postgres'))
    rmSync(folder, { recursive: true, force: true })
    rmSync(files, { recursive: true, force: true })
  }
  return {
    plan,
    verdicts,
    examples: [...died, ...found.examples, ...(failed ? [`journals: ${folder}`] : [])],
  }
}

/** The faults beside kills and stops: a tenth as many of each as there are kills, and at least one. */
function more({ kills }: WebhooksPlan): string[] {
  const some = Math.max(1, Math.round(kills / 10))
  return ['freeze', 'block', 'backends'].flatMap(fault => Array<string>(some).fill(fault))
}

function shuffled<T>(items: T[], next: () => number): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1))
    ;[items[i], items[j]] = [items[j]!, items[i]!]
  }
  return items
}

/** Endpoints of all moods; their secrets by path. */
async function furnish(
  database: Database,
  account: AccountId,
  receiver: Receiver,
  next: () => number,
): Promise<Map<string, string>> {
  const secrets = new Map<string, string>()
  const add = async (path: string, events: readonly ('booking.confirmed' | 'booking.failed')[]) => {
    const { secret } = await addEndpoint(database, account, receiver.url(path), {
      secret: `secret of ${path}`,
      events,
    })
    secrets.set(path, secret)
  }
  for (let i = 0; i < HEALTHY; i++) {
    await add(`/healthy${i}`, ['booking.confirmed'])
    receiver.behave(`/healthy${i}`, response => void setTimeout(() => response.end(), next() * 8))
  }
  for (let i = 0; i < FLAKY; i++) {
    await add(`/flaky${i}`, ['booking.confirmed'])
    receiver.behave(`/flaky${i}`, response => void response.writeHead(next() < 0.3 ? 503 : 200).end())
  }
  await add('/hanging', ['booking.failed'])
  receiver.behave('/hanging', never)
  await add('/refusing', ['booking.failed'])
  receiver.behave('/refusing', response => void response.writeHead(500).end())
  return secrets
}

/** Publishes at a rate, one event a transaction; notes what is known to be committed. */
async function flow(
  database: Database,
  account: AccountId,
  journal: { note(entry: Published): void },
  rate: number,
  over: () => boolean,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const startedAt = performance.now()
  for (let n = 0; !over(); n++) {
    await sleep(Math.max(0, startedAt + (n * 1000) / rate - performance.now()))
    if (running.size > 200) await Promise.race(running)
    const booking = newId('bkg')
    // What fails, or whose end is unknown, is not noted: it may be there or not, and is judged as the database has it.
    const one: Promise<void> = database
      .transaction(tx =>
        publish(tx, changeOf(account, booking), n < HANGING ? 'booking.failed' : 'booking.confirmed'),
      )
      .then(
        () => journal.note({ booking }),
        () => sleep(50).then(() => {}),
      )
      .finally(() => running.delete(one))
    running.add(one)
  }
  await Promise.all(running)
}

async function restarted(order: SenderOrder, skewMs: number): Promise<SenderProcess> {
  const preload = `data:text/javascript,const%20now=Date.now;Date.now=()=>now()+(${skewMs})`
  for (;;) {
    try {
      return await startSenderProcess(order, skewMs === 0 ? {} : { NODE_OPTIONS: `--import=${preload}` })
    } catch {
      // The database is down as well.
      await sleep(200)
    }
  }
}

async function cutBackends(database: Database): Promise<void> {
  await database
    .query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    )
    .catch(() => {})
}

async function startPostgres(dataDir: string): Promise<ChildProcess> {
  for (;;) {
    const child = spawn(process.execPath, [CHILD, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = await Promise.race([once(child.stdout!, 'data'), once(child, 'exit').then(() => ['gone'])])
    if (String(said).startsWith('ready')) return child
    await sleep(100)
  }
}

/** `pg_ctl -m immediate` is a SIGQUIT to the postmaster: what was not on disk is gone. Whoever started it starts it again. */
async function crashPostgres(dataDir: string): Promise<void> {
  const running = embeddedPostgres(dataDir)
  if (running === undefined) return
  process.kill(running.pid, 'SIGQUIT')
  while ((embeddedPostgres(dataDir)?.pid ?? running.pid) === running.pid) await sleep(20)
}

async function stopPostgres(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}

/** Waits until nothing is queued; how long that took. */
async function drained(database: Database): Promise<number> {
  const at = performance.now()
  while (performance.now() - at < CALM_WITHIN_MS) {
    const [row] = await database
      .query<{ n: number }>('select count(*)::int as n from delivery')
      .catch(() => [])
    if (row?.n === 0) break
    await sleep(100)
  }
  return performance.now() - at
}

/** A million rows behind one endpoint: first it is dead, then it is back. What the others notice of it. */
async function behindBacklog(
  database: Database,
  account: AccountId,
  receiver: Receiver,
  sender: SenderProcess,
  rows: number,
): Promise<Verdict[]> {
  const { seq } = await addEndpoint(database, account, receiver.url('/backlog'), {
    events: ['booking.updated'],
  })
  await addEndpoint(database, account, receiver.url('/beside'), { events: ['booking.cancelled'] })
  receiver.behave('/backlog', never)
  const latencies = async (count: number) => {
    const waits: number[] = []
    for (let i = 0; i < count; i++) {
      const before = receiver.of('/beside').length
      await database.transaction(tx => publish(tx, changeOf(account, newId('bkg')), 'booking.cancelled'))
      const at = performance.now()
      while (receiver.of('/beside').length === before && performance.now() - at < 10_000) await sleep(1)
      waits.push(performance.now() - at)
      await sleep(5)
    }
    waits.sort((a, b) => a - b)
    return { p50: waits[Math.floor(count / 2)]!, p99: waits[Math.floor(count * 0.99)]! }
  }
  const rssMiB = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${sender.process.pid}/status`, 'utf8'))![1]) / 1024
  const alone = await latencies(200)
  for (let done = 0; done < rows; done += 50_000) {
    await database.query(
      `with made as (
         insert into event (id, account_id, mode, type, body, owed)
         select 'evt_' || $1 || '_' || ($2 + i), $3, 'live', 'booking.updated', convert_to('{"event":"booking.updated"}', 'UTF8'), 1
           from generate_series(1, $4::int) i returning seq, created_at)
       insert into delivery (endpoint, event, event_at) select $5, seq, created_at from made`,
      ['backlog', done, account, Math.min(50_000, rows - done), seq],
    )
  }
  const dead = await latencies(200)
  // What hangs ends with its deadline; from the first answer on it is back.
  let answered = 0
  receiver.behave('/backlog', response => {
    answered++
    response.end()
  })
  while (answered < 100) await sleep(10)
  const before = answered
  const at = performance.now()
  const back = await latencies(200)
  const perSecond = ((answered - before) / (performance.now() - at)) * 1000
  const rss = rssMiB()
  const [lane] = await database.query<{ width: number }>('select width from lane where endpoint = $1', [seq])
  const ms = (value: number) => value.toFixed(1)
  return [
    told('G7', `rows behind the dead endpoint`, rows),
    told('G7', 'others: p50 / p99 ms without it', `${ms(alone.p50)} / ${ms(alone.p99)}`),
    {
      id: 'G7',
      what: 'others: p50 / p99 ms beside it, dead',
      value: `${ms(dead.p50)} / ${ms(dead.p99)}`,
      wanted: 'p99 below 100',
      held: dead.p99 < 100,
    },
    told('G7', 'others: p50 / p99 ms beside it, back', `${ms(back.p50)} / ${ms(back.p99)}`),
    told('G7', 'rows a second when it is back', Math.round(perSecond)),
    {
      id: 'width',
      what: 'its width when it is back',
      value: lane!.width,
      wanted: '8',
      held: lane!.width === 8,
    },
    {
      id: 'most',
      what: 'most at once on it',
      value: receiver.most('/backlog'),
      wanted: 'at most 8',
      held: receiver.most('/backlog') <= 8,
    },
    { id: 'rss', what: 'MiB of the sender', value: Math.round(rss), wanted: 'at most 300', held: rss <= 300 },
  ]
}
