import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../src/db/database.ts'
import { newId } from '../../src/id.ts'
import { closeEndpoint } from '../../src/webhook/close.ts'
import { publish } from '../../src/webhook/publish.ts'
import { endClosed } from '../../src/webhook/upkeep/upkeep.ts'
import { never, type Receiver, startReceiver, status } from '../support/receiver.ts'
import { changeOf, type Desk, openDesk, until, verify } from './support.ts'

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

/** Every event owed to an endpoint has arrived, or stands in the log as ended. */
async function oracle(endpoint: number, path: string): Promise<{ lost: number; duplicates: number }> {
  const owed = await desk.database.query<{ id: string }>(
    `select e.id from event e where exists (select from attempt a where a.event = e.seq and a.endpoint = $1)
        or exists (select from delivery d where d.event = e.seq and d.endpoint = $1)`,
    [endpoint],
  )
  const ended = new Set(
    (await desk.attempts(endpoint)).filter(attempt => attempt.final).map(attempt => attempt.id),
  )
  const arrived = receiver.of(path).map(receipt => receipt.headers['webhook-id']!)
  const lost = owed.filter(({ id }) => !arrived.includes(id) && !ended.has(id)).length
  return { lost, duplicates: arrived.length - new Set(arrived).size }
}

test('nothing is sent for a booking that was rolled back, and all for one that committed late', async () => {
  const endpoint = await desk.endpoint(receiver.url('/commit'))
  await desk.engine()
  const undone = newId('bkg')
  await assert.rejects(
    desk.database.transaction(async tx => {
      await publish(tx, changeOf(desk.account, undone), 'booking.confirmed')
      throw new Error('rolled back')
    }),
  )
  // Its number is drawn first, and it commits last.
  const late = newId('bkg')
  const hold = Promise.withResolvers<void>()
  const held = desk.database.transaction(async tx => {
    await publish(tx, changeOf(desk.account, late), 'booking.confirmed')
    await hold.promise
  })
  await sleep(50)
  await desk.publish(50)
  await until('the later ones', () => receiver.of('/commit').length === 50)
  await sleep(300)
  hold.resolve()
  await held
  await until('the late one', () => receiver.of('/commit').length === 51)
  const told = receiver
    .of('/commit')
    .map(receipt => (verify(receipt, endpoint.secret).data as { bookingId: string }).bookingId)
  assert.ok(told.includes(late) && !told.includes(undone))
  assert.equal(await desk.unaccounted(), 0)
})

test('many writers, each committing when it likes: as many arrive as were committed, once each', async () => {
  const endpoint = await desk.endpoint(receiver.url('/writers'))
  await desk.engine()
  const many = connect({ ...desk.clone.options, poolMax: 24 })
  const committed: string[] = []
  await Promise.all(
    Array.from({ length: 24 }, async (_, i) => {
      for (let n = 0; n < 15; n++) {
        const id = newId('bkg')
        await many
          .transaction(async tx => {
            await publish(tx, changeOf(desk.account, id), 'booking.updated')
            await sleep(Math.random() * 40)
            if ((i + n) % 7 === 0) throw new Error('rolled back')
          })
          .then(
            () => void committed.push(id),
            () => {},
          )
      }
    }),
  )
  await until('all', async () => (await desk.live(endpoint.seq)) === 0)
  const told = receiver
    .of('/writers')
    .map(receipt => (JSON.parse(receipt.body.toString()).data as { bookingId: string }).bookingId)
  assert.deepEqual(told.toSorted(), committed.toSorted())
  await many.close()
})

test('when nobody tells, the scan finds it within 300 ms; when another process tells, it is found at once', async () => {
  const endpoint = await desk.endpoint(receiver.url('/untold'))
  await desk.engine()
  await desk.publish()
  await until(
    'warm',
    async () => receiver.of('/untold').length === 1 && (await desk.live(endpoint.seq)) === 0,
  )
  const silent = connect({ ...desk.clone.options, poolMax: 1 })
  const waits: number[] = []
  for (let i = 0; i < 5; i++) {
    await sleep(Math.random() * 100)
    await silent.transaction(tx => publish(tx, changeOf(desk.account, newId('bkg')), 'booking.confirmed'))
    const at = performance.now()
    await until('found', () => receiver.of('/untold').length === 2 + i)
    waits.push(receiver.of('/untold').at(-1)!.at - at)
  }
  assert.ok(Math.max(...waits) < 350, waits.join())
  const { dueIn, notifier } = await import('../../src/webhook/wake.ts')
  const notices = notifier(silent)
  const telling = connect({
    ...desk.clone.options,
    poolMax: 1,
    committed: notes => notices.due(dueIn(notes)),
  })
  const told: number[] = []
  for (let i = 0; i < 9; i++) {
    await telling.transaction(tx => publish(tx, changeOf(desk.account, newId('bkg')), 'booking.confirmed'))
    const at = performance.now()
    await until('told', () => receiver.of('/untold').length === 7 + i)
    told.push(receiver.of('/untold').at(-1)!.at - at)
  }
  assert.ok(told.toSorted((a, b) => a - b)[4]! < 50, told.join())
  await Promise.all([silent.close(), telling.close()])
})

test('two senders, one lane: never more at the receiver than the width; a graceful stop repeats nothing', async () => {
  const endpoint = await desk.endpoint(receiver.url('/shared'))
  receiver.behave('/shared', response => void setTimeout(() => response.end(), 5 + Math.random() * 10))
  const first = await desk.engine()
  await desk.engine()
  for (let i = 0; i < 10; i++) {
    await desk.publish(40)
    await sleep(30)
    if (i === 5) await first.stop()
  }
  await until('all', async () => (await desk.live(endpoint.seq)) === 0)
  assert.ok(receiver.most('/shared') <= 8, `${receiver.most('/shared')} at once`)
  assert.deepEqual(await oracle(endpoint.seq, '/shared'), { lost: 0, duplicates: 0 })
  assert.equal(receiver.of('/shared').length, 400)
  assert.ok((await desk.attempts(endpoint.seq)).every(attempt => !attempt.stale))
})

test('DELETE: whatever is queued, in flight, hanging or waiting, no attempt begins after the answer', async () => {
  await desk.engine()
  const paths = ['/delete-queued', '/delete-waiting', '/delete-hanging']
  const endpoints = await Promise.all(paths.map(path => desk.endpoint(receiver.url(path))))
  receiver.behave('/delete-queued', response => void setTimeout(() => response.end(), 300))
  receiver.behave('/delete-waiting', status(500))
  receiver.behave('/delete-hanging', never)
  await desk.publish(20)
  await until('some in flight', () => paths.every(path => receiver.of(path).length > 0))
  const at = performance.now()
  const closed = await Promise.all(endpoints.map(({ seq }) => closeEndpoint(desk.database, seq)))
  assert.deepEqual(closed, [true, true, true])
  const answered = performance.now()
  assert.ok(answered - at < 1000, `${answered - at} ms`)
  assert.equal(await closeEndpoint(desk.database, endpoints[0]!.seq), false)
  await desk.publish(5)
  await sleep(1500)
  for (const path of paths)
    assert.ok(
      receiver.of(path).every(receipt => receipt.at < answered + 20),
      path,
    )
  await endClosed(desk.database)
  assert.equal(await desk.live(), 0)
  const ended = (await desk.attempts(endpoints[0]!.seq)).filter(attempt => attempt.final)
  assert.ok(ended.some(attempt => attempt.reason === 'endpoint_deleted'))
  assert.equal(await desk.unaccounted(), 0)
})

test('a sender that is frozen past its lease: taken over, its late results refused and flagged, DELETE waits for its lease', async () => {
  const endpoint = await desk.endpoint(receiver.url('/frozen'))
  const deleted = await desk.endpoint(receiver.url('/frozen-deleted'))
  receiver.behave('/frozen', never)
  receiver.behave('/frozen-deleted', never)
  const frozen = await desk.process({ leaseMs: 2_000, deadlineMs: 1_500 })
  // More than the lanes are wide: what is buffered must not go out either.
  await desk.publish(2)
  await until(
    'on the wire',
    () => receiver.of('/frozen').length === 2 && receiver.of('/frozen-deleted').length === 2,
  )
  await desk.publish(10)
  await sleep(400)
  frozen.process.kill('SIGSTOP')
  // The heir is still waiting for its answers when the other one reports that its own attempts failed.
  receiver.behave('/frozen', response => void setTimeout(() => response.end(), 3_500))
  const at = performance.now()
  const closing = closeEndpoint(desk.database, deleted.seq).then(() => performance.now())
  const heir = await desk.engine({ leaseMs: 2_000 })
  await until('taken over', () => receiver.of('/frozen').length >= 4)
  const takeover = performance.now() - at
  assert.ok(takeover < 7_000, `${takeover} ms`)
  const answered = await closing
  frozen.process.kill('SIGCONT')
  await until(
    'the late results',
    async () => (await desk.attempts(endpoint.seq)).filter(attempt => attempt.stale).length >= 2,
  )
  await frozen.stop()
  await until('settled', async () => (await desk.live(endpoint.seq)) === 0, 25_000)
  assert.ok(receiver.of('/frozen-deleted').every(receipt => receipt.at <= answered + 20))
  const attempts = await desk.attempts(endpoint.seq)
  assert.ok(
    attempts
      .filter(attempt => attempt.stale)
      .every(attempt => !attempt.final && attempt.reason === 'timeout_headers'),
  )
  // Nothing the frozen one said has counted: each event was delivered at the heir's first attempt.
  const counted = attempts.filter(attempt => !attempt.stale)
  assert.deepEqual(
    counted.map(attempt => [attempt.n, attempt.status, attempt.final]),
    counted.map(() => [1, 200, true]),
  )
  assert.equal(counted.length, 12)
  assert.equal(receiver.of('/frozen').length, 14)
  await heir.stop()
  await endClosed(desk.database)
  assert.equal(await desk.unaccounted(), 0)
})

test('SIGKILL at random instants loses nothing and repeats no more than was in flight', async () => {
  const endpoint = await desk.endpoint(receiver.url('/killed'))
  receiver.behave('/killed', response => void setTimeout(() => response.end(), Math.random() * 10))
  let publishing = true
  let published = 0
  const flow = (async () => {
    while (publishing) {
      await desk.publish(5)
      published += 5
      await sleep(10)
    }
  })()
  const short = { leaseMs: 1_000 }
  let sender = await desk.process(short)
  const kills = 5
  for (let i = 0; i < kills; i++) {
    await sleep(300 + Math.random() * 500)
    const [, next] = await Promise.all([sender.kill(), desk.process(short)])
    sender = next
  }
  publishing = false
  await flow
  await until('all', async () => (await desk.live(endpoint.seq)) === 0)
  const { lost, duplicates } = await oracle(endpoint.seq, '/killed')
  assert.equal(lost, 0)
  assert.equal(new Set(receiver.of('/killed').map(receipt => receipt.headers['webhook-id'])).size, published)
  // On the wire, and answered but not settled: at most what a lane may have read.
  assert.ok(duplicates <= kills * 32, `${duplicates} repeated`)
  assert.equal(await desk.unaccounted(), 0)
  for (const receipt of receiver.of('/killed')) verify(receipt, endpoint.secret)
  assert.equal(await sender.stop(), 0)
})
