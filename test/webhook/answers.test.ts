import assert from 'node:assert/strict'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { type Behaviour, never, type Receiver, startReceiver, status } from '../support/receiver.ts'
import { type AttemptRow, type Desk, openDesk, until } from './support.ts'

/**
 * Every way of answering is an endpoint with an engine that tries once; all are met side by side, because some take the whole deadline.
 */
const DEADLINE_MS = 5_000

let desk: Desk
let receiver: Receiver
const servers: Server[] = []
const tripwire: { hits: number; server?: Server; port: number } = { hits: 0, port: 0 }

type Case = {
  url: string
  behave?: Behaviour
  reason: string | null
  status?: number
  /** Seconds the first attempt takes, at least and at most. */
  seconds?: [number, number]
  check?: (attempt: AttemptRow) => void
}

const raw =
  (...parts: (string | Buffer | number)[]): Behaviour =>
  (_response, _receipt, socket) =>
    void (async () => {
      for (const part of parts) {
        if (typeof part === 'number') await sleep(part)
        else if (socket.destroyed) return
        else socket.write(part)
      }
    })()

/** Writes something again and again, as fast as it is taken or so often. */
const endless =
  (head: string, part: string | Buffer, everyMs: number): Behaviour =>
  (_response, _receipt, socket) => {
    socket.write(head)
    if (everyMs > 0) {
      const timer = setInterval(() => socket.write(part), everyMs)
      socket.on('close', () => clearInterval(timer))
    } else {
      const more = () => {
        while (!socket.destroyed && socket.write(part));
      }
      socket.on('drain', more)
      more()
    }
  }

const later =
  (ms: number): Behaviour =>
  response =>
    void setTimeout(() => response.end(), ms)

async function listen(server: Server): Promise<number> {
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { port: number }).port
}

const tls = (options: TlsOptions, connected: (socket: Socket) => void = () => {}) =>
  listen(
    createTlsServer(options, socket => {
      socket.on('error', () => {})
      connected(socket)
    }).on('tlsClientError', () => {}),
  )

let cases: Record<string, Case>

before(async () => {
  desk = await openDesk()
  receiver = await startReceiver(desk.authority.issue(['127.0.0.1', 'localhost']))
  tripwire.port = await listen(
    createTcpServer(socket => {
      tripwire.hits++
      socket.destroy()
    }),
  )
  const good = desk.authority.issue(['127.0.0.1'])
  const silent = await listen(createTcpServer(socket => void socket.on('error', () => {})))
  const closed = await listen(createTcpServer())
  await new Promise(resolve => servers.pop()!.close(resolve))
  const at = (port: number) => `https://127.0.0.1:${port}/x`
  const elsewhere = `https://127.0.0.1:${tripwire.port}/`
  let path = 0
  const here = (behave: Behaviour, want: Omit<Case, 'url' | 'behave'>): Case => {
    const url = receiver.url(`/answer${path++}`)
    receiver.behave(new URL(url).pathname, behave)
    return { url, behave, ...want }
  }
  const dead = { reason: 'timeout_headers', seconds: [5, 5.1] as [number, number] }
  cases = {
    '200': here(status(200), { reason: null, status: 200 }),
    '201': here(status(201), { reason: 'non_200_success', status: 201 }),
    '204': here(status(204), { reason: 'non_200_success', status: 204 }),
    '206': here(status(206), { reason: 'non_200_success', status: 206 }),
    '301 inward': here(status(301, { location: elsewhere }), { reason: 'redirect_refused', status: 301 }),
    '307 inward': here(status(307, { location: elsewhere }), { reason: 'redirect_refused', status: 307 }),
    '308 to http': here(status(308, { location: `http://127.0.0.1:${tripwire.port}/` }), {
      reason: 'redirect_refused',
      status: 308,
    }),
    '410': here(status(410), { reason: 'gone', status: 410 }),
    '429 with seconds': here(status(429, { 'retry-after': '1' }), { reason: 'status_429', status: 429 }),
    '429 with a date': here(status(429, { 'retry-after': 'Fri, 31 Dec 2049 23:59:59 GMT' }), {
      reason: 'status_429',
      status: 429,
    }),
    '429 with nonsense': here(status(429, { 'retry-after': '-1e999' }), {
      reason: 'status_429',
      status: 429,
    }),
    '500 with a body': here(response => void response.writeHead(500).end('<b>oh</b>'), {
      reason: 'status_500',
      status: 500,
      check: attempt => assert.equal(attempt.answer!.toString(), '<b>oh</b>'),
    }),
    '103 and then 200': here(
      raw(
        'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n',
        100,
        'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      ),
      {
        reason: null,
        status: 200,
      },
    ),
    'no answer': here(never, dead),
    'a byte of header every 400 ms': here(endless('HTTP/1.1 200 OK\r\nX-Slow: ', 'a', 400), dead),
    'a byte of body every 400 ms after 200': here(
      endless('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n', 'a', 400),
      {
        reason: null,
        status: 200,
        seconds: [0, 2],
        check: attempt => assert.equal(attempt.cut, true),
      },
    ),
    'an endless body after 200': here(endless('HTTP/1.1 200 OK\r\n\r\n', Buffer.alloc(65_536, 'x'), 0), {
      reason: null,
      status: 200,
      seconds: [0, 2],
      check(attempt) {
        assert.equal(attempt.cut, true)
        assert.equal(attempt.answer!.length, 16_384)
      },
    }),
    'a gigabyte announced after 500': here(
      endless('HTTP/1.1 500 No\r\nContent-Length: 1073741824\r\n\r\n', Buffer.alloc(65_536), 0),
      {
        reason: 'status_500',
        status: 500,
        seconds: [0, 2],
      },
    ),
    'a gzip bomb': here(
      raw(
        'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n',
        gzipSync(Buffer.alloc(50_000_000)),
      ),
      {
        reason: null,
        status: 200,
        check: attempt => assert.deepEqual([...attempt.answer!.subarray(0, 2)], [0x1f, 0x8b]),
      },
    ),
    'a body that ends early after 200': here(
      (_response, _receipt, socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort')
        setTimeout(() => socket.destroy(), 50)
      },
      { reason: null, status: 200, check: attempt => assert.equal(attempt.answer!.toString(), 'short') },
    ),
    '100,000 headers': here(raw('HTTP/1.1 200 OK\r\n', 'X-Many: 1\r\n'.repeat(100_000), '\r\n'), {
      reason: 'malformed_response',
    }),
    'not HTTP': here(raw('SSH-2.0-OpenSSH_9.2\r\n\r\n'), { reason: 'malformed_response' }),
    'a broken status line': here(raw('HTTP/1.1 abc OK\r\n\r\n'), { reason: 'malformed_response' }),
    'a reset': here((_response, _receipt, socket) => receiver.reset(socket), { reason: 'reset' }),
    'an end without an answer': here((_response, _receipt, socket) => void socket.end(), { reason: 'reset' }),
    'nobody listens': { url: at(closed), reason: 'connect_failed' },
    'a handshake that never comes': { url: at(silent), reason: 'timeout_tls', seconds: [5, 5.1] },
    'plain HTTP': {
      url: at(
        await listen(
          createTcpServer(socket => {
            socket.on('error', () => {})
            socket.end('HTTP/1.1 200 OK\r\n\r\n')
          }),
        ),
      ),
      reason: 'tls_invalid',
    },
    'a connection closed in the handshake': {
      url: at(await listen(createTcpServer(socket => void socket.destroy()))),
      reason: 'reset',
    },
    'an expired certificate': {
      url: at(await tls(desk.authority.issue(['127.0.0.1'], { expired: true }))),
      reason: 'tls_invalid',
    },
    'a certificate for another host': {
      url: at(await tls(desk.authority.issue(['example.com']))),
      reason: 'tls_invalid',
    },
    'a self-signed certificate': {
      url: at(await tls(desk.authority.issue(['127.0.0.1'], { selfSigned: true }))),
      reason: 'tls_invalid',
    },
    'TLS 1.0 only': {
      url: at(
        await tls({ ...good, minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }),
      ),
      reason: 'tls_invalid',
    },
    'a client certificate demanded': {
      url: at(await tls({ ...good, requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' })),
      reason: 'tls_invalid',
    },
    'an address that is not public': { url: `https://10.0.0.1:${tripwire.port}/`, reason: 'blocked_address' },
    'a URL that is broken': { url: 'https://', reason: 'url_refused' },
  }
})
afterEach(() => desk.quiet())
after(async () => {
  await desk.close()
  await receiver.close()
  for (const server of servers) server.close()
})

test('each way of answering has its outcome, in its time, and frees its slot', async t => {
  const before = process.memoryUsage().rss
  const endpoints = new Map<string, number>()
  for (const [name, { url }] of Object.entries(cases)) endpoints.set(name, (await desk.endpoint(url)).seq)
  await desk.engine({ retryMs: [] })
  await desk.publish()
  await until('every delivery has ended', async () => (await desk.live()) === 0, 20_000)
  for (const [name, want] of Object.entries(cases)) {
    await t.test(name, async () => {
      const attempts = await desk.attempts(endpoints.get(name)!)
      assert.equal(attempts.length, 1)
      const [attempt] = attempts
      assert.equal(attempt!.reason, want.reason)
      assert.equal(attempt!.status, want.status ?? null)
      assert.equal(attempt!.final, true)
      if (want.seconds !== undefined) {
        const took = ['dns_ms', 'connect_ms', 'tls_ms', 'headers_ms'] as const
        // The wait of one that timed out is in no phase: it is what the receiver saw.
        const seconds = took.reduce((sum, phase) => sum + (attempt![phase] ?? 0), 0) / 1000
        if (want.status !== undefined)
          assert.ok(seconds >= want.seconds[0] && seconds <= want.seconds[1], `${seconds} s`)
      }
      want.check?.(attempt!)
    })
  }
  await t.test('no redirect was followed, and nothing that is not public was reached', () =>
    assert.equal(tripwire.hits, 0),
  )
  await t.test('memory stays flat', () => {
    const grown = (process.memoryUsage().rss - before) / 2 ** 20
    assert.ok(grown < 150, `${grown.toFixed(0)} MiB`)
  })
})

test('the deadline fires between 5.00 and 5.10 s, from the start of name resolution; an answer at 4.9 s counts, at 5.05 s it does not', async () => {
  const { attempt } = await import('../../src/webhook/delivery/attempt.ts')
  const { createWire } = await import('../../src/webhook/delivery/wire.ts')
  const { reachOf } = await import('./support.ts')
  const reach = reachOf(desk.authority, ['127.0.0.0/8'])
  const timed = async (url: string, resolver = reach.resolver) => {
    const message = { path: new URL(url).pathname, headers: {}, body: Buffer.from('{}') }
    const at = performance.now()
    const { outcome } = await attempt(
      undefined,
      () => createWire(new URL(url), { ...reach, resolver }, {}),
      message,
    )
    return { reason: outcome.reason, ms: performance.now() - at }
  }
  receiver.behave('/dead', never)
  receiver.behave('/drip', endless('HTTP/1.1 200 OK\r\nX-Slow: ', 'a', 400))
  const hanging = {
    resolve4: () => new Promise<never>(() => {}),
    resolve6: () => new Promise<never>(() => {}),
  }
  receiver.behave('/just', later(4_900))
  receiver.behave('/not', later(5_050))
  const just = timed(receiver.url('/just'))
  const not = timed(receiver.url('/not'))
  const all = await Promise.all([
    timed(receiver.url('/dead')),
    timed(receiver.url('/drip')),
    timed(cases['a handshake that never comes']!.url),
    timed('https://hooks.example/x', hanging as never),
  ])
  assert.deepEqual(
    all.map(one => one.reason),
    ['timeout_headers', 'timeout_headers', 'timeout_tls', 'timeout_dns'],
  )
  assert.equal((await just).reason, null)
  assert.equal((await not).reason, 'timeout_headers')
  for (const { ms } of all) assert.ok(ms >= DEADLINE_MS - 1 && ms <= DEADLINE_MS + 100, `${ms} ms`)
})

test('a connection that was closed while idle costs no attempt, and one that dies after an answer began does', async () => {
  const endpoint = await desk.endpoint(receiver.url('/reused'))
  await desk.engine({ retryMs: [50] })
  for (const how of ['end', 'destroy', 'reset'] as const) {
    const before = receiver.of('/reused').length
    await desk.publish()
    await until('the first', () => receiver.of('/reused').length === before + 1)
    await until('settled', async () => (await desk.live(endpoint.seq)) === 0)
    // Closed at the other end just when the next request goes out.
    receiver.cutAll(how)
    await desk.publish()
    await until('the second', () => receiver.of('/reused').length === before + 2)
    await until('settled', async () => (await desk.live(endpoint.seq)) === 0)
  }
  assert.ok((await desk.attempts(endpoint.seq)).every(attempt => attempt.n === 1 && attempt.reason === null))

  // The receiver reads the request on the open connection and closes it: sent once more at once, in the same attempt.
  let dropped = 0
  receiver.behave('/reused', (response, receipt, socket) => {
    if (dropped === 0 && receipt.connection === receiver.of('/reused').at(-2)!.connection) {
      dropped++
      socket.destroy()
    } else response.end()
  })
  await desk.publish()
  await until('settled', async () => (await desk.live(endpoint.seq)) === 0)
  assert.equal(dropped, 1)
  assert.deepEqual(
    [(await desk.attempts(endpoint.seq)).at(-1)!.n, (await desk.attempts(endpoint.seq)).at(-1)!.reason],
    [1, null],
  )
  // With a byte of an answer it is no stale connection any more.
  let cut = 0
  receiver.behave('/reused', (response, _receipt, socket) => {
    if (cut++ > 0) return void response.end()
    socket.write('HTTP/1.1 2')
    setTimeout(() => socket.destroy(), 20)
  })
  await desk.publish()
  await until('settled', async () => (await desk.live(endpoint.seq)) === 0)
  assert.deepEqual(
    (await desk.attempts(endpoint.seq)).slice(-2).map(attempt => attempt.reason),
    ['reset', null],
  )
})
