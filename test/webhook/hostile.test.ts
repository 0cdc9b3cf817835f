import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { attempt } from '../../src/webhook/delivery/attempt.ts'
import { createWire, type Wire } from '../../src/webhook/delivery/wire.ts'
import { type Authority, createAuthority } from '../support/authority.ts'
import { random } from '../support/random.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { LOOPBACK, reachOf } from './support.ts'

const ANSWERS = Number(process.env.AIRSIDE_TEST_ANSWERS ?? 300)
const PARTS = [
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.0 200 OK\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n',
  'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n',
  'HTTP/1.1 500 \r\n',
  'HTTP/1.1 999 Odd\r\n',
  'HTTP/2.0 200 OK\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 5\r\nContent-Length: 6\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Connection: close\r\n',
  'Keep-Alive: timeout=0\r\n',
  'Keep-Alive: timeout=99999999999\r\n',
  'Trailer: x\r\n',
  'X: \r\n y\r\n',
  'X\0: y\r\n',
  ': y\r\n',
  `X: ${'y'.repeat(20_000)}\r\n`,
  '\r\n',
  '\r\n',
  '\r\n',
  'hello',
  '5\r\nhello\r\n',
  '0\r\n\r\n',
  'ffffffffffffffff\r\n',
  'zz\r\n',
  '\n',
  '\0',
]

let authority: Authority
let receiver: Receiver

before(async () => {
  authority = createAuthority()
  receiver = await startReceiver(authority.issue(['127.0.0.1']))
})
after(async () => {
  await receiver.close()
  authority.discard()
})

test('no answer, however it is put together, ends anything but its own attempt', async () => {
  const draw = random(20_261_121)
  const reach = reachOf(authority, LOOPBACK)
  const defects: unknown[] = []
  const note = (error: unknown) => defects.push(error)
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
  receiver.behave('/hostile', (_response, _receipt, socket) => {
    const parts = Array.from({ length: draw.whole(0, 8) }, () => draw.of(PARTS))
    if (draw.chance(0.7)) parts.unshift(PARTS[draw.whole(0, 1)]!)
    const end = draw.of(['end', 'destroy', 'reset', 'stay'])
    let i = 0
    const next = () => {
      if (i < parts.length) socket.write(parts[i++]!, 'latin1')
      if (i < parts.length && draw.chance(0.5)) setTimeout(next, 1)
      else if (i < parts.length) next()
      else if (end === 'end') socket.end()
      else if (end === 'destroy') socket.destroy()
      else if (end === 'reset') receiver.reset(socket)
    }
    next()
  })
  const url = new URL(receiver.url('/hostile'))
  const message = {
    path: url.pathname,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{}'),
  }
  const reasons = new Map<string, number>()
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      let wire: Wire | undefined
      for (let i = 0; i < ANSWERS / 8; i++) {
        const at = performance.now()
        const done = await attempt(wire, () => createWire(url, reach, {}), message, 150)
        const ms = performance.now() - at
        // The deadline, and the wait for the body of what has been decided.
        assert.ok(ms < 150 + 1_000 + 300, `${ms} ms`)
        wire = done.wire?.isOpen() ? done.wire : undefined
        const reason = done.outcome.reason ?? 'delivered'
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
        assert.equal(done.outcome.reason === null, done.outcome.status === 200)
      }
    }),
  )
  process.off('uncaughtException', note)
  process.off('unhandledRejection', note)
  assert.deepEqual(defects, [])
  // Which kinds come up depends on the moment; these two and a third always do.
  assert.ok(
    reasons.size > 2 && reasons.has('delivered') && reasons.has('malformed_response'),
    JSON.stringify([...reasons]),
  )
})
