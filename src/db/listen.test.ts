import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { emptyDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import { connect } from './database.ts'

let place: TestDatabase
before(async () => {
  place = await emptyDatabase()
})
after(() => place.drop())

const notify = (channel: string, payload: string) =>
  place.database.query('select pg_notify($1, $2)', [channel, payload])

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !condition(); i++) await sleep(10)
  assert.ok(condition())
}

it('hears its channels until told to stop', async () => {
  const heard: string[] = []
  const stopA = await place.database.listen('a', payload => heard.push(`a ${payload}`))
  const stopB = await place.database.listen('B "quoted"', payload => heard.push(`b ${payload}`))
  await notify('a', '1')
  await notify('B "quoted"', '2')
  await notify('c', '3')
  await until(() => heard.length === 2)
  await stopA()
  await notify('a', '4')
  await notify('B "quoted"', '5')
  await until(() => heard.length === 3)
  assert.deepEqual(heard, ['a 1', 'b 2', 'b 5'])
  await stopB()
})

it('two listeners on a channel are independent', async () => {
  const heard: string[] = []
  const listener = (payload: string) => heard.push(payload)
  const stop = await place.database.listen('twice', listener)
  const stopSecond = await place.database.listen('twice', listener)
  await notify('twice', 'x')
  await until(() => heard.length === 2)
  await stop()
  await notify('twice', 'y')
  await until(() => heard.length === 3)
  await stopSecond()
})

it('listens again after its connection died, and says that something may have been missed', async () => {
  const heard: string[] = []
  const own = connect({ ...place.options, applicationName: 'mortal' })
  await own.listen('again', payload => heard.push(payload))
  await place.database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'mortal listen'",
  )
  await until(() => heard.length === 1)
  await notify('again', 'here')
  await until(() => heard.length === 2)
  assert.deepEqual(heard, ['', 'here'])
  await own.close()
  await assert.rejects(
    own.listen('again', () => {}),
    /closed/,
  )
})

it('rejects when the database cannot be reached', async () => {
  const nowhere = connect({ url: 'postgresql://airside@127.0.0.1:1/none' })
  await assert.rejects(
    nowhere.listen('x', () => {}),
    { code: 'ECONNREFUSED' },
  )
  await nowhere.close()
})
