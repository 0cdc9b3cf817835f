import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../src/id.ts'
import { Refusal } from '../../src/refusal.ts'
import { networks } from '../../src/webhook/address.ts'
import { disableLane, notify } from '../../src/webhook/delivery/store.ts'
import { enable } from '../../src/webhook/enable.ts'
import type { Owner } from '../../src/webhook/endpoint.ts'
import { EVENT_TYPES, type EventType } from '../../src/webhook/event.ts'
import type { Delivery } from '../../src/webhook/history/delivery.ts'
import { deliveriesOf, getEvent, listDeliveries, listEvents } from '../../src/webhook/history/read.ts'
import { tail } from '../../src/webhook/history/tail.ts'
import { publish } from '../../src/webhook/publish.ts'
import { register } from '../../src/webhook/register.ts'
import { recover } from '../../src/webhook/resend/recover.ts'
import { redeliver } from '../../src/webhook/resend/redeliver.ts'
import { sendTestEvent } from '../../src/webhook/test-event.ts'
import { CHANGED } from '../../src/webhook/wake.ts'
import { cloneDatabase } from '../support/postgres.ts'
import { never, startReceiver, status } from '../support/receiver.ts'
import { addEndpoint, changeOf, openDesk, SECRET_KEY, until } from './support.ts'

const desk = await openDesk()
const { database } = desk
const receiver = await startReceiver(desk.authority.issue(['127.0.0.1']))
await desk.engine({ retryMs: [100, 150, 200] })
after(async () => {
  await desk.close()
  await receiver.close()
})

const ALL = { types: undefined, bookingId: undefined, since: undefined, until: undefined }
const owner: Owner = { accountId: desk.account, mode: 'live' }
const house = { database }

/** An account of a test's own with one endpoint. */
async function partner(path: string, events?: readonly EventType[]) {
  const mine: Owner = { accountId: newId('acc'), mode: 'live' }
  const { id, seq } = await addEndpoint(
    database,
    mine.accountId,
    receiver.url(path),
    events === undefined ? {} : { events },
  )
  const happen = async (count: number, type: EventType = 'booking.confirmed') => {
    const bookings = Array.from({ length: count }, () => newId('bkg'))
    for (const booking of bookings)
      await database.transaction(tx => publish(tx, changeOf(mine.accountId, booking), type))
    return bookings
  }
  const settled = (count: number) =>
    until(`${count} deliveries have ended`, async () => (await all(mine, id)).filter(ended).length >= count)
  return { mine, id, seq, happen, settled }
}

/** Disables an endpoint; its sender has let go when this resolves. */
async function disable(seq: number): Promise<void> {
  await disableLane(database, seq, 'operator')
  await notify(database, CHANGED, String(seq))
  await until('the sender has let go', async () => {
    const [lane] = await database.query<{ owner: number | null }>(
      'select owner from lane where endpoint = $1',
      [seq],
    )
    return lane!.owner === null
  })
}

const ended = ({ state }: Delivery) => state !== 'pending'

async function all(mine: Owner, id: string, limit = 3): Promise<Delivery[]> {
  const seen: Delivery[] = []
  let cursor: string | undefined
  do {
    const page = await listDeliveries(house, mine, id, undefined, { limit, cursor })
    assert.ok(page.deliveries.length <= limit)
    seen.push(...page.deliveries)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return seen
}

const refused = (code: string, param?: string) => (error: unknown) =>
  error instanceof Refusal && error.code === code && error.more.param === param

test('deliveries are listed page by page, each once: pending ones first, then the latest that ended', async () => {
  const { mine, id, happen, settled } = await partner('/listed')
  await happen(4)
  await settled(4)
  receiver.behave('/listed', status(503))
  await happen(3)
  await settled(7)
  receiver.behave('/listed', never)
  await happen(3)
  for (const limit of [1, 2, 3, 100]) {
    const seen = await all(mine, id, limit)
    assert.equal(new Set(seen.map(one => one.eventId)).size, 10, `pages of ${limit}`)
    assert.deepEqual(
      seen.map(one => one.state),
      [...Array(3).fill('pending'), ...Array(3).fill('exhausted'), ...Array(4).fill('delivered')],
    )
  }
  const { deliveries: pending } = await listDeliveries(house, mine, id, 'pending', {
    limit: 5,
    cursor: undefined,
  })
  assert.equal(pending.length, 3)
  assert.ok(pending.every(one => one.nextAttemptAt !== undefined))
  for (const [state, count] of [
    ['delivered', 4],
    ['exhausted', 3],
  ] as const) {
    const page = await listDeliveries(house, mine, id, state, { limit: count, cursor: undefined })
    assert.deepEqual(new Set(page.deliveries.map(one => one.state)), new Set([state]))
    assert.equal(page.nextCursor, undefined)
  }
  const exhausted = (await all(mine, id)).find(one => one.state === 'exhausted')!
  assert.deepEqual(
    exhausted.attempts.map(({ n, status, reason }) => [n, status, reason]),
    [1, 2, 3, 4].map(n => [n, 503, 'status_503']),
  )
  const [first] = exhausted.attempts
  assert.equal(first!.peer, '127.0.0.1')
  assert.ok(first!.headersMs! >= 0)
  for (const cursor of ['x', 'ZXZ0', Buffer.from('evt_x 2026').toString('base64url'), `${newId('bkg')}`])
    await assert.rejects(
      listDeliveries(house, mine, id, undefined, { limit: 1, cursor }),
      refused('invalid_params', 'cursor'),
    )
  receiver.behave('/listed', status(200))
})

test('what the receiver answered is kept, and shown to its owner alone', async () => {
  const { mine, id, happen, settled } = await partner('/answers')
  receiver.behave('/answers', response => response.end(Buffer.from([0x6f, 0x6b, 0x00, 0xff, 0x0a])))
  await happen(1)
  await settled(1)
  const [delivery] = await all(mine, id)
  assert.deepEqual(delivery!.attempts[0]!.answer, Buffer.from([0x6f, 0x6b, 0x00, 0xff, 0x0a]))
  await assert.rejects(
    listDeliveries(house, owner, id, undefined, { limit: 1, cursor: undefined }),
    refused('not_found'),
  )
})

test('events are listed newest first, narrowed by type, booking and time, page by page', async () => {
  const { mine, happen } = await partner('/events')
  const bookings = await happen(5)
  await happen(2, 'booking.cancelled')
  const page = (filter: Partial<typeof ALL>, limit = 100, cursor?: string) =>
    listEvents(house, mine, { ...ALL, ...filter } as typeof ALL, { limit, cursor })
  const { events } = await page({})
  assert.equal(events.length, 7)
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map(({ seq }) => seq).sort((a, b) => b - a),
  )
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const part = await page({}, 2, cursor)
    seen.push(...part.events.map(({ id }) => id))
    cursor = part.nextCursor
  } while (cursor !== undefined)
  assert.deepEqual(
    seen,
    events.map(({ id }) => id),
  )
  const types = ['booking.cancelled'] as unknown as undefined
  assert.equal((await page({ types })).events.length, 2)
  const bookingId = bookings[2] as unknown as undefined
  assert.deepEqual(
    (await page({ bookingId })).events.map(event => event.bookingId),
    [bookings[2]],
  )
  const since = events[3]!.createdAt as unknown as undefined
  assert.ok((await page({ since })).events.length >= 4)
  assert.equal((await page({ until: new Date(0) as unknown as undefined })).events.length, 0)
  await assert.rejects(page({}, 1, 'nonsense'), refused('invalid_params', 'cursor'))
})

test('redelivery: the same id and bytes as a new series; repeated while it is pending it changes nothing', async () => {
  const { mine, id, happen, settled } = await partner('/again')
  const other = await addEndpoint(database, mine.accountId, receiver.url('/again-other'), {
    events: ['booking.failed'],
  })
  await happen(1)
  await settled(1)
  const [event] = (await listEvents(house, mine, ALL, { limit: 1, cursor: undefined })).events
  assert.deepEqual(
    (await redeliver(house, mine, event!.id, undefined)).map(({ webhookId, queued }) => [webhookId, queued]),
    [[id, true]],
  )
  await settled(2)
  const [first, second] = receiver.of('/again')
  assert.deepEqual(second!.body, first!.body)
  assert.equal(second!.headers['webhook-id'], first!.headers['webhook-id'])
  assert.equal(second!.headers['x-airside-attempt'], '1')

  receiver.behave('/again', never)
  await redeliver(house, mine, event!.id, id)
  const [repeated] = await redeliver(house, mine, event!.id, id)
  assert.equal(repeated!.queued, false)
  receiver.behave('/again', status(200))
  // One that does not ask for the type gets it when it is named.
  assert.equal((await redeliver(house, mine, event!.id, other.id))[0]!.queued, true)
  await until('the other one has it', () => receiver.of('/again-other').length === 1)
  const deliveries = await deliveriesOf(house, mine, await getEvent(house, mine, event!.id))
  assert.deepEqual(
    deliveries.map(one => [one.webhookId, one.series]).sort(),
    [
      [id, 2],
      [other.id, 1],
    ].sort(),
  )

  await assert.rejects(redeliver(house, owner, event!.id, undefined), refused('not_found'))
  await assert.rejects(redeliver(house, mine, event!.id, newId('whk')), refused('not_found'))
  await assert.rejects(redeliver(house, mine, 'evt_x', undefined), refused('not_found'))
})

test('a test event is sent again to the webhook it was made for, and is not recovered', async () => {
  const { mine, id, settled } = await partner('/test-again')
  await addEndpoint(database, mine.accountId, receiver.url('/test-again-other'))
  const since = new Date(Date.now() - 60_000)
  const { eventId } = await sendTestEvent(house, mine, id, undefined, Date.now())
  await settled(1)
  assert.deepEqual(
    (await redeliver(house, mine, eventId, undefined)).map(({ webhookId }) => webhookId),
    [id],
  )
  await settled(2)
  assert.equal(receiver.of('/test-again-other').length, 0)
  const { counts } = await recover(house, mine, id, { since, until: new Date() }, true)
  assert.deepEqual(counts, { delivered: 0, pending: 0, exhausted: 0, missed: 0 })
})

test('recovery of a window: the dry run counts what the real one sends, paced; both may be repeated', async () => {
  const { mine, id, seq, happen, settled } = await partner('/recovered', [
    'booking.confirmed',
    'booking.failed',
  ])
  const since = new Date(Date.now() - 60_000)
  await happen(3)
  await settled(3)
  receiver.behave('/recovered', status(500))
  await happen(4)
  await settled(7)
  await disable(seq)
  await happen(20, 'booking.failed')
  await happen(2, 'booking.updated')
  const window = { since, until: new Date(Date.now() + 60_000) }
  const dry = await recover(house, mine, id, window, true)
  assert.deepEqual(dry.counts, { delivered: 3, pending: 0, exhausted: 4, missed: 20 })
  assert.deepEqual([dry.queued, dry.more], [24, false])
  await assert.rejects(recover(house, mine, id, window, false), refused('invalid_params', 'id'))
  const { missedSince, webhook } = await enable(house, mine, id)
  assert.equal(webhook.state, 'open')
  assert.ok(missedSince! <= new Date() && missedSince! >= since)

  receiver.behave('/recovered', status(200))
  const before = receiver.of('/recovered').length
  const startedAt = performance.now()
  const real = await recover(house, mine, id, window, false)
  assert.deepEqual([real.counts, real.queued], [dry.counts, dry.queued])
  const again = await recover(house, mine, id, window, false)
  assert.equal(again.queued, 0, 'all of it is on its way, or has arrived')
  assert.equal(again.counts.exhausted + again.counts.missed, 0)
  await until('all have arrived', () => receiver.of('/recovered').length === before + 24)
  const tookMs = performance.now() - startedAt
  assert.ok(tookMs > 1_050 && tookMs < 4_000, `24 at 20 a second took ${tookMs} ms`)
  await settled(7 + 24)
  const final = await recover(house, mine, id, window, true)
  assert.deepEqual(final.counts, { delivered: 27, pending: 0, exhausted: 0, missed: 0 })
  assert.equal(final.queued, 0)
  const ids = receiver
    .of('/recovered')
    .slice(before)
    .map(({ headers }) => headers['webhook-id'])
  assert.equal(new Set(ids).size, 24)
  await assert.rejects(recover(house, owner, id, window, true), refused('not_found'))
})

test('a disabled webhook takes no test event and no redelivery until it is enabled; enabling twice is harmless', async () => {
  const { mine, id, seq, happen, settled } = await partner('/disabled')
  await happen(1)
  await settled(1)
  const [event] = (await listEvents(house, mine, ALL, { limit: 1, cursor: undefined })).events
  await disable(seq)
  await assert.rejects(sendTestEvent(house, mine, id, undefined, Date.now()), refused('invalid_params', 'id'))
  await assert.rejects(redeliver(house, mine, event!.id, id), refused('invalid_params', 'webhookId'))
  assert.deepEqual(await redeliver(house, mine, event!.id, undefined), [])
  await happen(1)
  const { missedSince } = await enable(house, mine, id)
  assert.notEqual(missedSince, undefined)
  assert.equal((await enable(house, mine, id)).missedSince, undefined)
  await happen(1)
  await settled(2)
  assert.equal(receiver.of('/disabled').length, 2)
})

test('a tail misses nothing, however late a transaction with a lower number commits, and repeats nothing', async () => {
  const mine: Owner = { accountId: newId('acc'), mode: 'live' }
  await database.transaction(tx => publish(tx, changeOf(mine.accountId, newId('bkg')), 'booking.confirmed'))
  const following = await tail(database, mine, undefined, undefined)
  const seen: string[] = []
  let writing = true
  const reading = (async () => {
    for (let quiet = 0; quiet < 5; ) {
      const { events } = await following.next()
      seen.push(...events.map(({ bookingId }) => bookingId!))
      quiet = writing || events.length > 0 ? 0 : quiet + 1
      await sleep(10)
    }
  })()
  const written: string[] = []
  await Promise.all(
    Array.from({ length: 6 }, async (_, writer) => {
      for (let i = 0; i < 15; i++) {
        const booking = newId('bkg')
        await database.transaction(async tx => {
          await publish(tx, changeOf(mine.accountId, booking), 'booking.confirmed')
          await sleep(writer === 0 ? 150 : Math.random() * 20)
          if (i % 5 === 4) await tx.query('select 1')
        })
        written.push(booking)
      }
    }),
  )
  writing = false
  await reading
  assert.equal(seen.length, new Set(seen).size, 'nothing comes twice')
  assert.deepEqual(seen.sort(), written.sort())
})

test('a tail that waits on an empty database hears its very first event', async () => {
  const fresh = await cloneDatabase()
  try {
    const mine = { accountId: newId('acc'), mode: 'live' as const }
    const following = await tail(fresh.database, mine, undefined, undefined)
    for (let looks = 0; looks < 3; looks++) assert.equal((await following.next()).events.length, 0)
    const first = newId('bkg')
    await fresh.database.transaction(tx => publish(tx, changeOf(mine.accountId, first), 'booking.confirmed'))
    assert.deepEqual(
      (await following.next()).events.map(({ bookingId }) => bookingId),
      [first],
    )
  } finally {
    await fresh.drop()
  }
})

test('a tail follows its own account, mode and types, and goes on where it was', async () => {
  const { mine, happen } = await partner('/tail')
  const following = await tail(database, mine, ['booking.failed'], undefined)
  await happen(2)
  const [failed] = await happen(1, 'booking.failed')
  await database.transaction(tx => publish(tx, changeOf(newId('acc'), newId('bkg')), 'booking.failed'))
  await database.transaction(tx =>
    publish(tx, { ...changeOf(mine.accountId, newId('bkg')), mode: 'test' }, 'booking.failed'),
  )
  assert.deepEqual(
    (await following.next()).events.map(({ bookingId }) => bookingId),
    [failed],
  )
  assert.equal((await following.next()).events.length, 0)
  const [last] = (await listEvents(house, mine, ALL, { limit: 1, cursor: undefined })).events
  const [missed] = await happen(1, 'booking.cancelled')
  const resumed = await tail(database, mine, undefined, last!.id)
  const { events } = await resumed.next()
  assert.equal(events.at(-1)!.bookingId, missed)
  // What happened within a minute before may have been committed late, and comes again.
  assert.equal(events.length, 4)
})

test('4.4 a name is judged by all it resolves to; one that does not resolve yet, or not in time, is taken', async () => {
  const resolver = (four: string[] | 'none' | 'silent', six: string[] = []) => ({
    resolve4: async () => {
      if (four === 'silent') return new Promise<string[]>(() => {})
      if (four === 'none') throw new Error('ENOTFOUND')
      return four
    },
    resolve6: async () => {
      if (six.length === 0) throw new Error('ENODATA')
      return six
    },
  })
  const mine: Owner = { accountId: newId('acc'), mode: 'test' }
  const attempt = (answers: ReturnType<typeof resolver>, allow: string[] = []) =>
    register(
      {
        database,
        secretKey: SECRET_KEY,
        allow: networks(allow),
        resolver: answers as unknown as Parameters<typeof register>[0]['resolver'],
      },
      mine,
      { url: 'https://hooks.example.com/', events: [...EVENT_TYPES], secret: undefined },
    )
  for (const [four, six] of [
    [['127.0.0.1'], []],
    [['10.1.2.3'], []],
    [['93.184.215.14', '192.168.0.1'], []],
    [['93.184.215.14'], ['::1']],
    [['93.184.215.14'], ['fd00::1']],
    ['none', ['fe80::1']],
    [['169.254.169.254'], []],
  ] as const) {
    await assert.rejects(
      attempt(resolver(typeof four === 'string' ? four : [...four], [...six])),
      refused('invalid_params', 'url'),
      `${four} ${six}`,
    )
  }
  await attempt(resolver(['93.184.215.14'], ['2606:2800:21f:cb07:6820:80da:af6b:8b2c']))
  await attempt(resolver('none'))
  await attempt(resolver('silent'))
  await attempt(resolver(['10.1.2.3']), ['10.0.0.0/8'])
})

test('nothing that was owed is unaccounted for', async () => {
  await until('the audit balances', async () => (await desk.unaccounted()) === 0)
})
