import type { Queryable, Transaction } from '../../../db/database.ts'
import { CABINS } from '../../../travel/itinerary.ts'
import type { FlightOperation, LegDeparture, OperatedLeg } from '../../supplier.ts'

export type OperationKind = 'delay' | 'cancel' | 'restore'

/** What was done to a flight date. */
export type StoredOperation = FlightOperation & {
  kind: OperationKind
  flight: string
  board: string
  departs: string
  minutes: number
}

type Row = {
  id: number
  kind: OperationKind
  flight: string
  board: string
  departs: string
  minutes: number
  legs: string[]
  leg_dates: string[]
  reached: number
  bookings_updated: number
  bookings_cancelled: number
  bookings_unchanged: number
  bookings_failed: number
  finished_at: Date | null
}

const COLUMNS = `o.id, o.kind, o.flight, o.board, o.departs, o.minutes, o.legs, o.leg_dates, o.reached, o.bookings_updated,
  o.bookings_cancelled, o.bookings_unchanged, o.bookings_failed, o.finished_at`

const legsOf = (row: Row): LegDeparture[] => row.legs.map((leg, i) => ({ leg, departs: row.leg_dates[i]! }))

const asOperation = (row: Row, legs: readonly OperatedLeg[]): StoredOperation => ({
  id: row.id,
  kind: row.kind,
  flight: row.flight,
  board: row.board,
  departs: row.departs,
  minutes: row.minutes,
  legs,
  reached: row.reached,
  followed: {
    updated: row.bookings_updated,
    cancelled: row.bookings_cancelled,
    unchanged: row.bookings_unchanged,
    failed: row.bookings_failed,
  },
  finished: row.finished_at !== null,
})

const columnsOf = (legs: readonly LegDeparture[]) => [legs.map(one => one.departs), legs.map(one => one.leg)]

/** Locks what has become of these departures until the transaction ends, for changing it. */
export async function lockLegs(tx: Transaction, legs: readonly LegDeparture[]): Promise<OperatedLeg[]> {
  await tx.query(
    `insert into operated_leg (departs, leg) select * from unnest($1::date[], $2::text[]) as l(departs, leg)
      order by 1, 2 on conflict do nothing`,
    columnsOf(legs),
  )
  return tx.query<OperatedLeg>(
    `select o.leg, o.departs, o.cancelled, o.delay_minutes as "delayMinutes"
       from operated_leg o join unnest($1::date[], $2::text[]) as l(departs, leg) using (departs, leg)
      order by o.departs, o.leg for update of o`,
    columnsOf(legs),
  )
}

/** Writes what has become of departures, for bookings that follow and for sale: a closed one is not sold. The seats' rows come last. */
export async function writeLegs(
  tx: Transaction,
  legs: readonly LegDeparture[],
  now: { cancelled: boolean; delayMinutes: number },
): Promise<void> {
  await tx.query(
    `update operated_leg o set cancelled = $3, delay_minutes = $4
       from unnest($1::date[], $2::text[]) as l(departs, leg) where o.departs = l.departs and o.leg = l.leg`,
    [...columnsOf(legs), now.cancelled, now.delayMinutes],
  )
}

/**
 * Closes departures for sale in every cabin, or opens them again. Every booking sells from the row of its whole cabin: who came before is
 * waited for and its booking is there to be found afterwards, and who comes later sees it closed.
 */
export async function closeDepartures(
  tx: Transaction,
  legs: readonly LegDeparture[],
  closed: boolean,
): Promise<void> {
  await tx.query(
    `insert into seat as s (mode, leg, departs, cabin, class, sold, authorised, closed)
     select m.mode, l.leg, l.departs, c.cabin, '', 0, 0, $4
       from unnest($1::date[], $2::text[]) as l(departs, leg), unnest($3::text[]) as c(cabin), (values ('live'), ('test')) as m(mode)
      order by m.mode, l.leg, l.departs, c.cabin
     on conflict (mode, leg, departs, cabin, class) do update set closed = excluded.closed, changed_by = excluded.changed_by
       where s.closed is distinct from excluded.closed`,
    [...columnsOf(legs), CABINS, closed],
  )
  await tx.query(`select pg_notify('airside', 'inventory')`)
}

/** Notes an operation, for bookings to follow. */
export async function insertOperation(
  tx: Transaction,
  one: { kind: OperationKind; flight: string; board: string; departs: string; minutes: number },
  legs: readonly LegDeparture[],
): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `insert into flight_operation (kind, flight, board, departs, minutes, leg_dates, legs) values ($1, $2, $3, $4, $5, $6, $7) returning id`,
    [one.kind, one.flight, one.board, one.departs, one.minutes, ...columnsOf(legs)],
  )
  return rows[0]!.id
}

/** The last thing that was done to a flight date. */
export async function lastOperation(
  db: Queryable,
  one: { flight: string; departs: string; board: string | undefined },
): Promise<StoredOperation | undefined> {
  const rows = await db.query<Row>(
    `select ${COLUMNS} from flight_operation o
      where flight = $1 and departs = $2 and ($3::text is null or board = $3) order by id desc limit 1`,
    [one.flight, one.departs, one.board],
  )
  const row = rows[0]
  return row && asOperation(row, await readLegs(db, legsOf(row)))
}

async function readLegs(db: Queryable, legs: readonly LegDeparture[]): Promise<OperatedLeg[]> {
  return db.query<OperatedLeg>(
    `select o.leg, o.departs, o.cancelled, o.delay_minutes as "delayMinutes"
       from unnest($1::date[], $2::text[]) with ordinality as l(departs, leg, nth) join operated_leg o using (departs, leg)
      order by l.nth`,
    columnsOf(legs),
  )
}

/** Departures of a flight that bookings have seats on, whether the timetable still has them or not. */
export async function bookedLegs(db: Queryable, flight: string, departs: string): Promise<LegDeparture[]> {
  return db.query<LegDeparture>(
    `select distinct leg, departs from booked_leg where departs = $1 and leg > $2 || '/' and leg < $2 || '0' order by leg`,
    [departs, flight],
  )
}

/** Locks an operation for one batch, or any unfinished one that nobody holds; its legs stay what they are until the transaction ends. */
export async function takeOperation(
  tx: Transaction,
  id: number | undefined,
): Promise<StoredOperation | undefined> {
  const rows =
    id === undefined
      ? await tx.query<Row>(
          `select ${COLUMNS} from flight_operation o where finished_at is null order by id limit 1 for update skip locked`,
        )
      : await tx.query<Row>(`select ${COLUMNS} from flight_operation o where id = $1 for update`, [id])
  const row = rows[0]
  if (row === undefined) return undefined
  const legs = await tx.query<OperatedLeg>(
    `select o.leg, o.departs, o.cancelled, o.delay_minutes as "delayMinutes"
       from operated_leg o join unnest($1::date[], $2::text[]) as l(departs, leg) using (departs, leg)
      order by o.departs, o.leg for share of o`,
    columnsOf(legsOf(row)),
  )
  return asOperation(row, legs)
}

/** Notes how far bookings have followed. */
export async function noteOperation(tx: Transaction, operation: FlightOperation): Promise<void> {
  const { id, reached, followed, finished } = operation
  await tx.query(
    `update flight_operation set reached = $2, bookings_updated = $3, bookings_cancelled = $4, bookings_unchanged = $5,
       bookings_failed = $6, finished_at = case when $7 then now() end where id = $1`,
    [id, reached, followed.updated, followed.cancelled, followed.unchanged, followed.failed, finished],
  )
}
