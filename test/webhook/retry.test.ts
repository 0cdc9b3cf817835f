import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WebhookId } from '../../src/id.ts'
import { sealSecret } from '../../src/webhook/endpoint.ts'
import { ok, type Receiver, startReceiver, status } from '../support/receiver.ts'
import { rotateBy } from './rotation.ts'
import { type Desk, openDesk, SECRET_KEY, until, verify, verifyStandard } from './support.ts'

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

test('four attempts and no fifth, across restarts: rising waits within a tenth, the same bytes, signed each time', async () => {
  const retryMs = [400, 900, 2000]
  const endpoint = await desk.endpoint(receiver.url('/down'))
  receiver.behave('/down', status(503))
  let engine = await desk.engine({ retryMs })
  await desk.publish(5)
  await until('two attempts each', () => receiver.of('/down').length === 10)
  await engine.stop()
  engine = await desk.engine({ retryMs })
  await until('the end', async () => (await desk.live(endpoint.seq)) === 0)
  await sleep(1500)
  const byEvent = Map.groupBy(receiver.of('/down'), receipt => receipt.headers['webhook-id'])
  assert.equal(byEvent.size, 5)
  for (const receipts of byEvent.values()) {
    assert.deepEqual(
      receipts.map(receipt => receipt.headers['x-airside-attempt']),
      ['1', '2', '3', '4'],
    )
    for (const receipt of receipts) {
      verify(receipt, endpoint.secret)
      assert.deepEqual(receipt.body, receipts[0]!.body)
    }
    receipts.slice(1).forEach((receipt, i) => {
      const gap = receipt.at - receipts[i]!.at
      // Upwards there is also the time of answer and settlement, and the scan after a restart.
      assert.ok(gap >= retryMs[i]! * 0.9 - 5 && gap <= retryMs[i]! * 1.1 + 400, `gap ${i + 1}: ${gap} ms`)
    })
  }
  const attempts = await desk.attempts(endpoint.seq)
  assert.deepEqual([attempts.length, attempts.filter(attempt => attempt.final).length], [20, 5])
  assert.ok(attempts.every(attempt => attempt.reason === 'status_503' && attempt.final === (attempt.n === 4)))
  const [lane] = await desk.database.query<{ exhausted: number; failing: boolean; width: number }>(
    'select exhausted, failing_since is not null as failing, width from lane where endpoint = $1',
    [endpoint.seq],
  )
  assert.deepEqual(lane, { exhausted: 5, failing: true, width: 1 })
  assert.equal(await desk.unaccounted(), 0)
})

test('an endpoint that says 410 four times for one delivery is disabled; three times and another failure is not', async () => {
  const gone = await desk.endpoint(receiver.url('/gone'))
  const mixed = await desk.endpoint(receiver.url('/mixed'))
  receiver.behave('/gone', status(410))
  receiver.behave(
    '/mixed',
    (response, receipt) =>
      void response.writeHead(receipt.headers['x-airside-attempt'] === '2' ? 500 : 410).end(),
  )
  await desk.engine({ retryMs: [20, 20, 20] })
  await desk.publish()
  const state = async (seq: number) =>
    (
      await desk.database.query<{ state: string; reason: string | null }>(
        'select state, disabled_reason as reason from lane where endpoint = $1',
        [seq],
      )
    )[0]
  await until('disabled', async () => (await state(gone.seq))!.state === 'disabled')
  await until('the end', async () => (await desk.live()) === 0)
  assert.deepEqual(await state(gone.seq), { state: 'disabled', reason: 'gone' })
  assert.equal((await state(mixed.seq))!.state, 'open')
  await desk.publish()
  await until('the open one', () => receiver.of('/mixed').length > 4)
  assert.equal(receiver.of('/gone').length, 4)
  assert.equal(await desk.unaccounted(), 0)
})

test('a row that cannot be sent is ended alone, and the others go on', async () => {
  const unreadable = await desk.endpoint(receiver.url('/unreadable'), { sealed: Buffer.alloc(64, 7) })
  const foreign = await desk.endpoint(receiver.url('/foreign'), {
    sealed: sealSecret(SECRET_KEY, 'whk_other' as WebhookId, 'x'),
  })
  const broken = await desk.endpoint('https://[broken')
  const blocked = await desk.endpoint('https://10.0.0.1/')
  const healthy = await desk.endpoint(receiver.url('/healthy'))
  await desk.engine({ retryMs: [20, 20, 20] })
  await desk.publish(20)
  await until('the end', async () => (await desk.live()) === 0)
  assert.equal(receiver.of('/healthy').length, 20)
  const outcome = async (seq: number) => {
    const attempts = await desk.attempts(seq)
    return [attempts.length, [...new Set(attempts.map(attempt => attempt.reason))].join()]
  }
  assert.deepEqual(await outcome(unreadable.seq), [20, 'secret_unreadable'])
  assert.deepEqual(await outcome(foreign.seq), [20, 'secret_unreadable'])
  assert.deepEqual(await outcome(broken.seq), [20, 'url_refused'])
  assert.deepEqual(await outcome(blocked.seq), [80, 'blocked_address'])
  assert.deepEqual(await outcome(healthy.seq), [20, ''])
  assert.equal(receiver.of('/unreadable').length + receiver.of('/foreign').length, 0)
  assert.equal(await desk.unaccounted(), 0)
})

test('secrets of every kind sign, and a rotation loses no signature in either scheme', async () => {
  const kinds = [
    'x',
    'sécrèt 🔑',
    ' blanks \t',
    'whsec_not base64',
    `whsec_${Buffer.from('a longer secret of 32 bytes …').toString('base64')}`,
    'k'.repeat(4096),
  ]
  const endpoints = await Promise.all(
    kinds.map((secret, i) => desk.endpoint(receiver.url(`/kind${i}`), { secret })),
  )
  const turning = await desk.endpoint(receiver.url('/turning'), { secret: 'the old one' })
  await desk.engine()
  await desk.publish()
  await until('one each', () => kinds.every((_, i) => receiver.of(`/kind${i}`).length === 1))
  endpoints.forEach(
    (endpoint, i) =>
      void (kinds[i]!.startsWith('whsec_not') ? null : verify(receiver.of(`/kind${i}`)[0]!, endpoint.secret)),
  )

  // Rotation while events flow.
  const flow = (async () => {
    for (let i = 0; i < 40; i++) {
      await desk.publish(5)
      await sleep(10)
    }
  })()
  await sleep(100)
  await rotateBy(desk.database, turning.seq, turning.id, {
    from: 'the old one',
    to: 'the new one',
    overlapMs: 200,
  })
  await flow
  await until('the end', async () => (await desk.live(turning.seq)) === 0)
  await desk.publish()
  await until('the end', async () => (await desk.live(turning.seq)) === 0)
  const seen = { old: 0, both: 0, new: 0 }
  for (const receipt of receiver.of('/turning')) {
    const holds = (secret: string) => {
      try {
        verifyStandard(receipt, secret)
        return true
      } catch {
        return false
      }
    }
    const [first, second] = [holds('the old one'), holds('the new one')]
    assert.ok(first || second)
    const phase = first && second ? 'both' : first ? 'old' : 'new'
    seen[phase]++
    // The contract's header has one value: the old secret until the cut-over, the new one announced beside it.
    verify(receipt, phase === 'new' ? 'the new one' : 'the old one')
    assert.equal(receipt.headers['x-airside-signature-next'] !== undefined, phase === 'both')
  }
  assert.ok(seen.old > 0 && seen.both > 0 && seen.new > 0, JSON.stringify(seen))
})

test('an old capture, or an altered one, is refused by the reference verifier', async () => {
  const endpoint = await desk.endpoint(receiver.url('/captured'))
  receiver.behave('/captured', ok)
  await desk.engine()
  await desk.publish()
  await until('a receipt', () => receiver.of('/captured').length === 1)
  const receipt = receiver.of('/captured')[0]!
  verify(receipt, endpoint.secret)
  const changed = [
    { ...receipt, headers: { ...receipt.headers, 'webhook-id': 'evt_another' } },
    {
      ...receipt,
      headers: {
        ...receipt.headers,
        'webhook-timestamp': String(Number(receipt.headers['webhook-timestamp']) + 1),
      },
    },
    {
      ...receipt,
      headers: {
        ...receipt.headers,
        'webhook-timestamp': String(Number(receipt.headers['webhook-timestamp']) - 600),
      },
    },
    { ...receipt, body: Buffer.from(receipt.body.toString().replace('confirmed', 'cancelled')) },
  ]
  for (const one of changed) assert.throws(() => verifyStandard(one, endpoint.secret))
})
