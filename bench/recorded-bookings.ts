/** What a booking says to the database, word for word: bookings made with the real rooms through a database that takes notes. */
import { type BookHouse, book } from '../src/booking/book.ts'
import type { Booking } from '../src/booking/booking.ts'
import { masterSecret } from '../src/databases.ts'
import type { Database, Transaction } from '../src/db/database.ts'
import { type AccountId, isId, type KeyId } from '../src/id.ts'
import { createLog } from '../src/log.ts'
import { offerHash } from '../src/offer/seal.ts'
import type { Caller } from '../src/partner/account.ts'
import { deriveKey } from '../src/secret.ts'
import { readSettings } from '../src/settings.ts'
import { createInventory, INVENTORY } from '../src/supplier/inventory/inventory.ts'
import { loadWorld } from '../src/supplier/inventory/load.ts'
import { rulesOf } from '../src/supplier/inventory/rules.ts'
import { bookingBody } from './offers.ts'

export type Noted = { text: string; values: readonly unknown[] }

/** Statements that were committed together; `explicit` where that took a BEGIN and a COMMIT. */
export type NotedTransaction = { explicit: boolean; statements: readonly Noted[] }

export type RecordedBooking = {
  transactions: readonly NotedTransaction[]
  /** Values that no two bookings share: booking id, offer hash, idempotency key, ids of events. */
  fresh: readonly (string | Buffer)[]
}

/** A database that passes everything on and notes it. */
function taking(notes: NotedTransaction[], database: Database): Database {
  return {
    ...database,
    query(text, values = []) {
      notes.push({ explicit: false, statements: [{ text, values }] })
      return database.query(text, values)
    },
    transaction(work) {
      const statements: Noted[] = []
      notes.push({ explicit: true, statements })
      return database.transaction(tx => {
        const noting: Transaction = {
          transaction: true,
          note: tx.note,
          query(text, values = []) {
            statements.push({ text, values })
            return tx.query(text, values)
          },
        }
        return work(noting)
      })
    },
  }
}

/**
 * Books each offer against the database of a running server, in this process, and returns what was said.
 * @param dataDir the server's, for its master secret
 * @param offers of this account's live key
 */
export async function recordBookings(
  database: Database,
  dataDir: string,
  accountId: string,
  offers: readonly string[],
  idempotent: boolean,
): Promise<RecordedBooking[]> {
  const settings = readSettings({ AIRSIDE_DATA_DIR: dataDir })
  const secret = masterSecret(settings)
  const world = (await loadWorld(database, new Map(), Date.now()))?.world
  const caller: Caller = {
    region: 'intl',
    accountId: accountId as AccountId,
    keyId: 'key_000000000000000000000000' as KeyId,
    mode: 'live',
    plan: 'enterprise',
    currency: 'USD',
    scopes: new Set(['book']),
  }
  const recorded: RecordedBooking[] = []
  for (const [i, offerId] of offers.entries()) {
    const transactions: NotedTransaction[] = []
    const house: BookHouse = {
      database: taking(transactions, database),
      travellerKey: { master: deriveKey(secret, 'traveller data intl'), region: 'intl' },
      log: createLog('warn', 'bench'),
      bookingWaitMs: settings.bookingWaitMs,
      seatsChanged: async () => {},
      suppliers: new Map([[INVENTORY, createInventory(() => world, rulesOf(settings))]]),
      rates: () => world?.rates,
      offerKey: deriveKey(secret, 'offer intl'),
      requestKey: deriveKey(secret, 'request intl'),
      now: Date.now,
    }
    const idempotencyKey = idempotent ? `recorded-${i}` : undefined
    const fresh: (string | Buffer)[] = [offerHash(offerId)]
    if (idempotencyKey !== undefined) fresh.push(idempotencyKey)
    const reply = {
      booking: (booking: Booking) => {
        fresh.push(booking.id)
        return JSON.stringify(booking)
      },
      refusal: (refusal: Error): never => {
        throw refusal
      },
    }
    await book(house, caller, JSON.parse(bookingBody(offerId)), reply, idempotencyKey)
    const said = transactions.flatMap(({ statements }) => statements.flatMap(({ values }) => values))
    fresh.push(...said.filter(value => typeof value === 'string' && isId('evt', value)).map(String))
    recorded.push({ transactions, fresh })
  }
  return recorded
}
