import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../src/db/database.ts'
import { dueLanes, readDue } from '../../src/webhook/delivery/store.ts'
import { audit } from '../../src/webhook/upkeep/upkeep.ts'
import { never, ok, type Receiver, startReceiver } from '../support/receiver.ts'
import { type Desk, openDesk, until } from './support.ts'

let desk: Desk
let receiver: Receiver

before(async () => {
  desk = await openDesk()
  receiver = await startReceiver(desk.authority.issue(['127.0.0.1']))
})
afterEach(() => desk.quiet())
after(async () => {
  await desk.close()
  await receiver.close()
})

/** Writes a backlog in one statement; the campaign does it with a million. */
async function backlog(endpoint: number, rows: number): Promise<void> {
  await desk.database.query(
    `with made as (
       insert into event (id, account_id, mode, type, body, owed)
       select 'evt_backlog' || $1::int || '_' || i, $2, 'live', 'booking.updated', convert_to('{"event":"booking.updated","n":' || i || '}', 'UTF8'), 1
         from generate_series(1, $3) i returning seq, created_at)
     insert into delivery (endpoint, event, event_at) select $1, seq, created_at from made`,
    [endpoint, desk.account, rows],
  )
}

test('a backlog behind an endpoint that comes back: its width grows, the others are as fast as before', async () => {
  const dead = await desk.endpoint(receiver.url('/dead'), { events: ['booking.updated'] })
  await desk.endpoint(receiver.url('/live'), { events: ['booking.confirmed'] })
  receiver.behave('/dead', never)
  await backlog(dead.seq, 20_000)
  await desk.engine({ deadlineMs: 300, retryMs: [60_000] })
  const latency = async (count: number) => {
    const waits: number[] = []
    for (let i = 0; i < count; i++) {
      const before = receiver.of('/live').length
      const at = performance.now()
      await desk.publish()
      await until('told', () => receiver.of('/live').length > before)
      waits.push(receiver.of('/live').at(-1)!.at - at)
      await sleep(5)
    }
    return waits.sort((a, b) => a - b)[Math.floor(count * 0.9)]!
  }
  const beside = await latency(60)
  assert.ok(receiver.most('/dead') <= 2, `${receiver.most('/dead')} at once`)
  assert.ok(beside < 100, `${beside} ms beside a dead endpoint`)
  receiver.behave('/dead', ok)
  await until('the width has grown', async () => {
    const [row] = await desk.database.query<{ width: number }>('select width from lane where endpoint = $1', [
      dead.seq,
    ])
    return row!.width === 8
  })
  const during = await latency(30)
  assert.ok(during < 250, `${during} ms beside a backlog`)
  await until('drained', async () => (await desk.live()) < 100, 40_000)
  assert.ok(receiver.most('/dead') <= 8)
  assert.equal(await audit(desk.database), 0)
})

test('looking for what is due costs as much beside a backlog as without it, on connections that never saw one before', async () => {
  const sender = connect({ ...desk.clone.options, poolMax: 1, byIndexOnly: true })
  const many = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      desk.endpoint(receiver.url(`/many${i}`), { events: ['booking.failed'] }),
    ),
  )
  const heavy = await desk.endpoint(receiver.url('/heavy'), { events: ['booking.updated'] })
  await desk.publish(2, 'booking.failed')
  const lanes = [...many, heavy].map(({ seq }) => ({ endpoint: seq, room: 32, unsettled: new Set<number>() }))
  const measure = async () => {
    const times: number[] = []
    for (let i = 0; i < 20; i++) {
      const at = performance.now()
      await dueLanes(sender, 0)
      await readDue(sender, lanes)
      times.push(performance.now() - at)
    }
    return times.sort((a, b) => a - b)[10]!
  }
  // By now its plans are made for tables that are all but empty.
  await desk.database.query('vacuum analyze delivery')
  const before = await measure()
  await backlog(heavy.seq, 200_000)
  assert.equal((await dueLanes(sender, 0)).length, many.length + 1)
  assert.equal((await readDue(sender, lanes)).length, many.length * 2 + 32)
  const beside = await measure()
  assert.ok(beside < before + 10, `${before} ms, then ${beside} ms`)
  await sender.close()
})
