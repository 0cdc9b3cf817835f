import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createLog } from '../../src/log.ts'
import { registry } from '../../src/metrics.ts'
import { logDays } from '../../src/webhook/upkeep/store.ts'
import { audit, endClosed, judgeFailing, keepDays, measure } from '../../src/webhook/upkeep/upkeep.ts'
import { type Receiver, startReceiver, status } from '../support/receiver.ts'
import { type Desk, openDesk, until } from './support.ts'

let desk: Desk
let receiver: Receiver
const needs = () => ({
  database: desk.database,
  region: 'intl' as const,
  log: createLog('silent', 'test'),
  disableAfterHours: 72,
})

before(async () => {
  desk = await openDesk()
  receiver = await startReceiver(desk.authority.issue(['127.0.0.1']))
})
afterEach(() => desk.quiet())
after(async () => {
  await desk.close()
  await receiver.close()
})

async function lane(
  seq: number,
): Promise<{ state: string; disabled_reason: string | null; noticed: boolean }> {
  const [row] = await desk.database.query<{
    state: string
    disabled_reason: string | null
    noticed: boolean
  }>('select state, disabled_reason, noticed_at is not null as noticed from lane where endpoint = $1', [seq])
  return row!
}

test('the days of the log are made a week ahead and dropped after thirty', async () => {
  const before = await logDays(desk.database)
  assert.equal(before.length, 9)
  await desk.database.query(
    "create table attempt_20200101 partition of attempt for values from ('2020-01-01 00:00:00+00') to ('2020-01-02 00:00:00+00')",
  )
  await keepDays(desk.database)
  assert.deepEqual(await logDays(desk.database), before)
})

test('results are written even when the days of the log are missing: they are made', async () => {
  for (const day of await logDays(desk.database))
    await desk.database.query(`drop table attempt_${day.replaceAll('-', '')}`)
  const endpoint = await desk.endpoint(receiver.url('/day'))
  await desk.engine()
  await desk.publish(3)
  await until('settled', async () => (await desk.live()) === 0)
  assert.equal((await desk.attempts(endpoint.seq)).length, 3)
  assert.equal(receiver.of('/day').length, 3)
})

test('an endpoint that fails is noticed after a day, disabled after three with twenty exhausted, and its rows end', async () => {
  const failing = await desk.endpoint(receiver.url('/failing'))
  const healthy = await desk.endpoint(receiver.url('/healthy'))
  receiver.behave('/failing', status(500))
  await desk.engine({ retryMs: [] })
  await desk.publish(20)
  await until('exhausted', async () => (await desk.live()) === 0)
  const age = (hours: number) =>
    desk.database.query(
      'update lane set failing_since = now() - make_interval(hours => $1) where failing_since is not null',
      [hours],
    )
  await judgeFailing(needs())
  assert.deepEqual(await lane(failing.seq), { state: 'open', disabled_reason: null, noticed: false })
  await age(25)
  await judgeFailing(needs())
  assert.deepEqual(await lane(failing.seq), { state: 'open', disabled_reason: null, noticed: true })
  await age(73)
  await judgeFailing({ ...needs(), disableAfterHours: 0 })
  assert.equal((await lane(failing.seq)).state, 'open')
  await judgeFailing(needs())
  assert.deepEqual(await lane(failing.seq), { state: 'disabled', disabled_reason: 'failing', noticed: true })
  assert.equal((await lane(healthy.seq)).state, 'open')
  // A transaction that began before may still leave a row.
  await desk.database.query(
    'insert into delivery (endpoint, event, event_at) select $1, seq, created_at from event order by seq desc limit 1',
    [failing.seq],
  )
  await desk.database.query('update event set owed = owed + 1 where seq = (select max(seq) from event)')
  assert.equal(await endClosed(desk.database), 1)
  const attempts = await desk.attempts(failing.seq)
  assert.deepEqual(
    [attempts.at(-1)!.reason, attempts.at(-1)!.final, attempts.at(-1)!.n],
    ['endpoint_disabled', true, 0],
  )
})

test('the audit is 0, and counts exactly what is lost', async () => {
  await desk.endpoint(receiver.url('/audited'))
  const engine = await desk.engine()
  await desk.publish(10)
  await until('settled', async () => (await desk.live()) === 0)
  await engine.stop()
  await desk.publish(4)
  const healthy = await audit(desk.database)
  await desk.database.query(
    'delete from delivery where event in (select event from delivery order by event limit 3)',
  )
  await measure(needs())
  assert.equal((await audit(desk.database)) - healthy, 3)
  assert.match(await registry.metrics(), /airside_webhook_unaccounted_total\{region="intl"\} [1-9]/)
})

test('hours whose deliveries have all ended are counted once and remembered', async () => {
  await desk.database.query("update event set created_at = created_at - interval '3 hours'")
  await desk.database.query("update attempt set event_at = event_at - interval '3 hours'")
  await desk.database.query('delete from delivery')
  await desk.database.query(
    `update event e set owed = (select count(*) from attempt a where a.event = e.seq and a.final and a.series = 0)`,
  )
  assert.equal(await audit(desk.database), 0)
  const [row] = await desk.database.query<{ n: number }>(
    'select count(*)::int as n from audited_hour where owed > 0',
  )
  assert.ok(row!.n > 0)
  await desk.database.query('delete from attempt')
  assert.equal(await audit(desk.database), 0)
})
