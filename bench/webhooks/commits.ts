/** G5: what is left of the booking rate when every booking writes its event and two deliveries. */
import { EVENT_TYPES } from '../../src/webhook/event.ts'
import { runDriverPeer } from '../driver-peer.ts'
import { pgbenchVersion, runPgbench, scriptsOf } from '../pgbench.ts'
import type { RecordedBooking } from '../recorded-bookings.ts'
import { clear, type Stage } from './stage.ts'

const CLIENTS = 16
const PUBLISHES = /insert into event\b/

/** Bookings a second. */
export type CommitPair = { silent: number; told: number }

/**
 * The statements of whole bookings, as they were recorded and without the one that publishes, in turns; no sender runs.
 * @param accountId whose bookings they are; it gets two endpoints
 */
export async function measureCommits(
  stage: Stage,
  recorded: readonly RecordedBooking[],
  accountId: string,
  pairs: number,
  seconds: number,
): Promise<CommitPair[]> {
  await stage.database.query(
    `with made as (
       insert into endpoint (id, account_id, mode, url, events, secret, secret_given)
       select 'whk_commits' || i, $1, 'live', 'https://127.0.0.1/hook', $2, '\\x00', true from generate_series(1, 2) i returning seq)
     insert into lane (endpoint) select seq from made`,
    [accountId, EVENT_TYPES],
  )
  const unpublished = recorded.map(booking => ({
    ...booking,
    transactions: booking.transactions.map(transaction => ({
      ...transaction,
      statements: transaction.statements.filter(({ text }) => !PUBLISHES.test(text)),
    })),
  }))
  const rateOf = async (bookings: readonly RecordedBooking[]) => {
    await stage.database.query('checkpoint')
    return pgbenchVersion() === undefined
      ? runDriverPeer(stage.url, bookings, CLIENTS, seconds)
      : runPgbench(stage.url, scriptsOf(bookings), CLIENTS, seconds)
  }
  const found: CommitPair[] = []
  for (let i = 0; i < pairs; i++) {
    await clear(stage)
    const first = i % 2 === 1 ? await rateOf(recorded) : undefined
    const silent = await rateOf(unpublished)
    found.push({ silent, told: first ?? (await rateOf(recorded)) })
  }
  const [row] = await stage.database.query<{ n: number; owed: number }>(
    'select count(*) as n, coalesce(avg(owed), 0)::float8 as owed from event',
  )
  if (row!.n === 0 || row!.owed !== 2)
    throw new Error(`${row!.n} events, each owed to ${row!.owed} endpoints`)
  await stage.database.query(
    `with gone as (delete from endpoint where account_id = $1 returning seq) delete from lane using gone where endpoint = gone.seq`,
    [accountId],
  )
  await clear(stage)
  return found
}
