import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { signatureHeaders } from '../../src/webhook/signature.ts'
import { openDoor, SECRET } from './door-support.ts'
import { until } from './support.ts'

const { house, call, receiver, register, received, booked, stranger, close } = await openDoor()
const programs: ChildProcess[] = []
after(async () => {
  for (const program of programs) program.kill('SIGKILL')
  await close()
})

/** A program of ours as its user starts it: nothing in its environment but what is given. */
function run(words: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, words, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: 'pipe',
  })
  programs.push(child)
  let said = ''
  child.stdout.on('data', chunk => (said += chunk))
  child.stderr.on('data', chunk => (said += chunk))
  const exited = new Promise<number | null>(resolve => child.once('exit', resolve))
  return {
    said: () => said,
    exited,
    says: (what: RegExp) => until(`${what} in:\n${said}`, () => what.test(said)),
    async stop() {
      child.kill('SIGINT')
      return exited
    },
  }
}

/** `listen` as a developer starts it: an address and a key, no database, no data directory. */
const listen = (forwardTo: string, words: readonly string[] = []) =>
  run(
    [
      'bin/airside.js',
      'listen',
      '--forward-to',
      forwardTo,
      '--key',
      house.intl.test,
      '--url',
      house.intl.baseUrl,
      ...words,
    ],
    { AIRSIDE_DATA_DIR: '/nonexistent/airside' },
  )

async function startExample(secret: string) {
  const example = run(['examples/receive-webhook.ts', '0'], { WEBHOOK_SECRET: secret })
  await example.says(/Receiving on/)
  const url = `${/http:\/\/localhost:\d+/.exec(example.said())![0]}/hook`
  return { ...example, url }
}

test('examples/receive-webhook.ts handles a real delivery once, and nothing that is forged, altered, old or stale', async () => {
  const example = await startExample(SECRET)
  // What a partner has in front of its program: TLS ends there, the bytes go on as they are.
  receiver.behave('/example', (response, { body, headers }) => {
    const { host: _, connection: __, 'content-length': ___, ...rest } = headers
    void fetch(example.url, { method: 'POST', headers: rest, body: new Uint8Array(body) }).then(
      ({ status }) => response.writeHead(status).end(),
    )
  })
  const { webhookId } = await register('/example', { events: ['booking.confirmed', 'booking.updated'] })
  const bookingId = await booked()
  await example.says(new RegExp(`handled: ${bookingId} is confirmed under [0-9A-Z]+, version 2`))
  const [receipt] = await received('/example')
  const body = receipt!.body
  const id = receipt!.headers['webhook-id']!

  const send = async (headers: Record<string, string>, bytes: Buffer = body) =>
    (await fetch(example.url, { method: 'POST', headers, body: new Uint8Array(bytes) })).status
  const signed = (seconds: number, bytes = body, as = id) =>
    signatureHeaders(
      'Airside',
      { current: { text: SECRET, given: true } },
      { id: as, at: seconds * 1000, body: bytes },
    )
  const now = Math.floor(Date.now() / 1000)
  assert.equal(await send(signed(now)), 200)
  await example.says(/seen before/)
  const forged: [string, Record<string, string>, Buffer?][] = [
    ['an old capture', signed(now - 400)],
    ['one from the future', signed(now + 400)],
    ['a time that is no number', { ...signed(now), 'webhook-timestamp': 'now' }],
    ['another time than was signed', { ...signed(now), 'webhook-timestamp': String(now - 1) }],
    ['another id', { ...signed(now), 'webhook-id': 'evt_000000000000000000000000' }],
    ['another body', signed(now), Buffer.from(body.toString().replace('confirmed', 'cancelled'))],
    ['the body written anew', signed(now), Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1))],
    ['no signature', { 'webhook-id': id, 'webhook-timestamp': String(now) }],
    ['an empty signature', { ...signed(now), 'webhook-signature': 'v1,' }],
    ['the contract’s header alone', { 'x-airside-signature': signed(now)['X-Airside-Signature']! }],
    ['a wrong contract header', { ...signed(now), 'X-Airside-Signature': '00'.repeat(32) }],
    [
      'another secret',
      signatureHeaders('Airside', { current: { text: 'other', given: true } }, { id, at: now * 1000, body }),
    ],
  ]
  for (const [what, headers, bytes] of forged) assert.equal(await send(headers, bytes), 401, what)

  const stale = { ...JSON.parse(body.toString()), id: 'evt_111111111111111111111111', version: 1 }
  const staleBytes = Buffer.from(JSON.stringify(stale))
  assert.equal(await send(signed(now, staleBytes, stale.id), staleBytes), 200)
  await example.says(/stale: version 2 is known/)

  await call(`/webhooks/${webhookId}/test`, { method: 'POST' })
  await example.says(/: a test/)
  // While a secret rotates, whoever knows the old one or the new one can verify.
  await call(`/webhooks/${webhookId}/rotate-secret`, { body: { secret: 'the next one' } })
  const next = await startExample('the next one')
  const both = (await received('/example', 2)).length
  await call(`/webhooks/${webhookId}/test`, { method: 'POST' })
  const last = (await received('/example', both + 1))[both]!
  const { host: _, connection: __, 'content-length': ___, ...rest } = last.headers
  const relayed = await fetch(next.url, { method: 'POST', headers: rest, body: new Uint8Array(last.body) })
  assert.equal(relayed.status, 200)
  assert.equal((example.said().match(/handled/g) ?? []).length, 1)
  await call(`/webhooks/${webhookId}`, { method: 'DELETE' })
  await Promise.all([example.stop(), next.stop()])
})

test('listen brings what trigger makes happen to a receiver on this machine, signed in both schemes', async () => {
  const first = listen('http://127.0.0.1:9/')
  await first.says(/Ready/)
  const secret = /whsec_[0-9A-Za-z+/]{43}=/.exec(first.said())![0]
  assert.equal(await first.stop(), 0)

  const example = await startExample(secret)
  const listening = listen(example.url, ['--secret', secret])
  await listening.says(/Ready/)
  assert.doesNotMatch(listening.said(), /whsec_/)
  const events = ['booking.confirmed', 'booking.failed', 'booking.cancelled', 'booking.updated']
  for (const event of events) {
    const { bookingId, bookingStatus } = await house.command('trigger', event, '--key', house.intl.test)
    assert.equal(bookingStatus, event === 'booking.updated' ? 'confirmed' : event.slice('booking.'.length))
    await example.says(new RegExp(`${event} evt_\\w+: (handled: ${bookingId}|stale)`))
    await listening.says(new RegExp(`\\d\\d:\\d\\d:\\d\\d  ${event} +evt_\\w{24}  200  \\d+ ms\\n`))
  }
  assert.equal(await listening.stop(), 0)
  assert.doesNotMatch(example.said(), /refused/)
  await example.stop()
})

test('listen narrows by type, tells of failures and tries again with the same bytes', async () => {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    bodies.push(`${request.headers['x-airside-attempt']} ${body}`)
    response.writeHead(bodies.length === 1 ? 500 : 200).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const listening = listen(`http://127.0.0.1:${port}/`, ['--events', 'booking.cancelled', '--json'])
  await listening.says(/"ready":true/)
  await house.command('trigger', 'booking.cancelled', '--key', house.intl.test)
  await until('two attempts', () => bodies.length === 2)
  await listening.says(/"delivered":true/)
  const lines = listening
    .said()
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.deepEqual(
    lines.slice(2).map(({ event, attempt, outcome, retryInMs }) => [event, attempt, outcome, retryInMs]),
    [
      ['booking.cancelled', 1, 500, 1000],
      ['booking.cancelled', 2, 200, null],
    ],
  )
  assert.equal(bodies[0]!.slice(2), bodies[1]!.slice(2))
  assert.equal(bodies[0]![0], '1')
  assert.equal(await listening.stop(), 0)
  server.close()
})

test('listen and trigger say what is wrong with what was typed, and with the key', async () => {
  const url = house.intl.baseUrl
  const hook = ['--forward-to', 'http://localhost:1/']
  for (const [words, said] of [
    [['listen', '--key', house.intl.test], /--forward-to: is missing/],
    [['listen', ...hook], /--key: is missing/],
    [['listen', ...hook, '--key', house.intl.live], /--key: must be a test key/],
    [['listen', '--forward-to', 'ftp://a', '--key', house.intl.test], /--forward-to: cannot be/],
    [['listen', ...hook, '--key', house.intl.test, '--events', 'booking.lost'], /--events: cannot hold/],
    [['listen', ...hook, '--key', house.cn.test], /not known here/],
    [['trigger', '--key', house.intl.test], /EVENT: is missing/],
    [['trigger', 'booking.lost', '--key', house.intl.test], /EVENT: cannot be/],
    [['trigger', 'booking.confirmed', '--key', `${house.intl.test}x`], /not whole/],
    [['trigger', 'booking.confirmed', '--key', house.intl.test, '--to', 'XXX'], /IATA/],
  ] as const) {
    const program = run(['bin/airside.js', ...words, '--url', url], {
      AIRSIDE_DATA_DIR: '/nonexistent/airside',
    })
    assert.equal(await program.exited, 1, words.join(' '))
    assert.match(program.said(), said, words.join(' '))
  }
})

test('the stream: ready first, then events as they are committed; it ends with its key', async () => {
  const { key, keyId } = await house.command(
    'key',
    'create',
    '--account',
    house.intl.accountId,
    '--mode',
    'test',
    '--scopes',
    'webhooks',
  )
  const open = (headers: Record<string, string> = {}) =>
    fetch(`${house.intl.baseUrl}/events/stream`, { headers: { authorization: `Bearer ${key}`, ...headers } })
  const response = await open()
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.match(response.headers.get('x-request-id')!, /^req_/)
  let text = ''
  const reading = (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  })()
  await until('ready', () => text.includes('\n\n'))
  assert.equal(text, 'event: ready\ndata: {"signatureHeader":"X-Airside-Signature","mode":"test"}\n\n')
  const bookingId = await booked()
  await until('the event', () => text.includes(bookingId))
  const [, id, event, data] = /id: (evt_\w+)\nevent: (\S+)\ndata: (.*)\n\n$/.exec(text)!
  const { json } = await call(`/events/${id}`)
  assert.equal(event, 'booking.confirmed')
  assert.equal(data, JSON.stringify(json.payload))

  const resumed = await open({ 'last-event-id': id! })
  const reader = resumed.body!.pipeThrough(new TextDecoderStream()).getReader()
  await reader.cancel()
  const wrong = await open({ 'last-event-id': 'evt_x' })
  assert.equal(wrong.status, 400)
  await house.command('key', 'revoke', String(keyId))
  await reading
  assert.equal((await open()).status, 401)
  assert.equal((await call('/events/stream?type=booking.lost')).status, 400)
})

test('at most eight streams of one account are open at once in a thread; one that ends makes room', async () => {
  const key = await stranger()
  const open = () =>
    fetch(`${house.intl.baseUrl}/events/stream`, { headers: { authorization: `Bearer ${key}` } })
  const responses = await Promise.all(Array.from({ length: 20 }, open))
  const refused = responses.filter(({ status }) => status === 503)
  assert.ok(refused.length >= 4, `${refused.length} of 20 were refused by two threads`)
  for (const { headers } of refused) assert.equal(headers.get('retry-after'), '5')
  for (const response of responses) await response.body!.cancel()
  await until('room again', async () => {
    const response = await open()
    await response.body!.cancel()
    return response.status === 200
  })
})

test('the operator lists webhooks, sees deliveries and sends an event again', async () => {
  const { webhookId } = await register('/operator')
  await booked()
  await received('/operator')
  const list = (await house.command('webhook', 'list', '--account', house.intl.accountId)) as {
    webhooks: { webhookId: string; webhookStatus: string }[]
  }
  assert.ok(list.webhooks.some(one => one.webhookId === webhookId && one.webhookStatus === 'active'))
  type Shown = { deliveries: { eventId: string; deliveryStatus: string; attempts: { status: number }[] }[] }
  const shown = async () => (await house.command('webhook', 'deliveries', webhookId)) as Shown
  await until(
    'the delivery has ended',
    async () => (await shown()).deliveries[0]?.deliveryStatus === 'delivered',
  )
  const [delivery] = (await shown()).deliveries
  assert.equal(delivery!.attempts[0]!.status, 200)
  const again = await house.command('event', 'redeliver', delivery!.eventId, '--webhook', webhookId)
  assert.deepEqual(again.redeliveries, [{ webhookId, queued: true }])
  const [first, second] = await received('/operator', 2)
  assert.deepEqual(second!.body, first!.body)
  const enabled = await house.command('webhook', 'enable', webhookId)
  assert.equal(enabled.missedSince, null)
  const since = new Date(Date.now() - 60_000).toISOString()
  const counted = await house.command('webhook', 'recover', webhookId, '--since', since, '--dry-run')
  assert.equal((counted.counts as { delivered: number }).delivered, 1)
  await assert.rejects(house.command('webhook', 'deliveries', `whk_${'0'.repeat(24)}`), /There is no webhook/)
  await assert.rejects(house.command('event', 'redeliver', 'evt_x'), /There is no event/)
  await call(`/webhooks/${webhookId}`, { method: 'DELETE' })
})

test('streams do not hold a stop up', async () => {
  const response = await fetch(`${house.intl.baseUrl}/events/stream`, {
    headers: { authorization: `Bearer ${house.intl.test}` },
  })
  const startedAt = performance.now()
  house.process.kill('SIGTERM')
  await response.text()
  assert.ok(performance.now() - startedAt < 3_000)
})
