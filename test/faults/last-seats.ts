/** The last-seat duel: many partners book one flight of ten seats at the same moment, on a new date each round. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bookBody, bookingOf, connectClient, type Outcome, offersOf } from '../support/client.ts'
import { random } from '../support/random.ts'
import { startServer } from '../support/server.ts'
import { dayAhead, openShop } from '../support/small-network.ts'
import { checkBooks, withConnection } from './checker.ts'
import { embeddedPostgres } from './embedded.ts'
import { none, type Report, told } from './report.ts'

export type LastSeatsPlan = { seed: number; rounds: number; clients: number }

const SEATS = 10
const FLIGHT = 1
/** Dates of one flight; with more rounds than dates, a second flight's follow. */
const DATES = 350
const OPEN_TRIES = 40

type Duel = { round: number; departDate: string; party: number; outcome: Outcome; unknowns: number }

/** Runs the duels. In even rounds everybody travels alone, in odd ones parties are 1 to 3. */
export async function lastSeats(plan: LastSeatsPlan): Promise<Report> {
  if (plan.rounds > DATES) throw new Error(`--rounds: give at most ${DATES}, a date each`)
  const draw = random(plan.seed)
  const folder = mkdtempSync(join(tmpdir(), 'airside-last-seats-'))
  const dataDir = join(folder, 'data')
  const env = {
    AIRSIDE_DATA_DIR: dataDir,
    AIRSIDE_REGIONS: 'intl',
    AIRSIDE_PORT: '0',
    AIRSIDE_THREADS: '2',
    AIRSIDE_LOG: 'error',
    AIRSIDE_LIMITS: 'search.enterprise=1000000/60s',
  }
  const { live } = await openShop(env, { seats: SEATS, flights: [FLIGHT] })
  const server = startServer(env)
  const client = connectClient({ baseUrl: await server.ready(), key: live })
  const startedAt = performance.now()
  const duels: Duel[] = []
  try {
    for (let round = 0; round < plan.rounds; round++) {
      const departDate = dayAhead(2 + round)
      const parties = Array.from({ length: plan.clients }, () => (round % 2 === 0 ? 1 : draw.whole(1, 3)))
      const offers = await Promise.all(
        parties.map(
          async passengers =>
            offersOf(await client.search({ origin: 'SIN', destination: 'HKG', departDate, passengers }))[0]!,
        ),
      )
      const bodies = offers.map((offer, n) =>
        bookBody(offer.offerId, `L${String(round).padStart(4, '0')}P${n}N`, parties[n]!),
      )
      duels.push(
        ...(await Promise.all(
          bodies.map(async (body, n): Promise<Duel> => {
            let outcome = await client.book(body)
            let unknowns = 0
            while (outcome.kind === 'unknown' && unknowns++ < OPEN_TRIES) {
              await sleep(20 + Math.random() * 100)
              outcome = await client.book(body)
            }
            return { round, departDate, party: parties[n]!, outcome, unknowns }
          }),
        )),
      )
    }
    const seconds = (performance.now() - startedAt) / 1000
    const url = embeddedPostgres(dataDir)!.url
    const rows = await withConnection(url, query =>
      query<{ id: string; status: string; passengers: number }>('select id, status, passengers from booking'),
    )
    const books = await checkBooks(url)
    const byId = new Map(rows.map(row => [row.id, row]))
    const confirmed = duels.filter(
      ({ outcome }) => outcome.kind === 'ok' && bookingOf(outcome).bookingStatus === 'confirmed',
    )
    const lost = confirmed.filter(({ outcome, party }) => {
      const row = outcome.kind === 'ok' ? byId.get(bookingOf(outcome).bookingId) : undefined
      return row?.status !== 'confirmed' || row.passengers !== party
    })
    const sold = Map.groupBy(confirmed, duel => duel.round)
    const seatsOf = (round: number) => (sold.get(round) ?? []).reduce((sum, { party }) => sum + party, 0)
    const rounds = Array.from({ length: plan.rounds }, (_, round) => round)
    const refusals = duels.flatMap(({ outcome }) => (outcome.kind === 'refused' ? [outcome.code] : []))
    // Nobody who would have fitted is sent away: the smallest party refused is larger than what is left.
    const unfair = rounds.filter(round => {
      const refused = duels
        .filter(duel => duel.round === round && duel.outcome.kind === 'refused')
        .map(({ party }) => party)
      return Math.min(...refused) <= SEATS - seatsOf(round)
    })
    const report: Report = {
      plan: { campaign: 'last-seats', ...plan, seats: SEATS },
      verdicts: [
        told('lastSeats.calls', 'bookings tried', duels.length),
        told('lastSeats.confirmed', 'confirmed', confirmed.length),
        told('lastSeats.refused', 'refused', refusals.length),
        told(
          'lastSeats.retried',
          'tried again after a 503',
          duels.reduce((sum, { unknowns }) => sum + unknowns, 0),
        ),
        told('lastSeats.rate', 'book calls a second', Math.round(duels.length / seconds)),
        none(
          'lastSeats.oversold',
          'rounds with more than ten seats sold',
          rounds.filter(round => seatsOf(round) > SEATS).length,
        ),
        none('lastSeats.lost', 'confirmed without its row', lost.length),
        none('lastSeats.unanswered', 'rows that nobody was told of', rows.length - confirmed.length),
        none(
          'lastSeats.unknown',
          'never answered',
          duels.filter(({ outcome }) => outcome.kind === 'unknown').length,
        ),
        none(
          'lastSeats.otherwise',
          'refused for another reason than being gone',
          refusals.filter(code => code !== 'unavailable').length,
        ),
        none('lastSeats.unsold', 'rounds where somebody was sent away who fitted', unfair.length),
        none('lastSeats.books', 'findings in the database', books.findings.length),
      ],
      examples: [
        ...books.findings.map(({ rule, what }) => `${rule}: ${what}`),
        ...unfair.map(round => `round ${round}: ${seatsOf(round)} sold`),
      ],
    }
    return report
  } finally {
    client.close()
    server.process.kill('SIGTERM')
    await server.ended
    rmSync(folder, { recursive: true, force: true })
  }
}
