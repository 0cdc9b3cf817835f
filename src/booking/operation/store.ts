import type { Transaction } from '../../db/database.ts'
import type { LegDeparture, Mode } from '../../supplier/supplier.ts'
import { BOOKING_COLUMNS, type BookingCore, type BookingRow, coreOf } from '../store.ts'

/** A page of bookings and where the next one begins; undefined when this was the last. */
export type BookingPage = { bookings: BookingCore[]; last: number | undefined }

/**
 * Locks the next bookings that have seats on any of these departures, in the order they were made, whatever their status. Each leg is read
 * by itself, so that a page costs the same however many bookings come before or after it.
 * @param after the seq of the last one that was read
 */
export async function lockBookingsOn(
  tx: Transaction,
  legs: readonly LegDeparture[],
  after: number,
  limit: number,
): Promise<BookingPage> {
  const found = await tx.query<{ booking_seq: number }>(
    `select distinct next.booking_seq
       from unnest($1::date[], $2::text[]) as l(departs, leg),
            lateral (select booking_seq from booked_leg b
                      where b.departs = l.departs and b.leg = l.leg and b.booking_seq > $3
                      order by b.booking_seq limit $4) as next
      order by next.booking_seq limit $4`,
    [legs.map(one => one.departs), legs.map(one => one.leg), after, limit],
  )
  const rows = await tx.query<BookingRow>(
    `select ${BOOKING_COLUMNS} from booking b where b.seq = any($1) order by b.seq for update`,
    [found.map(row => row.booking_seq)],
  )
  return {
    bookings: rows.map(coreOf),
    last: found.length === limit ? found.at(-1)!.booking_seq : undefined,
  }
}

/** Bookings that stand, other than one, with a seat number on any segment and seats on any of these departures. */
export async function bookingsWithSeat(
  tx: Transaction,
  mode: Mode,
  except: string,
  seat: string,
  legs: readonly LegDeparture[],
): Promise<BookingCore[]> {
  const rows = await tx.query<BookingRow>(
    `select ${BOOKING_COLUMNS} from booking b
      where b.seq in (select l.booking_seq from booked_leg l join unnest($1::date[], $2::text[]) as w(departs, leg) using (departs, leg))
        and b.mode = $3 and b.id <> $4 and b.status in ('pending', 'confirmed')
        and b.slices @> jsonb_build_array(jsonb_build_object('segments', jsonb_build_array(jsonb_build_object('seats',
              jsonb_build_array(jsonb_build_object('seat', $5::text))))))`,
    [legs.map(one => one.departs), legs.map(one => one.leg), mode, except, seat],
  )
  return rows.map(coreOf)
}

/** Lets one at a time assign seats on these departures, until its transaction ends. */
export async function lockSeatMaps(tx: Transaction, legs: readonly LegDeparture[]): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended(name, 0)) from (select unnest($1::text[]) as name order by 1) as maps`,
    [legs.map(({ leg, departs }) => `seats ${departs} ${leg}`)],
  )
}
