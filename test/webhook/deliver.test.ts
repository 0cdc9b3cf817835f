import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Desk, openDesk, until, verify, verifyStandard } from './support.ts'

let desk: Desk
let receiver: Receiver

before(async () => {
  desk = await openDesk()
  receiver = await startReceiver(desk.authority.issue(['127.0.0.1', 'localhost']))
  await desk.engine()
})
after(async () => {
  await desk.close()
  await receiver.close()
})

test('an event reaches its endpoint signed in both schemes, with the bytes that were written', async () => {
  const endpoint = await desk.endpoint(receiver.url('/first'), {
    secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  })
  const [bookingId] = await desk.publish()
  await until('a receipt', () => receiver.of('/first').length === 1)
  const [receipt] = receiver.of('/first')
  const body = verify(receipt!, endpoint.secret)
  assert.deepEqual(Object.keys(body), ['event', 'timestamp', 'data', 'id', 'version'])
  assert.deepEqual(body.data, { bookingId, bookingStatus: 'confirmed', pnr: 'ABC123' })
  assert.equal(receipt!.headers['webhook-id'], body.id)
  assert.equal(receipt!.headers['x-airside-attempt'], '1')
  assert.equal(receipt!.headers['content-type'], 'application/json')
  await until('it is settled', async () => (await desk.live(endpoint.seq)) === 0)
  const [attempt] = await desk.attempts(endpoint.seq)
  assert.deepEqual(
    [attempt!.n, attempt!.status, attempt!.reason, attempt!.final, attempt!.stale],
    [1, 200, null, true, false],
  )
  assert.equal(attempt!.peer, '127.0.0.1')
  assert.match(attempt!.tls!, /^TLSv1\.[23]$/)
  assert.ok(attempt!.tls_ms! > 0)
  assert.equal(attempt!.answer!.toString(), 'ok')
})

test('without a secret of the partner there is no contract signature, but a standard one', async () => {
  const endpoint = await desk.endpoint(receiver.url('/generated'), {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    given: false,
  })
  await desk.publish()
  await until('a receipt', () => receiver.of('/generated').length === 1)
  const [receipt] = receiver.of('/generated')
  assert.equal(receipt!.headers['x-airside-signature'], undefined)
  verifyStandard(receipt!, endpoint.secret)
})

test('a hundred events arrive once each, over few connections', async () => {
  const endpoint = await desk.endpoint(receiver.url('/many'))
  const bookings = await desk.publish(100)
  await until('all receipts', () => receiver.of('/many').length >= 100)
  await until('all settled', async () => (await desk.live(endpoint.seq)) === 0)
  const told = receiver
    .of('/many')
    .map(receipt => (verify(receipt, endpoint.secret).data as { bookingId: string }).bookingId)
  assert.deepEqual(told.toSorted(), [...bookings].sort())
  assert.ok(new Set(receiver.of('/many').map(one => one.connection)).size <= 8)
  assert.equal(await desk.unaccounted(), 0)
})
