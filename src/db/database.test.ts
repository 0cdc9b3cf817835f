import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { emptyDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import { connect, type Database, type Queryable } from './database.ts'
import { DatabaseBusy, isUnavailable } from './failure.ts'

let place: TestDatabase
let db: Database

before(async () => {
  place = await emptyDatabase()
  db = place.database
  await db.query('create table item (id int primary key, word text)')
})
beforeEach(() => db.query('truncate item'))
after(() => place.drop())

/** A database of one connection, so that a test knows which one it gets; closed at the end of `work`. */
async function withOne<T>(work: (one: Database) => Promise<T>, limits = {}): Promise<T> {
  const one = connect({ ...place.options, poolMax: 1, ...limits })
  try {
    return await work(one)
  } finally {
    await one.close()
  }
}

const backend = async (on: Queryable) =>
  (await on.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]!.pid
const kill = (pid: number) => db.query('select pg_terminate_backend($1, 5000)', [pid])
const words = async () =>
  (await db.query<{ word: string }>('select word from item order by id')).map(row => row.word)

describe('values', () => {
  it('come as numbers, texts, instants and bytes', async () => {
    const [row] = await db.query(
      `select 9007199254740991 as int8, array[1::int8, null] as int8s, 0.10::numeric as numeric, date '2026-02-03' as date,
        array[date '2026-02-03'] as dates, timestamp '2026-02-03 04:05' as local, timestamptz '2026-02-03 04:05+02' as instant,
        '\\x00ff'::bytea as bytes, '{"a":[1]}'::jsonb as json, $1::text as absent, $2::text[] as texts`,
      [undefined, ['a,b', null]],
    )
    assert.deepEqual(row, {
      int8: Number.MAX_SAFE_INTEGER,
      int8s: [1, null],
      numeric: '0.10',
      date: '2026-02-03',
      dates: ['2026-02-03'],
      local: '2026-02-03 04:05:00',
      instant: new Date('2026-02-03T02:05:00Z'),
      bytes: Buffer.from([0, 255]),
      json: { a: [1] },
      absent: null,
      texts: ['a,b', null],
    })
  })

  it('refuses an int8 that a number cannot hold', () =>
    withOne(async one => {
      await assert.rejects(one.query('select 9007199254740993 as big'), RangeError)
      assert.equal((await one.query('select 1 as one')).length, 1)
    }))
})

describe('a statement', () => {
  it('is prepared once per connection', () =>
    withOne(async one => {
      for (let i = 0; i < 3; i++) await one.query('select $1::int + 1 as prepared_once', [i])
      const rows = await one.query<{ calls: number }>(
        "select generic_plans + custom_plans as calls from pg_prepared_statements where statement like '%prepared\\_once'",
      )
      assert.deepEqual(rows, [{ calls: 3 }])
    }))

  it('that fails leaves its connection as it was', () =>
    withOne(async one => {
      const before = await backend(one)
      await one.query("insert into item values (1, 'a')")
      await assert.rejects(one.query("insert into item values (1, 'b')"), { code: '23505' })
      await assert.rejects(one.query('selec'), { code: '42601' })
      assert.equal(await backend(one), before)
    }))

  it('cannot leave a transaction open for the next caller', () =>
    withOne(async one => {
      await one.query('begin')
      await one.query("insert into item values (1, 'kept')")
      assert.deepEqual(await words(), ['kept'])
    }))

  it('whose columns a migration changed works again after one failure', () =>
    withOne(async one => {
      await one.query('create table moving (a int)')
      await one.query('select * from moving')
      await db.query('alter table moving add b text')
      await assert.rejects(one.query('select * from moving'), isUnavailable)
      assert.deepEqual(await one.query('select * from moving'), [])
    }))

  it('gives up at the limits of time, on the server', async () => {
    const limits = { statementTimeoutMs: 200, lockTimeoutMs: 100 }
    await withOne(async one => {
      await assert.rejects(one.query('select pg_sleep(5)'), { code: '57014' })
      await db.query("insert into item values (1, 'a')")
      await db.transaction(async tx => {
        await tx.query("update item set word = 'b'")
        await assert.rejects(one.query("update item set word = 'c'"), { code: '55P03' })
      })
      assert.deepEqual(await words(), ['b'])
    }, limits)
  })

  it('gives up on a server that is silent, and the next one gets another connection', () =>
    withOne(
      async one => {
        // The server is told to be patient, so only our own clock can end it.
        await one.query('set statement_timeout = 0')
        const started = performance.now()
        await assert.rejects(one.query('select pg_sleep(3)'), isUnavailable)
        assert.ok(performance.now() - started < 1000)
        assert.equal((await one.query('select 1')).length, 1)
      },
      { statementTimeoutMs: 100 },
    ))
})

describe('a transaction', () => {
  it('keeps all or nothing', async () => {
    await db.transaction(async tx => {
      await Promise.all([1, 2, 3].map(id => tx.query('insert into item values ($1, $2)', [id, 'kept'])))
    })
    const failure = new Error('changed my mind')
    await assert.rejects(
      db.transaction(async tx => {
        await tx.query("insert into item values (4, 'lost')")
        throw failure
      }),
      failure,
    )
    assert.deepEqual(await words(), ['kept', 'kept', 'kept'])
  })

  it('returns what its work returns, also without a statement', async () => {
    assert.equal(await db.transaction(async () => 'nothing done'), 'nothing done')
    const rows = await db.transaction(tx => tx.query('insert into item values (1, $1) returning *', ['a']))
    assert.deepEqual(rows, [{ id: 1, word: 'a' }])
  })

  it('rejects when a failed statement was swallowed, and keeps nothing', async () => {
    await assert.rejects(
      db.transaction(async tx => {
        await tx.query("insert into item values (1, 'a')")
        await tx.query("insert into item values (1, 'again')").catch(() => {})
      }),
      { message: 'the transaction was rolled back' },
    )
    assert.deepEqual(await words(), [])
  })

  it('opens with its first statement in one go: an error in BEGIN keeps that statement from running', () =>
    withOne(async one => {
      const insert = (tx: Queryable) => tx.query("insert into item values (1, 'alone')")
      // Prepare BEGIN on the connection, then take it away, so that BEGIN itself fails.
      await one.transaction(tx => tx.query('select 1'))
      await one.query('deallocate begin')
      await assert.rejects(
        one.transaction(async tx => {
          await Promise.all([insert(tx), tx.query("insert into item values (2, 'behind')")])
        }),
        isUnavailable,
      )
      assert.deepEqual(await words(), [])
      await one.transaction(insert)
      assert.deepEqual(await words(), ['alone'])
    }))

  it('takes no statement after its end', async () => {
    let escaped: Queryable | undefined
    await db.transaction(async tx => {
      await tx.query('select 1')
      escaped = tx
    })
    await assert.rejects(escaped!.query("insert into item values (1, 'late')"), /is over/)
    assert.deepEqual(await words(), [])
  })

  it('left idle is ended by the server', () =>
    withOne(
      async one => {
        await assert.rejects(
          one.transaction(async tx => {
            await tx.query("insert into item values (1, 'a')")
            await sleep(400)
          }),
          isUnavailable,
        )
        assert.equal((await one.query('select 1')).length, 1)
      },
      { idleInTransactionTimeoutMs: 100 },
    ))
})

describe('when the backend dies', () => {
  const insert = (tx: Queryable, id: number) => tx.query("insert into item values ($1, 'x')", [id])

  it('idle in a transaction: that transaction fails, the next works', () =>
    withOne(async one => {
      await assert.rejects(
        one.transaction(async tx => {
          await insert(tx, 1)
          await kill(await backend(tx))
          await insert(tx, 2)
        }),
        isUnavailable,
      )
      assert.deepEqual(await words(), [])
      await one.transaction(tx => insert(tx, 3))
      assert.equal((await words()).length, 1)
    }))

  it('while a statement runs: it rejects', () =>
    withOne(async one => {
      const pid = await backend(one)
      const running = assert.rejects(one.query('select pg_sleep(10)'), isUnavailable)
      await sleep(50)
      await kill(pid)
      await running
      const inside = assert.rejects(
        one.transaction(async tx => {
          await insert(tx, 1)
          setTimeout(kill, 50, await backend(tx))
          await Promise.all([tx.query('select pg_sleep(10)'), insert(tx, 2)])
        }),
        isUnavailable,
      )
      await inside
      assert.deepEqual(await words(), [])
    }))

  it('with calls queued: they get a new connection', () =>
    withOne(async one => {
      const pid = await backend(one)
      const running = assert.rejects(one.query('select pg_sleep(10)'), isUnavailable)
      const queued = [1, 2, 3].map(id => one.transaction(tx => insert(tx, id)))
      await sleep(50)
      await kill(pid)
      await running
      await Promise.all(queued)
      assert.equal((await words()).length, 3)
    }))

  it('while the work awaits something else: no later statement runs alone', () =>
    withOne(async one => {
      await assert.rejects(
        one.transaction(async tx => {
          await insert(tx, 1)
          const pid = await backend(tx)
          await Promise.all([sleep(100), kill(pid)])
          await insert(tx, 2)
        }),
        isUnavailable,
      )
      assert.deepEqual(await words(), [])
      // And without a further statement, COMMIT must notice.
      await assert.rejects(
        one.transaction(async tx => {
          await insert(tx, 1)
          await kill(await backend(tx))
          await sleep(50)
        }),
        isUnavailable,
      )
      assert.deepEqual(await words(), [])
    }))

  it('and the error is swallowed: the transaction rejects all the same', () =>
    withOne(async one => {
      await assert.rejects(
        one.transaction(async tx => {
          await insert(tx, 1)
          await kill(await backend(tx))
          await insert(tx, 2).catch(() => {})
          await insert(tx, 3).catch(() => {})
        }),
        isUnavailable,
      )
      assert.deepEqual(await words(), [])
      assert.equal((await one.query('select 1')).length, 1)
    }))

  it('again and again: every call settles, and what was kept is what was said', async () => {
    const many = connect({ ...place.options, poolMax: 4 })
    const kept = new Set<number>()
    const unknown = new Set<number>()
    const until = performance.now() + 2000
    let id = 0
    const clients = Array.from({ length: 16 }, async () => {
      while (performance.now() < until) {
        const mine = ++id
        await many
          .transaction(async tx => {
            await insert(tx, mine)
            await tx.query('select pg_sleep(0.001)')
          })
          .then(
            () => kept.add(mine),
            error => (isUnavailable(error) ? unknown.add(mine) : assert.fail(error)),
          )
      }
    })
    const killer = (async () => {
      while (performance.now() < until) {
        await sleep(50)
        await db.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database() and random() < 0.7',
        )
      }
    })()
    await Promise.all([...clients, killer])
    // The last ones killed while idle are noticed now.
    await sleep(100)
    const stored = (await db.query<{ id: number }>('select id from item')).map(row => row.id)
    assert.ok(kept.size > 100 && unknown.size > 10, `kept ${kept.size}, unknown ${unknown.size}`)
    assert.deepEqual(
      [...kept].filter(each => !stored.includes(each)),
      [],
    )
    assert.deepEqual(
      stored.filter(each => !kept.has(each) && !unknown.has(each)),
      [],
    )
    assert.equal((await many.query('select 1')).length, 1)
    await many.close()
  })
})

describe('the queue for a connection', () => {
  it('is bounded in length and in time', () =>
    withOne(
      async one => {
        const running = one.query('select pg_sleep(0.3)')
        await sleep(20)
        const waits = [1, 2].map(() => assert.rejects(one.query('select 1'), DatabaseBusy))
        await assert.rejects(one.query('select 1'), { name: 'DatabaseBusy', message: /2 callers wait/ })
        await Promise.all(waits)
        await running
        assert.equal((await one.query('select 1')).length, 1)
      },
      { queueMax: 2, queueTimeoutMs: 100 },
    ))

  it('is served in order', () =>
    withOne(async one => {
      const order: number[] = []
      await Promise.all([1, 2, 3, 4].map(n => one.query('select 1').then(() => order.push(n))))
      assert.deepEqual(order, [1, 2, 3, 4])
    }))
})

describe('a database that cannot be reached', () => {
  it('is unavailable, at once', async () => {
    const nowhere = connect({ url: 'postgresql://airside@127.0.0.1:1/none' })
    await assert.rejects(nowhere.query('select 1'), isUnavailable)
    await assert.rejects(
      nowhere.transaction(tx => tx.query('select 1')),
      isUnavailable,
    )
    await nowhere.close()
  })

  it('is told from a wrong statement', () => {
    assert.equal(isUnavailable(Object.assign(new Error('no such file'), { syscall: 'open' })), false)
    assert.equal(isUnavailable(new TypeError('x')), false)
    return assert.rejects(db.query('select nothing'), error => !isUnavailable(error))
  })
})

describe('close', () => {
  it('lets running work finish and takes no more', async () => {
    const one = connect({ ...place.options, poolMax: 1 })
    const running = one.query<{ done: boolean }>('select pg_sleep(0.1) is not null as done')
    await sleep(20)
    const queued = assert.rejects(one.query('select 1'), /closed/)
    await one.close()
    assert.deepEqual(await running, [{ done: true }])
    await queued
    await assert.rejects(one.query('select 1'), /closed/)
  })
})
