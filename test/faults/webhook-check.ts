/**
 * What must be true of all deliveries when nothing runs: judged by the receiver's memory, the publisher's journal and the database, in SQL of its
 * own and with no code of the service.
 */
import { createHmac } from 'node:crypto'
import pg from 'pg'
import { Webhook } from 'standardwebhooks'
import type { Receipt, Receiver } from '../support/receiver.ts'
import { none, told, type Verdict } from './report.ts'
import type { Published } from './webhooks.ts'

const ATTEMPTS = 4

type Pair = {
  id: string
  path: string
  owed: boolean
  live: boolean
  delivered: number
  final: number
  attempts: number
}

/** Checks every pair of event and endpoint. `repeated`: receipts beyond the first that no failed attempt explains. */
export async function checkDeliveries(
  url: string,
  published: readonly Published[],
  receiver: Receiver,
  secrets: ReadonlyMap<string, string>,
): Promise<{ verdicts: Verdict[]; examples: string[]; repeated: number }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // Tables that grew in a minute have no statistics yet, and a nested loop over them takes that long again.
  await client.query('analyze event, endpoint, delivery, attempt')
  await client.query('set enable_nestloop = off')
  const { rows: pairs } = await client.query<Pair>(
    `with a as materialized (
       select endpoint, event, count(*) filter (where final and reason is null) as delivered, count(*) filter (where final) as final,
              count(*) filter (where not stale) as attempts
         from attempt where series = 0 group by 1, 2)
     select e.id, regexp_replace(w.url, '^https://[^/]+', '') as path, true as owed, d.event is not null as live,
            coalesce(a.delivered, 0)::int as delivered, coalesce(a.final, 0)::int as final, coalesce(a.attempts, 0)::int as attempts
       from event e join endpoint w on w.account_id = e.account_id and w.mode = e.mode and e.type = any(w.events) and w.created_at < e.created_at
       left join delivery d on d.endpoint = w.seq and d.event = e.seq
       left join a on a.endpoint = w.seq and a.event = e.seq
      where e.booking_id is not null`,
  )
  const { rows: bookings } = await client.query<{ booking_id: string }>(
    'select booking_id from event where booking_id is not null',
  )
  const { rows: sums } = await client.query<{ owed: string }>(
    'select coalesce(sum(owed), 0) as owed from event where booking_id is not null',
  )
  const { rows: stale } = await client.query<{ n: string }>('select count(*) as n from attempt where stale')
  await client.end()

  const receipts = Map.groupBy(
    receiver.receipts,
    receipt => `${receipt.path} ${receipt.headers['webhook-id']}`,
  )
  const known = new Set(bookings.map(row => row.booking_id))
  const keys = new Set(pairs.map(pair => `${pair.path} ${pair.id}`))
  const lostPairs = pairs.filter(pair => !pair.live && pair.final === 0)
  const untrue = pairs.filter(pair => pair.delivered > 0 && !receipts.has(`${pair.path} ${pair.id}`))
  const twice = pairs.filter(pair => pair.final > 1 || (pair.final > 0 && pair.live))
  const tooMany = pairs.filter(pair => pair.attempts > ATTEMPTS)
  const early = pairs.filter(pair => pair.final === 1 && pair.delivered === 0 && pair.attempts !== ATTEMPTS)
  const phantoms = [...receipts.keys()].filter(key => secrets.has(key.split(' ')[0]!) && !keys.has(key))
  const lostBookings = published.filter(({ booking }) => !known.has(booking))
  const changed = [...receipts.values()].filter(all =>
    all.some(receipt => !receipt.body.equals(all[0]!.body)),
  )
  const bad = receiver.receipts.filter(
    receipt => secrets.has(receipt.path) && !verifies(receipt, secrets.get(receipt.path)!),
  )
  let repeated = 0
  for (const pair of pairs)
    repeated += Math.max(
      0,
      (receipts.get(`${pair.path} ${pair.id}`)?.length ?? 0) - Math.max(1, pair.attempts),
    )
  const owed = Number(sums[0]!.owed)
  const show = (name: string, some: readonly { id: string; path: string }[]) =>
    some.slice(0, 3).map(pair => `${name}: ${pair.id} ${pair.path}`)
  return {
    repeated,
    verdicts: [
      told('events', 'events', bookings.length),
      told('owed', 'deliveries owed', owed),
      told('delivered', 'delivered', pairs.filter(pair => pair.delivered > 0).length),
      told(
        'exhausted',
        'exhausted after four attempts',
        pairs.filter(pair => pair.final === 1 && pair.delivered === 0).length,
      ),
      told('stale', 'late results refused', Number(stale[0]!.n)),
      told('repeated', 'received again because of a fault', repeated),
      none('R7', 'acknowledged bookings without event', lostBookings.length),
      none(
        'R8',
        'owed, and neither delivered, exhausted nor queued',
        lostPairs.length + Math.abs(owed - pairs.length),
      ),
      none('R8', 'ended as delivered, never received', untrue.length),
      none('R8', 'ended twice', twice.length),
      none('R8', 'more than four attempts', tooMany.length),
      none('R8', 'exhausted before the fourth attempt', early.length),
      none('R8', 'bad signatures', bad.length),
      none('R8', 'events whose bytes changed', changed.length),
      none('R9', 'received, never owed', phantoms.length),
    ],
    examples: [
      ...show('lost', lostPairs),
      ...show('untrue', untrue),
      ...show('twice', twice),
      ...show('too many', tooMany),
      ...show('early', early),
    ],
  }
}

function verifies({ headers, body }: Receipt, secret: string): boolean {
  if (createHmac('sha256', secret).update(body).digest('hex') !== headers['x-airside-signature']) return false
  // The reference verifier refuses what is minutes old: it is given the time of the attempt.
  const seconds = Number(headers['webhook-timestamp'])
  const signed = new Webhook(Buffer.from(secret).toString('base64')).sign(
    headers['webhook-id']!,
    new Date(seconds * 1000),
    body.toString('utf8'),
  )
  return headers['webhook-signature'] === signed && Math.abs(seconds * 1000 - Date.now()) < 3_600_000
}
