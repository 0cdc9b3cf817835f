import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type NameServer, type Saying, startNameServer } from '../support/name-server.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Desk, openDesk, until, verify } from './support.ts'

/** Names are ours here: 127.0.1.0/24 plays the public internet, everything else on loopback is the inside that must not be reached. */
const PUBLIC = '127.0.1.1'
const PRIVATE = '127.0.0.1'
const ALLOW = ['127.0.1.0/24']

let desk: Desk
let names: NameServer
let receiver: Receiver
const inside = { hits: 0 }
/** Listens on the same port as the receiver, on the address that must not be reached. */
const tripwire = createServer(socket => {
  inside.hits++
  socket.destroy()
})

before(async () => {
  desk = await openDesk()
  names = await startNameServer()
  receiver = await startReceiver({
    ...desk.authority.issue(['*.hooks.test', 'hooks.test', PUBLIC]),
    host: PUBLIC,
  })
  await new Promise<void>(resolve => tripwire.listen(receiver.port, PRIVATE, resolve))
})
afterEach(() => desk.quiet())
after(async () => {
  await desk.close()
  await receiver.close()
  await names.close()
  await new Promise(resolve => tripwire.close(resolve))
})

const engine = () => desk.engine({ allow: ALLOW, dns: [names.address], retryMs: [] })
const at = (name: string) => receiver.url(`/${name}`, name)

test('a name is connected to by the address that was judged, with the name kept for TLS', async () => {
  names.say('plain.hooks.test', [PUBLIC])
  names.say(
    'many.hooks.test',
    Array.from({ length: 200 }, (_, i) => `127.0.1.${i + 1}`),
  )
  names.say('second.hooks.test', ['127.0.1.99', PUBLIC])
  names.say('alias.hooks.test', { alias: 'plain.hooks.test' })
  const plain = await desk.endpoint(at('plain.hooks.test'))
  const second = await desk.endpoint(at('second.hooks.test'))
  await engine()
  await desk.publish()
  await until('both', async () => (await desk.live()) === 0)
  verify(receiver.of('/plain.hooks.test')[0]!, plain.secret)
  assert.equal(receiver.of('/plain.hooks.test')[0]!.headers.host, `plain.hooks.test:${receiver.port}`)
  const [attempt] = await desk.attempts(plain.seq)
  assert.deepEqual([attempt!.reason, attempt!.peer], [null, PUBLIC])
  assert.ok(attempt!.dns_ms! > 0)
  // Nobody listens at the first of its addresses.
  assert.deepEqual(
    [(await desk.attempts(second.seq))[0]!.reason, (await desk.attempts(second.seq))[0]!.peer],
    [null, PUBLIC],
  )
})

test('a name with any answer that is not public is refused, and nothing is sent there', async () => {
  const sayings: Record<string, Saying> = {
    'inward.hooks.test': [PRIVATE],
    'mixed.hooks.test': [PUBLIC, PRIVATE],
    'mixed-last.hooks.test': [PUBLIC, '127.0.1.2', '10.0.0.1'],
    'six.hooks.test': [PUBLIC, '::1'],
    'mapped.hooks.test': ['::ffff:7f00:1'],
    'nat.hooks.test': ['64:ff9b::7f00:1'],
    'metadata.hooks.test': ['169.254.169.254'],
    'zero.hooks.test': ['0.0.0.0'],
    'hidden.hooks.test': [...Array.from({ length: 199 }, (_, i) => `127.0.1.${i + 1}`), PRIVATE],
  }
  const endpoints = new Map<string, number>()
  for (const [name, saying] of Object.entries(sayings)) {
    names.say(name, saying)
    endpoints.set(name, (await desk.endpoint(at(name))).seq)
  }
  await engine()
  await desk.publish()
  await until('the end', async () => (await desk.live()) === 0)
  for (const [name, seq] of endpoints)
    assert.equal((await desk.attempts(seq))[0]!.reason, 'blocked_address', name)
  assert.equal(inside.hits, 0)
  assert.ok(Object.keys(sayings).every(name => receiver.of(`/${name}`).length === 0))
})

test('rebinding: between registration and sending, and between two connections of one endpoint', async () => {
  let turn = 0
  names.say('rebinding.hooks.test', () => (turn++ % 4 < 2 ? [PUBLIC] : [PRIVATE]))
  const endpoint = await desk.endpoint(at('rebinding.hooks.test'))
  receiver.behave(
    '/rebinding.hooks.test',
    response => void response.writeHead(200, { connection: 'close' }).end(),
  )
  await engine()
  for (let i = 0; i < 40; i++) {
    await desk.publish(5)
    await until('the end', async () => (await desk.live()) === 0)
  }
  assert.equal(inside.hits, 0)
  const attempts = await desk.attempts(endpoint.seq)
  assert.deepEqual(
    [...new Set(attempts.map(attempt => attempt.reason))].sort(),
    ['blocked_address', null].sort(),
  )
  assert.ok(attempts.every(attempt => attempt.peer === PUBLIC || attempt.peer === null))
})

test('name servers that are silent, broken or circular fail in time, and keep nobody else waiting', async () => {
  names.say('fast.hooks.test', [PUBLIC])
  names.say('servfail.hooks.test', 'servfail')
  names.say('loop-a.hooks.test', { alias: 'loop-b.hooks.test' })
  names.say('loop-b.hooks.test', { alias: 'loop-a.hooks.test' })
  const silent = [
    'silent-1.hooks.test',
    'silent-2.hooks.test',
    'silent-3.hooks.test',
    'silent-4.hooks.test',
    'silent-5.hooks.test',
    'silent-6.hooks.test',
  ]
  for (const name of silent) names.say(name, 'silence')
  const slow = await Promise.all(silent.map(name => desk.endpoint(at(name), { events: ['booking.failed'] })))
  const broken = await Promise.all(
    ['servfail.hooks.test', 'loop-a.hooks.test', 'nobody.hooks.test'].map(name =>
      desk.endpoint(at(name), { events: ['booking.failed'] }),
    ),
  )
  const fast = await desk.endpoint(at('fast.hooks.test'), { events: ['booking.confirmed'] })
  receiver.behave('/fast.hooks.test', response => void response.writeHead(200, { connection: 'close' }).end())
  await engine()
  await desk.publish(2, 'booking.failed')
  const waits: number[] = []
  for (let i = 0; i < 30; i++) {
    const began = performance.now()
    const before = receiver.of('/fast.hooks.test').length
    await desk.publish()
    await until('the fast one', () => receiver.of('/fast.hooks.test').length > before)
    waits.push(receiver.of('/fast.hooks.test').at(-1)!.at - began)
    await sleep(20)
  }
  assert.ok(waits.toSorted((a, b) => a - b)[28]! < 250, waits.map(Math.round).join())
  await until('the end', async () => (await desk.live()) === 0, 40_000)
  for (const { seq } of broken)
    assert.deepEqual(
      new Set((await desk.attempts(seq)).map(attempt => attempt.reason)),
      new Set(['dns_failed']),
    )
  for (const { seq } of slow) {
    assert.ok((await desk.attempts(seq)).every(attempt => attempt.reason === 'timeout_dns'))
  }
  assert.equal(receiver.of('/fast.hooks.test').length, 30)
  assert.ok((await desk.attempts(fast.seq)).every(attempt => attempt.reason === null))
})
