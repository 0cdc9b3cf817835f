/** G1: what is queued durably, delivered and settled, against the same POSTs without a queue. */
import { type Child, monotonic, startChild } from './child.ts'
import type { RawEvent } from './raw.ts'
import type { Count } from './receiver.ts'
import { clear, makeEvents, type OwedEvent, owe, type Scheme, type Stage, settled } from './stage.ts'
import { between, counters, type Usage, usage } from './usage.ts'

const RAW_AT_ONCE = 64
const WITHIN_MS = 60_000
const DROPPED_WITHIN_MS = 1_000

/** Deliveries a second of both sides, and what the engine's took. */
export type Pair = { engine: number; raw: number; usage: Usage }
export type Drains = { pairs: readonly Pair[]; deliveries: number; commitsEach: number; deadEach: number }

/** Drains and raw runs of the same bytes, in turns, over connections that both have open. */
export async function measureDrains(
  stage: Stage,
  scheme: Scheme,
  pairs: number,
  deliveries: number,
): Promise<Drains> {
  await clear(stage)
  await stage.aim(scheme)
  const from = await counters(stage)
  const sender = await stage.startSender(scheme)
  const raw = startChild(new URL('raw.ts', import.meta.url))
  await raw.ask('open', { authority: stage.authority.file, secret: stage.secret })
  const found: Pair[] = []
  try {
    const warmUp = makeEvents(deliveries / 2)
    await drain(stage, sender, warmUp)
    await sendRaw(stage, raw, warmUp, scheme)
    for (let i = 0; i < pairs; i++) {
      const events = makeEvents(deliveries)
      const first = i % 2 === 1 ? await sendRaw(stage, raw, events, scheme) : undefined
      const engine = await drain(stage, sender, events)
      found.push({ ...engine, raw: first ?? (await sendRaw(stage, raw, events, scheme)) })
    }
    await prove(stage)
    // Connections report what they did at their end at the latest.
    await sender.ask('stop')
    const to = await counters(stage)
    const each = (name: keyof typeof to) => (to[name] - from[name]) / ((pairs + 0.5) * deliveries)
    return { pairs: found, deliveries, commitsEach: each('commits'), deadEach: each('dead') }
  } finally {
    await sender.kill()
    await raw.kill()
  }
}

/**
 * From the commit of all that is owed to the moment when nothing is any more.
 * @param first the endpoint, by its place, from which on these events are owed: only those are waited for
 * @param withinMs after which what was received counts, and the rest is dropped
 * @throws Error when there are more receipts than deliveries, or fewer and no `withinMs` was given
 */
export async function drain(
  stage: Stage,
  sender: Child,
  events: readonly OwedEvent[],
  first = 0,
  withinMs?: number,
): Promise<{ engine: number; usage: Usage }> {
  const deliveries = count(events)
  await stage.receiver.ask('reset', { note: false })
  await stage.database.query('vacuum delivery')
  await owe(stage, events)
  const startedAt = monotonic()
  const from = await usage(stage, sender)
  await sender.ask(
    'due',
    stage.endpoints.slice(first).map(endpoint => endpoint.seq),
  )
  const { receipts } = await stage.receiver.ask<Count>('expect', {
    number: deliveries,
    withinMs: withinMs ?? WITHIN_MS,
  })
  if (receipts > deliveries || (receipts < deliveries && withinMs === undefined))
    throw new Error(`${receipts} receipts of ${deliveries} deliveries`)
  if (receipts === deliveries) await settled(stage, first)
  const seconds = (monotonic() - startedAt) / 1000
  if (receipts < deliveries) await drop(stage, first)
  return { engine: receipts / seconds, usage: between(from, await usage(stage, sender)) }
}

/** Drops what these endpoints are still owed, but for what is being settled; that and what is on the wire has a moment to come in. */
async function drop({ database, endpoints }: Stage, first: number): Promise<void> {
  await database.query(
    `delete from delivery d using (
       select endpoint, event from delivery where endpoint = any($1::int[]) for update skip locked) free
      where d.endpoint = free.endpoint and d.event = free.event`,
    [endpoints.slice(first).map(endpoint => endpoint.seq)],
  )
  await new Promise(resolve => setTimeout(resolve, DROPPED_WITHIN_MS))
}

async function sendRaw(
  stage: Stage,
  raw: Child,
  events: readonly OwedEvent[],
  scheme: Scheme,
): Promise<number> {
  await stage.receiver.ask('reset', { note: false })
  const order: RawEvent[] = events.map(({ id, body, endpoints }) => ({
    id,
    body,
    urls: endpoints.map(endpoint => stage.urlOf(endpoint, scheme)),
  }))
  const ms = await raw.ask<number>('send', { events: order, atOnce: RAW_AT_ONCE })
  return count(events) / (ms / 1000)
}

const count = (events: readonly OwedEvent[]) => events.reduce((sum, event) => sum + event.endpoints.length, 0)

/** @throws Error unless all that was owed has ended, each delivery once */
async function prove({ database }: Stage): Promise<void> {
  const [row] = await database.query<{ owed: number; ended: number; tried: number }>(
    `select (select sum(owed) from event) as owed, count(*) filter (where final) as ended, count(*) as tried from attempt`,
  )
  const { owed, ended, tried } = row!
  if (Number(owed) !== Number(ended) || Number(ended) !== Number(tried))
    throw new Error(`owed ${owed}, ended ${ended}, in ${tried} attempts`)
}
