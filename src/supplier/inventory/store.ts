import { createHash } from 'node:crypto'
import type { Queryable, Transaction } from '../../db/database.ts'
import type { FareRow } from '../../timetable/fares.ts'
import type { Cabin } from '../../travel/itinerary.ts'
import type { Mode } from '../supplier.ts'
import type { Generation } from './world.ts'

/** Bytes of the image in one row: a connection carries it without trouble. */
const CHUNK_BYTES = 1 << 20
/** Imports take this advisory lock, so that two of them never mix. */
const IMPORT_LOCK = 0x61697264

export type InventoryState = Generation & { imageHash: string; imageVersion: number; imageBytes: number }

/** Which imports are current. */
export async function readState(db: Queryable): Promise<InventoryState> {
  const rows = await db.query<InventoryState>(
    `select schedule, fares, rates, image_hash as "imageHash", image_version as "imageVersion", image_bytes as "imageBytes"
       from inventory_state`,
  )
  return rows[0]!
}

/** Waits until no other import runs; holds until the transaction ends. */
export async function lockImports(tx: Transaction): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [IMPORT_LOCK])
}

/** The day the demo network was last made, or undefined when it is not in place. */
export async function readDemoDay(db: Queryable): Promise<string | undefined> {
  const rows = await db.query<{ day: string | null }>('select demo_made_on as day from inventory_state')
  return rows[0]!.day ?? undefined
}

/** Notes when the demo network was made; null when it is no longer in place. */
export async function writeDemoDay(db: Queryable, day: string | null): Promise<void> {
  await db.query('update inventory_state set demo_made_on = $1', [day])
}

export type CarrierSource = { carrier: string; ssim: Buffer; legs: number }

/** The schedules of all carriers but the named ones, as they were imported. */
export async function readSources(db: Queryable, except: readonly string[]): Promise<CarrierSource[]> {
  return db.query<CarrierSource>(
    'select carrier, ssim, legs from schedule_source where carrier <> all($1) order by carrier',
    [except],
  )
}

/** Puts carriers' schedules in place of those they had; with `alone`, of everybody's. */
export async function writeSources(
  tx: Transaction,
  sources: readonly CarrierSource[],
  alone: boolean,
): Promise<void> {
  if (alone) await tx.query('delete from schedule_source')
  for (const { carrier, ssim, legs } of sources) {
    await tx.query(
      `insert into schedule_source (carrier, ssim, legs) values ($1, $2, $3)
       on conflict (carrier) do update set ssim = excluded.ssim, legs = excluded.legs, imported_at = now()`,
      [carrier, ssim, legs],
    )
  }
}

/** By what an image is known: equal content, equal hash. */
export function imageHash(image: Uint8Array): string {
  return createHash('sha256').update(image).digest('hex')
}

/** Replaces the stored image and raises the schedule's generation. */
export async function writeImage(
  tx: Transaction,
  image: Uint8Array,
  hash: string,
  version: number,
): Promise<void> {
  await tx.query('delete from timetable_chunk')
  for (let at = 0, position = 0; at < image.length; at += CHUNK_BYTES, position++) {
    await tx.query('insert into timetable_chunk (position, bytes) values ($1, $2)', [
      position,
      Buffer.from(image.subarray(at, at + CHUNK_BYTES)),
    ])
  }
  await tx.query(
    'update inventory_state set schedule = schedule + 1, image_hash = $1, image_version = $2, image_bytes = $3',
    [hash, version, image.length],
  )
  await announce(tx)
}

/** Reads the stored image into a new shared buffer; undefined when its pieces do not make `bytes`. An import meanwhile may mix it with another. */
export async function readImage(db: Queryable, bytes: number): Promise<SharedArrayBuffer | undefined> {
  const buffer = new SharedArrayBuffer(bytes)
  const image = new Uint8Array(buffer)
  let filled = 0
  for (let position = 0; filled < bytes; position++) {
    const rows = await db.query<{ bytes: Buffer }>('select bytes from timetable_chunk where position = $1', [
      position,
    ])
    const piece = rows[0]?.bytes
    if (piece === undefined || filled + piece.length > bytes) return undefined
    image.set(piece, filled)
    filled += piece.length
  }
  return buffer
}

/** Puts a fares file in place of the one before and raises the fares' generation. */
export async function replaceFares(
  tx: Transaction,
  rows: readonly (FareRow & { line: number; perKmText: string })[],
): Promise<void> {
  await tx.query('delete from fare')
  await tx.query(
    `insert into fare (line, carrier, origin, destination, cabin, class, currency, base, per_km, seats)
     select * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::numeric[],
       $10::int[])`,
    [
      rows.map(row => row.line),
      rows.map(row => row.carrier),
      rows.map(row => row.origin),
      rows.map(row => row.destination),
      rows.map(row => row.cabin),
      rows.map(row => row.bookingClass),
      rows.map(row => row.currency),
      rows.map(row => row.base),
      rows.map(row => row.perKmText),
      rows.map(row => row.seats),
    ],
  )
  await tx.query('update inventory_state set fares = fares + 1')
  await announce(tx)
}

type StoredFare = Omit<FareRow, 'perKm'> & { perKm: string }

/** The current fares, in the order of their file; `perKm` as decimal text. */
export async function readFares(db: Queryable): Promise<StoredFare[]> {
  return db.query<StoredFare>(
    `select carrier, origin, destination, cabin, class as "bookingClass", currency, base, per_km as "perKm", seats from fare order by line`,
  )
}

export type StoredRate = { provider: string; asOf: string; currency: string; perEuro: string }

/** Adds the rates of one provider's days; real ones drive the demonstration's out. Raises the rates' generation. */
export async function writeRates(
  tx: Transaction,
  rates: readonly StoredRate[],
  demoProvider: string,
): Promise<void> {
  await tx.query('delete from exchange_rate where provider = $1', [demoProvider])
  await tx.query(
    `insert into exchange_rate (provider, as_of, currency, per_euro)
     select * from unnest($1::text[], $2::date[], $3::text[], $4::numeric[])
     on conflict (provider, as_of, currency) do update set per_euro = excluded.per_euro, imported_at = now()`,
    [
      rates.map(r => r.provider),
      rates.map(r => r.asOf),
      rates.map(r => r.currency),
      rates.map(r => r.perEuro),
    ],
  )
  await tx.query('update inventory_state set rates = rates + 1')
  await announce(tx)
}

/** The rates of the latest day there is. */
export async function readLatestRates(db: Queryable): Promise<StoredRate[]> {
  return db.query<StoredRate>(
    `select provider, as_of as "asOf", currency, per_euro as "perEuro" from exchange_rate
      where (provider, as_of) = (select provider, as_of from exchange_rate order by as_of desc, provider limit 1)
      order by currency`,
  )
}

/** Tells running servers to look; they look every quarter of a second anyway. */
async function announce(tx: Transaction): Promise<void> {
  await tx.query(`select pg_notify('airside', 'inventory')`)
}

/** A booking class on a leg's departure; an empty class is the whole cabin. */
export type SeatKey = { leg: string; departs: string; cabin: Cabin; bookingClass: string }
/** `closed` stands on the row of a cabin, and is null where it never was. */
export type SeatRow = SeatKey & { mode: Mode; sold: number; closed: boolean | null }

/**
 * Sells seats: adds to each row unless that would sell more than `authorised` of it or it is closed, and draws a number for the record locator. Rows are taken in
 * one order, so that two sales never wait for each other.
 * @returns the ordinal, or undefined when any row had too few seats: the caller must roll back
 */
export async function takeSeats(
  tx: Transaction,
  mode: Mode,
  seats: readonly (SeatKey & { authorised: number })[],
  count: number,
): Promise<number | undefined> {
  const rows = await tx.query<{ taken: number; ordinal: number }>(
    `with wanted as (
       select * from unnest($1::text[], $2::date[], $3::text[], $4::text[], $5::int[]) as w(leg, departs, cabin, class, authorised)
     ), taken as (
       insert into seat as s (mode, leg, departs, cabin, class, sold, authorised)
       select $6, leg, departs, cabin, class, $7, authorised from wanted where authorised >= $7
        order by leg, departs, cabin, class
       on conflict (mode, leg, departs, cabin, class) do update
         set sold = s.sold + excluded.sold, authorised = excluded.authorised, changed_by = excluded.changed_by
         where s.sold + excluded.sold <= excluded.authorised and s.closed is not true
       returning 1
     )
     select count(*)::int as taken, nextval('record_locator_ordinal') as ordinal from taken`,
    [
      seats.map(seat => seat.leg),
      seats.map(seat => seat.departs),
      seats.map(seat => seat.cabin),
      seats.map(seat => seat.bookingClass),
      seats.map(seat => seat.authorised),
      mode,
      count,
    ],
  )
  return rows[0]!.taken === seats.length ? rows[0]!.ordinal : undefined
}

/** Gives seats back, in the same order of rows. Each row may be named once. */
export async function returnSeats(
  tx: Transaction,
  mode: Mode,
  seats: readonly (SeatKey & { count: number })[],
): Promise<void> {
  await tx.query(
    `with back as (
       select s.mode, s.leg, s.departs, s.cabin, s.class, w.count
         from seat s join unnest($1::text[], $2::date[], $3::text[], $4::text[], $5::int[]) as w(leg, departs, cabin, class, count)
           using (leg, departs, cabin, class)
        where s.mode = $6
        order by s.leg, s.departs, s.cabin, s.class for update of s
     )
     update seat s set sold = s.sold - b.count, changed_by = pg_current_xact_id()
       from back b
      where s.mode = b.mode and s.leg = b.leg and s.departs = b.departs and s.cabin = b.cabin and s.class = b.class`,
    [
      seats.map(seat => seat.leg),
      seats.map(seat => seat.departs),
      seats.map(seat => seat.cabin),
      seats.map(seat => seat.bookingClass),
      seats.map(seat => seat.count),
      mode,
    ],
  )
}

/** The oldest transaction still running: whatever was changed by an older one is visible to every later read. */
export async function readHorizon(db: Queryable): Promise<string> {
  const rows = await db.query<{ horizon: string }>(
    'select pg_snapshot_xmin(pg_current_snapshot())::text as horizon',
  )
  return rows[0]!.horizon
}

/**
 * Booking classes whose seats changed in or after a transaction, and cabins that were closed or opened again, from a day on; with horizon `0`
 * all of them.
 */
export async function readSeats(db: Queryable, horizon: string, fromDate: string): Promise<SeatRow[]> {
  return db.query<SeatRow>(
    `select mode, leg, departs, cabin, class as "bookingClass", sold, closed from seat
      where changed_by between $1::xid8 and '18446744073709551615' and (class <> '' or closed is not null) and departs >= $2`,
    [horizon, fromDate],
  )
}
