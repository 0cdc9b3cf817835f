/** The kill campaign: partners book while the server, or the PostgreSQL under it, is killed again and again. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  bookBody,
  bookingOf,
  type Client,
  connectClient,
  type Offer,
  type Outcome,
  offersOf,
} from '../support/client.ts'
import { type Random, random } from '../support/random.ts'
import { freePort, type ServerProcess, startServer } from '../support/server.ts'
import { dayAhead, openShop } from '../support/small-network.ts'
import { checkBooks } from './checker.ts'
import { embeddedPostgres } from './embedded.ts'
import { checkJournal, type Entry } from './journal-check.ts'
import { none, openJournal, type Report, told, type Verdict } from './report.ts'

export type KillsPlan = { seed: number; minutes: number; bookings: number; clients: number }

/** Flights fill up on the way, so that some are refused. */
const SEATS = 60
const DAYS = 11
const FAULT_EVERY_MS = [2_000, 5_000] as const
const POSTMASTER_SHARE = 0.25
const KEYED_SHARE = 0.5
const RESENT_SHARE = 0.1
const GIVES_UP_SHARE = 0.05
/** Books an offer of a while ago, whose seats others may have by now. */
const OLD_OFFER_SHARE = 0.15
const OLD_OFFERS = 10
/** Before most faults all partners are woken, so that they are in the midst of booking when it strikes. */
const SURPRISE_SHARE = 0.8
const SURPRISE_AFTER_MS = [5, 60] as const
const RETRY_AFTER_MS = [50, 400] as const
/** After the last fault: a pending booking is looked at after ten seconds, and settled right then. */
const CALM_MS = 20_000
const READY_WITHIN_MS = 5_000

/** Runs the campaign. */
export async function kills(plan: KillsPlan): Promise<Report> {
  const draw = random(plan.seed)
  const folder = mkdtempSync(join(tmpdir(), 'airside-kills-'))
  const dataDir = join(folder, 'data')
  const port = await freePort()
  const env = {
    AIRSIDE_DATA_DIR: dataDir,
    AIRSIDE_REGIONS: 'intl',
    AIRSIDE_PORT: String(port),
    AIRSIDE_THREADS: '2',
    AIRSIDE_LOG: 'info',
    AIRSIDE_LIMITS: 'search.enterprise=1000000/60s',
  }
  const { live } = await openShop(env, { seats: SEATS })
  const baseUrl = `http://127.0.0.1:${port}/v1`
  const journal = openJournal<Entry>(join(folder, 'journal.jsonl'))
  const client = connectClient({ baseUrl, key: live, patienceMs: 10_000 })
  const logs: string[] = []
  const readyMs: number[] = []
  let server = startServer(env)
  await server.ready()

  const until = performance.now() + plan.minutes * 60_000
  let acked = 0
  const over = () => performance.now() > until || acked >= plan.bookings
  // Spread over the time there is, so that the bookings meet many faults.
  const pauseMs = (plan.minutes * 60_000 * 0.5 * plan.clients) / plan.bookings
  let wake = Promise.withResolvers<void>()
  const pause = (share: number) => Promise.race([wake.promise, sleep(share * 2 * pauseMs)])
  const partners = Array.from({ length: plan.clients }, (_, n) =>
    partner({
      client,
      journal,
      draw: random(plan.seed * 1000 + n),
      name: `P${n}`,
      over,
      pause,
      acked: () => acked++,
    }),
  )
  const faults = { server: 0, postmaster: 0 }
  const deaths: string[] = []
  while (!over()) {
    await sleep(draw.whole(...FAULT_EVERY_MS))
    if (over()) break
    if (server.process.exitCode !== null) deaths.push(server.said().slice(-2000))
    const postgres = embeddedPostgres(dataDir)
    if (draw.chance(SURPRISE_SHARE)) {
      wake.resolve()
      wake = Promise.withResolvers()
      await sleep(draw.whole(...SURPRISE_AFTER_MS))
    }
    const startedAt = performance.now()
    if (postgres !== undefined && draw.chance(POSTMASTER_SHARE)) {
      journal.note({ what: 'fault', fault: 'postmaster killed' })
      process.kill(postgres.pid, 'SIGKILL')
      faults.postmaster++
      await sleep(20)
    } else {
      journal.note({ what: 'fault', fault: 'server killed' })
      await server.kill()
      logs.push(server.said())
      faults.server++
      server = startServer(env)
    }
    await untilReady(baseUrl)
    readyMs.push(performance.now() - startedAt)
  }
  await Promise.all(partners)
  await untilReady(baseUrl)
  const listed = await settled(client, dataDir)
  // Everything is read once more, as a partner would.
  for (const booking of listed) {
    const read = await client.retrieve(booking.bookingId)
    if (read.kind === 'ok')
      journal.note({
        what: 'read',
        mark: markOf(booking.confirmationEmail),
        status: bookingOf(read).bookingStatus,
      })
  }
  const { figures, findings } = checkJournal(journal.read(), listed)
  const books = await checkBooks(embeddedPostgres(dataDir)!.url)
  findings.push(...books.findings)
  const exit = await stop(server)
  logs.push(server.said())
  client.close()
  journal.close()

  const all = logs.join('\n')
  const slow = readyMs.filter(ms => ms > READY_WITHIN_MS).length
  const verdicts: Verdict[] = [
    told('kills.acked', 'bookings answered', figures.acked),
    told('kills.refused', 'bookings refused', figures.refused),
    told('kills.unknown', 'calls with unknown outcome', figures.unknowns),
    told('kills.givenUp', 'given up after an unknown outcome', figures.givenUp),
    told('kills.unknownYetBooked', 'of these booked nevertheless', figures.unknownYetBooked),
    told('kills.replays', 'calls sent again after success', figures.replays),
    told('kills.server', 'server killed', faults.server),
    told('kills.postmaster', 'PostgreSQL killed', faults.postmaster),
    told('kills.readyP50', 'ready again, median ms', Math.round(quantile(readyMs, 0.5))),
    told('kills.readyMax', 'ready again, longest ms', Math.round(Math.max(0, ...readyMs))),
    told('kills.seatsSold', 'seats sold', books.seatsSold),
    ...['R1', 'R2', 'R3', 'R4', 'R5', 'R6', 'R7', 'R10'].map(rule =>
      none(
        `kills.${rule}`,
        RULES[rule as keyof typeof RULES],
        findings.filter(finding => finding.rule.startsWith(`${rule} `)).length,
      ),
    ),
    none(
      'kills.other',
      'other findings in the database',
      findings.filter(finding => !/^R\d/.test(finding.rule)).length,
    ),
    none('kills.pending', 'bookings still pending', books.statuses.pending ?? 0),
    none('kills.slow', `starts slower than ${READY_WITHIN_MS} ms`, slow),
    none(
      'kills.R12',
      'R12 passenger data in the log',
      all.match(/X[0-9]{4}P\d+N|Byron|@example\.com/g)?.length ?? 0,
    ),
    none(
      'kills.R13',
      'R13 corruption in the log',
      all.match(/PANIC|corrupt|invalid page|checksum/gi)?.length ?? 0,
    ),
    none('kills.R14', 'R14 ends that nobody asked for', deaths.length + (exit === 0 ? 0 : 1)),
  ]
  const examples = [...findings.map(({ rule, what }) => `${rule}: ${what}`), ...deaths]
  if (verdicts.every(({ held }) => held)) rmSync(folder, { recursive: true, force: true })
  else examples.push(`journal and data are kept in ${folder}`)
  return { plan: { campaign: 'kills', ...plan, seats: SEATS, days: DAYS }, verdicts, examples }
}

const RULES = {
  R1: 'R1 answered bookings lost or changed',
  R2: 'R2 refused bookings that exist',
  R3: 'R3 double or unasked bookings',
  R4: 'R4 differing replays',
  R5: 'R5 seats that do not add up',
  R6: 'R6 ledger that does not add up',
  R7: 'R7 versions with gaps',
  R10: 'R10 steps back in status',
}

type Partner = {
  client: Client
  journal: { note(entry: Entry): void }
  draw: Random
  name: string
  over(): boolean
  /** Rests for a share of the usual pause, or until woken. */
  pause(share: number): Promise<void>
  acked(): void
}

/** One partner: searches, books, tries again after every unknown outcome, sends some again after success, reads. */
async function partner({ client, journal, draw, name, over, pause, acked }: Partner): Promise<void> {
  const kept: { offer: Offer; party: number }[] = []
  for (let n = 0; !over(); n++) {
    await pause(draw.next())
    let party = draw.whole(1, 3)
    const there = draw.chance(0.7)
    const departDate = dayAhead(10 + draw.whole(0, DAYS))
    const query = {
      origin: there ? 'SIN' : 'HKG',
      destination: there ? 'HKG' : 'SIN',
      departDate,
      passengers: party,
    }
    const offers = offersOf(await client.search(query))
    if (offers.length === 0) continue
    let offer = draw.of(offers)
    kept.push({ offer: draw.of(offers), party })
    if (kept.length > OLD_OFFERS && draw.chance(OLD_OFFER_SHARE)) ({ offer, party } = kept.shift()!)
    const mark = `X${String(n).padStart(4, '0')}${name}N`
    const key = draw.chance(KEYED_SHARE) ? `key-${mark}` : undefined
    const body = bookBody(offer.offerId, mark, party)
    const givesUp = draw.chance(GIVES_UP_SHARE)
    journal.note({
      what: 'send',
      mark,
      key,
      party,
      price: `${offer.totalPrice.amount} ${offer.totalPrice.currency}`,
    })
    const call = async (resent: boolean) => {
      const outcome = await client.book(body, key)
      journal.note(answerOf(mark, outcome, resent))
      return outcome
    }
    let outcome = await call(false)
    while (isOpen(outcome) && !givesUp) {
      await sleep(draw.whole(...RETRY_AFTER_MS))
      outcome = await call(false)
    }
    if (outcome.kind !== 'ok') continue
    acked()
    const { bookingId } = bookingOf(outcome)
    if (draw.chance(RESENT_SHARE)) {
      let again = await call(true)
      while (isOpen(again)) {
        await sleep(draw.whole(...RETRY_AFTER_MS))
        again = await call(true)
      }
    }
    const read = await client.retrieve(bookingId)
    if (read.kind === 'ok') journal.note({ what: 'read', mark, status: bookingOf(read).bookingStatus })
    else if (read.kind === 'refused') journal.note({ what: 'read', mark, status: read.code })
  }
}

/** Whether the partner still does not know. */
function isOpen(outcome: Outcome): boolean {
  return outcome.kind === 'unknown' || (outcome.kind === 'refused' && outcome.code === 'conflict')
}

function answerOf(mark: string, outcome: Outcome, resent: boolean): Entry {
  if (outcome.kind === 'unknown') return { what: 'answer', mark, kind: 'unknown', why: outcome.why }
  if (outcome.kind === 'refused') return { what: 'answer', mark, kind: 'refused', code: outcome.code }
  const { bookingId, bookingStatus, pnr, totalPrice } = bookingOf(outcome)
  return {
    what: 'answer',
    mark,
    kind: 'ok',
    bookingId,
    status: bookingStatus,
    pnr,
    price: `${totalPrice.amount} ${totalPrice.currency}`,
    digest: createHash('sha256').update(outcome.body).digest('base64url'),
    resent,
  }
}

async function untilReady(baseUrl: string): Promise<void> {
  const until = performance.now() + 60_000
  for (;;) {
    const status = await fetch(new URL('/readyz', baseUrl), { signal: AbortSignal.timeout(2_000) }).then(
      response => response.arrayBuffer().then(() => response.status),
      () => 0,
    )
    if (status === 200) return
    if (performance.now() > until) throw new Error('The server did not become ready within a minute')
    await sleep(20)
  }
}

/** Waits until nothing is pending, at most the calm, and lists what there is. */
async function settled(client: Client, dataDir: string) {
  const until = performance.now() + CALM_MS
  while (performance.now() < until) {
    const url = embeddedPostgres(dataDir)?.url
    const pending =
      url === undefined ? 1 : ((await checkBooks(url).catch(() => undefined))?.statuses.pending ?? 0)
    if (pending === 0) break
    await sleep(500)
  }
  return client.bookings()
}

async function stop(server: ServerProcess): Promise<number | null> {
  server.process.kill('SIGTERM')
  const timer = setTimeout(() => server.process.kill('SIGKILL'), 15_000)
  const { code } = await server.ended
  clearTimeout(timer)
  return code
}

const markOf = (email: string) => email.replace('@example.com', '').toUpperCase()

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(q * (sorted.length - 1))] ?? 0
}
