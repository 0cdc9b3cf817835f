/**
 * Crashes at every statement of a booking: the backend that works for it is terminated before the statement, after it, or at the commit. Whatever
 * was lost, the books balance, a retry of the same request comes to one booking, and reconciliation leaves nothing pending.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { cancelBooking } from '../../src/booking/cancel.ts'
import { reconcile } from '../../src/booking/reconcile.ts'
import { connect, type Database, type Transaction } from '../../src/db/database.ts'
import { newId } from '../../src/id.ts'
import type { Supplier } from '../../src/supplier/supplier.ts'
import { assertBooksBalance } from './oracle.ts'
import { ahead, openShop, requestFor, type Shop } from './shop.ts'

let shop: Shop
let axe: Database
let day = 5
before(async () => {
  shop = await openShop({ bookingWaitMs: 300 })
  axe = connect({ ...shop.place.options, poolMax: 1, applicationName: 'axe' })
})
afterEach(() => assertBooksBalance(shop.database))
after(async () => {
  await axe.close()
  await shop.close()
})

/** How long a pool takes to notice that a connection is gone. */
const NOTICE_MS = 10

/** When a connection dies: before a statement reaches it, or after the statement was done and before the next. */
type Blow = { at: number; when: 'before' | 'after' }

/** A database whose connection dies at the nth statement, commits counted, and is well again afterwards. */
function mortal(blow: Blow): { database: Database; over(): Promise<boolean> } {
  let count = 0
  let struck = false
  let dead: Promise<unknown> = Promise.resolve()
  function kill(pid: number): Promise<unknown> {
    struck = true
    dead = axe.query('select pg_terminate_backend($1, 5000)', [pid])
    return dead
  }
  const now = (when: Blow['when']) => count === blow.at && when === blow.when && !struck
  const database: Database = {
    ...shop.database,
    async query<R>(text: string, values?: readonly unknown[]): Promise<R[]> {
      count++
      // A single statement has no connection of its own that could be named: it fails as if it had been, with its work done or not.
      if (now('before')) {
        struck = true
        throw Object.assign(new Error('Connection terminated unexpectedly'), { simulated: true })
      }
      const rows = await shop.database.query<R>(text, values)
      if (now('after')) {
        struck = true
        throw Object.assign(new Error('Connection terminated unexpectedly'), { simulated: true })
      }
      return rows
    },
    transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
      return shop.database.transaction(async tx => {
        const [backend] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
        const result = await work({
          transaction: true,
          note: tx.note,
          async query<R>(text: string, values?: readonly unknown[]): Promise<R[]> {
            count++
            if (now('before')) await kill(backend!.pid)
            const rows = await tx.query<R>(text, values)
            if (now('after')) await kill(backend!.pid)
            return rows
          },
        })
        count++
        // Dies with the commit under way, or just before: either way the caller hears nothing.
        if (now('before')) await kill(backend!.pid)
        if (now('after')) setImmediate(() => void kill(backend!.pid))
        return result
      })
    },
  }
  return {
    database,
    async over() {
      // A blow at the commit falls after the caller has gone on; then the pool has to notice what it lost.
      await new Promise(resolve => setImmediate(resolve))
      await dead
      await sleep(NOTICE_MS)
      return struck
    },
  }
}

/** Settles all that is pending, as the worker would. */
async function reconcileAll(): Promise<void> {
  await shop.reconcile()
  assert.deepEqual(await shop.database.query(`select id from booking where status = 'pending'`), [])
}

async function bookings(mark: string): Promise<{ id: string; status: string }[]> {
  return shop.database.query('select id, status from booking where offer_hash = sha256($1::text::bytea)', [
    mark,
  ])
}

const direct = async () =>
  (await shop.offers({ departDate: ahead(++day) })).find(
    offer => offer.slices[0]!.segments[0]!.number === '1',
  )!

for (const when of ['before', 'after'] as const) {
  for (const withKey of [true, false]) {
    describe(`a connection lost ${when} each statement of a booking${withKey ? ' with a key' : ''}`, () => {
      it('leaves the books balanced, and the same request comes to one booking', async t => {
        let at = 1
        let outcomes = ''
        for (; ; at++) {
          const offer = await direct()
          const key = withKey ? newId('req') : undefined
          const { database, over } = mortal({ at, when })
          const house = { ...shop.house, database }
          const first = await shop.book(requestFor(offer), { key, house })
          if (!(await over())) {
            assert.equal(first.bookingStatus, 'confirmed')
            break
          }
          await assertBooksBalance(shop.database)
          const made = await bookings(offer.id)
          assert.ok(made.length <= 1)
          outcomes += made[0]?.status[0] ?? '-'
          if (first.status === 200) assert.equal(made[0]?.id, first.bookingId)
          // Every other time the worker comes before the partner's retry. The takeover's time has passed.
          if (at % 2 === 0) await reconcileAll()
          await shop.database.query(
            `update idempotency set running_until = now() - interval '1 second' where status is null`,
          )
          const again = await shop.book(requestFor(offer), { key })
          assert.equal(again.status, 200, `${at}: ${again.code} ${again.error?.stack}`)
          if (made[0] !== undefined) assert.equal(again.bookingId, made[0].id)
          await reconcileAll()
          const final = await bookings(offer.id)
          assert.deepEqual(final, [{ id: again.bookingId, status: 'confirmed' }])
          if (key !== undefined) {
            const replay = await shop.book(requestFor(offer), { key })
            assert.deepEqual([replay.body, replay.replayed], [again.body, true])
          }
          await assertBooksBalance(shop.database)
        }
        t.diagnostic(`${at - 1} statements; what stood after each: ${outcomes}`)
        assert.ok(at > 9)
      })
    })
  }
}

describe('a connection lost at each statement', () => {
  const sellOutThen = (supplier: Supplier): Supplier => ({
    ...supplier,
    async reserve() {
      return { kind: 'refused', reason: 'sold_out' }
    },
    async lookUp() {
      return { kind: 'refused', reason: 'sold_out' }
    },
  })

  it('of a withdrawal leaves nothing, or a booking that fails', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; ; at++) {
        const offer = await direct()
        const { database, over } = mortal({ at, when })
        const [supplier] = shop.house.suppliers.values()
        const house = {
          ...shop.house,
          database,
          suppliers: new Map([[supplier!.name, sellOutThen(supplier!)]]),
        }
        const first = await shop.book(requestFor(offer), { house })
        if (!(await over())) {
          assert.equal(first.code, 'unavailable')
          break
        }
        await assertBooksBalance(shop.database)
        await shop.database.query(`update booking set reconcile_at = now() where status = 'pending'`)
        await reconcile({ ...house, database: shop.database })
        const left = await bookings(offer.id)
        assert.ok(left.every(one => one.status === 'failed'))
      }
    }
  })

  it('of a cancellation leaves it confirmed or cancelled, and the next try cancels it', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; ; at++) {
        const { bookingId } = await shop.book(requestFor(await direct()))
        const { database, over } = mortal({ at, when })
        await cancelBooking({ ...shop.house, database }, bookingId!).catch(() => {})
        if (!(await over())) break
        await assertBooksBalance(shop.database)
        assert.equal(await shop.cancel(bookingId!), 'cancelled')
        await assertBooksBalance(shop.database)
      }
    }
  })

  it('of reconciliation leaves it to the next round', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; ; at++) {
        const offer = await direct()
        const [supplier] = shop.house.suppliers.values()
        const silent = { ...supplier!, reserve: () => Promise.reject(new Error('silence')) }
        const house = { ...shop.house, suppliers: new Map([[silent.name, silent]]) }
        assert.equal((await shop.book(requestFor(offer), { house })).bookingStatus, 'pending')
        await shop.database.query(`update booking set reconcile_at = now() where status = 'pending'`)
        const { database, over } = mortal({ at, when })
        await reconcile({ ...shop.house, database }).catch(() => {})
        const struck = await over()
        await assertBooksBalance(shop.database)
        await reconcileAll()
        assert.equal((await bookings(offer.id))[0]!.status, 'confirmed')
        if (!struck) break
      }
    }
  })
})
