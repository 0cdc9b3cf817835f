/** The same deliveries through job queues that others would take: in the same database, sent by the same code. */
import { existsSync } from 'node:fs'
import { type Child, monotonic, startChild } from './child.ts'
import type { Count } from './receiver.ts'
import { makeEvents, type Stage } from './stage.ts'

const PEERS = {
  'graphile-worker': 'select 1 from graphile_worker._private_jobs limit 1',
  'pg-boss': `select 1 from pgboss.job where name = 'deliver' and state < 'completed' limit 1`,
} as const
export type PeerName = keyof typeof PEERS
export const PEER_NAMES = Object.keys(PEERS) as PeerName[]

const AT_ONCE = 64
const WITHIN_MS = 60_000

/** Whether the peers' packages are here: they are installed by hand. */
export function peersInstalled(): boolean {
  return existsSync(new URL('../peers/node_modules/.package-lock.json', import.meta.url))
}

/** Deliveries a second by each peer, in turns, over TLS. The clock starts with the first receipt, in their favour: not all begin at once. */
export async function measurePeers(
  stage: Stage,
  rounds: number,
  deliveries: number,
): Promise<Map<PeerName, number[]>> {
  const found = new Map<PeerName, number[]>(PEER_NAMES.map(name => [name, []]))
  const children = new Map<PeerName, Child>()
  try {
    for (const name of PEER_NAMES) {
      const child = startChild(new URL(`../peers/${name}.ts`, import.meta.url))
      children.set(name, child)
      await child.ask('open', { url: stage.url, authority: stage.authority.file, secret: stage.secret })
      await drainPeer(stage, child, name, deliveries / 2)
    }
    for (let round = 0; round < rounds; round++)
      for (const name of round % 2 === 1 ? PEER_NAMES.toReversed() : PEER_NAMES)
        found.get(name)!.push(await drainPeer(stage, children.get(name)!, name, deliveries))
  } finally {
    for (const child of children.values()) await child.kill()
    await stage.database.query('drop schema if exists graphile_worker cascade')
    await stage.database.query('drop schema if exists pgboss cascade')
  }
  return found
}

async function drainPeer(stage: Stage, child: Child, name: PeerName, deliveries: number): Promise<number> {
  const jobs = makeEvents(deliveries).flatMap(({ id, body, endpoints }) =>
    endpoints.map(endpoint => ({ id, body: body.toString(), url: stage.urlOf(endpoint, 'https') })),
  )
  await child.ask('queue', jobs)
  await stage.database.query('checkpoint')
  await stage.receiver.ask('reset', { note: false })
  await child.ask('start', AT_ONCE)
  const expected = { number: deliveries, withinMs: WITHIN_MS }
  const { receipts, firstAt } = await stage.receiver.ask<Count>('expect', expected)
  if (receipts !== deliveries) throw new Error(`${name}: ${receipts} receipts of ${deliveries} deliveries`)
  while ((await stage.database.query(PEERS[name])).length > 0)
    await new Promise(resolve => setTimeout(resolve, 2))
  const seconds = (monotonic() - firstAt) / 1000
  await child.ask('stop')
  return deliveries / seconds
}
