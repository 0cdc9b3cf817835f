import type { Queryable, Transaction } from '../db/database.ts'
import type { AccountId, BookingId } from '../id.ts'
import type { Caller } from '../partner/account.ts'
import type { LegDeparture, Mode } from '../supplier/supplier.ts'
import type { Slice } from '../travel/itinerary.ts'
import {
  type Booking,
  type BookingChange,
  type BookingStatus,
  CHANGES_KEPT,
  type ChangeKind,
  type FieldChange,
} from './booking.ts'
import { openTravellers, type SealedTravellers, type TravellerKey } from './travellers.ts'

/** Whose bookings a query may see: account and mode stand in every `where`. */
type Owner = Pick<Caller, 'accountId' | 'mode'>

export type BookingRow = {
  id: BookingId
  account_id: AccountId
  mode: Mode
  status: BookingStatus
  version: number
  supplier: string
  supplier_reference: Buffer
  claim: string
  record_locator: string
  request_mac: Buffer
  slices: Slice[]
  passengers: number
  per_person: number
  total: number
  currency: string
  data_key: Buffer
  contact: Buffer
  status_history: { status: BookingStatus; at: string }[]
  changes: BookingChange[]
  created_at: Date
  updated_at: Date
  acknowledged: boolean
  reconcile_attempts: number
}

/** A booking with what the house needs to work on it but does not show. */
export type StoredBooking = Booking & {
  reference: Uint8Array
  claim: string
  passengerCount: number
  requestMac: Buffer
  /** Whether anybody may have been told of it. */
  acknowledged: boolean
  reconcileAttempts: number
}

/** A booking without its travellers, who are sealed: all that reconciliation and settlement work on. */
export type BookingCore = Omit<StoredBooking, 'travellers' | 'contactEmail' | 'contactPhone'>

/** The transaction's moment as ISO 8601 text in UTC. */
export const NOW_TEXT = `to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

export const BOOKING_COLUMNS = `b.id, b.account_id, b.mode, b.status, b.version, b.supplier, b.supplier_reference, b.claim, b.record_locator, b.request_mac,
  b.slices, b.passengers, b.per_person, b.total, b.currency, b.data_key, b.contact, b.status_history, b.created_at, b.updated_at,
  b.changes, b.acknowledged, b.reconcile_attempts`

async function assemble(
  db: Queryable,
  key: TravellerKey,
  rows: readonly BookingRow[],
): Promise<StoredBooking[]> {
  if (rows.length === 0) return []
  const sealed = await db.query<{ booking_id: BookingId; details: Buffer; document: Buffer | null }>(
    'select booking_id, details, document from passenger where booking_id = any($1) order by booking_id, position',
    [rows.map(row => row.id)],
  )
  const byBooking = Map.groupBy(sealed, row => row.booking_id)
  return rows.map(row => {
    const own = byBooking.get(row.id) ?? []
    const { travellers, contact } = openTravellers(key, row.id, {
      dataKey: row.data_key,
      contact: row.contact,
      details: own.map(passenger => passenger.details),
      documents: own.map(passenger => passenger.document),
    })
    return { ...coreOf(row), travellers, contactEmail: contact.email, contactPhone: contact.phone }
  })
}

/** A row as the house speaks of it. */
export const coreOf = (row: BookingRow): BookingCore => ({
  id: row.id,
  accountId: row.account_id,
  mode: row.mode,
  status: row.status,
  version: row.version,
  supplier: row.supplier,
  recordLocator: row.record_locator,
  slices: row.slices,
  perPerson: { minor: row.per_person, currency: row.currency },
  total: { minor: row.total, currency: row.currency },
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  statusHistory: row.status_history,
  changes: row.changes,
  reference: row.supplier_reference,
  claim: row.claim,
  passengerCount: row.passengers,
  requestMac: row.request_mac,
  acknowledged: row.acknowledged,
  reconcileAttempts: row.reconcile_attempts,
})

export type NewBooking = {
  id: BookingId
  supplier: string
  reference: Uint8Array
  offerHash: Buffer
  requestMac: Buffer
  slices: readonly Slice[]
  passengers: number
  perPerson: number
  total: number
  currency: string
  rates: string
  sealed: SealedTravellers
  /** When the worker may look at it if this process does not come back, in seconds from now. */
  reconcileInSeconds: number
}

/** Writes a `pending` booking and its travellers. Undefined when this account and mode has booked the offer already. */
export async function insertBooking(
  tx: Transaction,
  owner: Owner,
  booking: NewBooking,
): Promise<{ createdAt: Date; history: StoredBooking['statusHistory'] } | undefined> {
  const rows = await tx.query<{ created_at: Date; status_history: BookingRow['status_history'] }>(
    `with booked as (
       insert into booking (id, account_id, mode, status, supplier, supplier_reference, claim, offer_hash, request_mac, slices, passengers,
         per_person, total, currency, rates, data_key, contact, status_history, reconcile_at)
       values ($1, $2, $3, 'pending', $4, $5, '', $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
         jsonb_build_array(jsonb_build_object('status', 'pending', 'at', ${NOW_TEXT})),
         now() + make_interval(secs => $16))
       on conflict (account_id, mode, offer_hash) do nothing
       returning id, created_at, status_history
     ), travellers as (
       insert into passenger (booking_id, position, details, document)
       select booked.id, p.position - 1, p.details, p.document
         from booked, unnest($17::bytea[], $18::bytea[]) with ordinality as p(details, document, position)
     )
     select created_at, status_history from booked`,
    [
      booking.id,
      owner.accountId,
      owner.mode,
      booking.supplier,
      booking.reference,
      booking.offerHash,
      booking.requestMac,
      JSON.stringify(booking.slices),
      booking.passengers,
      booking.perPerson,
      booking.total,
      booking.currency,
      booking.rates,
      booking.sealed.dataKey,
      booking.sealed.contact,
      booking.reconcileInSeconds,
      booking.sealed.details,
      booking.sealed.documents,
    ],
  )
  const row = rows[0]
  return row && { createdAt: row.created_at, history: row.status_history }
}

/** Keeps what the supplier's stock gave, so that it can be given back, and notes the departures on which the booking has seats. */
export async function keepClaim(
  tx: Transaction,
  id: BookingId,
  claim: string,
  legs: readonly LegDeparture[],
): Promise<void> {
  await tx.query(
    `with kept as (update booking set claim = $2 where id = $1 returning seq)
     insert into booked_leg (departs, leg, booking_seq)
     select l.departs, l.leg, kept.seq from kept, unnest($3::date[], $4::text[]) as l(departs, leg) on conflict do nothing`,
    [id, claim, legs.map(one => one.departs), legs.map(one => one.leg)],
  )
}

/** The booking this account and mode made of an offer, if any. */
export async function findByOffer(
  db: Queryable,
  key: TravellerKey,
  owner: Owner,
  offerHash: Buffer,
): Promise<StoredBooking | undefined> {
  const rows = await db.query<BookingRow>(
    `select ${BOOKING_COLUMNS} from booking b where account_id = $1 and mode = $2 and offer_hash = $3`,
    [owner.accountId, owner.mode, offerHash],
  )
  return (await assemble(db, key, rows))[0]
}

/** A booking of this account and mode, if there is one. */
export async function findBooking(
  db: Queryable,
  key: TravellerKey,
  owner: Owner,
  id: string,
): Promise<StoredBooking | undefined> {
  const rows = await db.query<BookingRow>(
    `select ${BOOKING_COLUMNS} from booking b where account_id = $1 and mode = $2 and id = $3`,
    [owner.accountId, owner.mode, id],
  )
  return (await assemble(db, key, rows))[0]
}

/** Any booking of the region, for the operator. */
export async function findAnyBooking(
  db: Queryable,
  key: TravellerKey,
  id: string,
): Promise<StoredBooking | undefined> {
  const rows = await db.query<BookingRow>(`select ${BOOKING_COLUMNS} from booking b where id = $1`, [id])
  return (await assemble(db, key, rows))[0]
}

/**
 * A page of bookings, newest first, after the booking `cursor`; one more than `limit` tells that there is a next page. One that is still
 * being made is not among them: it may be gone a moment later.
 */
export async function pageOfBookings(
  db: Queryable,
  key: TravellerKey,
  owner: Owner,
  page: { limit: number; cursor: string | undefined; status: BookingStatus | undefined },
): Promise<StoredBooking[]> {
  const rows = await db.query<BookingRow>(
    `select ${BOOKING_COLUMNS} from booking b
      where account_id = $1 and mode = $2
        and acknowledged
        and ($3::text is null or status = $3)
        and ($4::text is null or seq < (select seq from booking where account_id = $1 and mode = $2 and id = $4))
      order by seq desc limit $5`,
    [owner.accountId, owner.mode, page.status ?? null, page.cursor ?? null, page.limit],
  )
  return assemble(db, key, rows)
}

/** What of a booking changes when its status does. */
export type BookingState = Pick<
  BookingCore,
  'status' | 'version' | 'recordLocator' | 'acknowledged' | 'updatedAt' | 'statusHistory'
>
type StateRow = Pick<
  BookingRow,
  'status' | 'version' | 'record_locator' | 'acknowledged' | 'updated_at' | 'status_history'
>
const STATE_COLUMNS = 'b.status, b.version, b.record_locator, b.acknowledged, b.updated_at, b.status_history'

const stateOf = (row: StateRow): BookingState => ({
  status: row.status,
  version: row.version,
  recordLocator: row.record_locator,
  acknowledged: row.acknowledged,
  updatedAt: row.updated_at,
  statusHistory: row.status_history,
})

/** Where a booking stands now, or undefined when it was removed. */
export async function readState(db: Queryable, id: BookingId): Promise<BookingState | undefined> {
  const rows = await db.query<StateRow>(`select ${STATE_COLUMNS} from booking b where id = $1`, [id])
  return rows[0] && stateOf(rows[0])
}

/**
 * The only statement that writes a status; called by settle.ts alone. Undefined when the booking is in none of the states `from`, and then
 * nothing was written. The row stays locked until the transaction ends.
 * @param recordLocator undefined leaves it as it is
 */
export async function writeStatus(
  tx: Transaction,
  id: BookingId,
  from: readonly BookingStatus[],
  to: BookingStatus,
  recordLocator: string | undefined,
): Promise<(BookingState & { was: BookingStatus }) | undefined> {
  const rows = await tx.query<StateRow & { was: BookingStatus }>(
    `with was as (select id, status from booking where id = $1 for update)
     update booking b set status = $3, record_locator = coalesce($4, record_locator), version = version + 1, updated_at = now(),
       acknowledged = true, reconcile_at = null,
       status_history = status_history || jsonb_build_object('status', $3::text, 'at', ${NOW_TEXT})
      from was where b.id = was.id and was.status = any($2)
     returning was.status as was, ${STATE_COLUMNS}`,
    [id, from, to, recordLocator],
  )
  return rows[0] && { ...stateOf(rows[0]), was: rows[0].was }
}

/**
 * Removes a pending booking that nobody was told of, so that to the partner nothing was booked. False when it is settled, or somebody may
 * know of it.
 */
export async function removeBooking(tx: Transaction, id: BookingId): Promise<boolean> {
  const rows = await tx.query(
    `delete from booking where id = $1 and status = 'pending' and not acknowledged returning 1`,
    [id],
  )
  return rows.length === 1
}

/** Notes that a partner is told of a pending booking: from now on it is settled, and not removed. False when it is not pending. */
export async function acknowledgeBooking(db: Queryable, id: BookingId): Promise<boolean> {
  const rows = await db.query(
    `update booking set acknowledged = true where id = $1 and status = 'pending' returning 1`,
    [id],
  )
  return rows.length === 1
}

/** A pending booking that is due, and how long ago it was made by the database's clock, in milliseconds. */
export type DueBooking = BookingCore & { ageMs: number }

/** Takes up to `limit` pending bookings that are due, and keeps other workers off them for `leaseSeconds`. */
export async function takeDueBookings(
  db: Queryable,
  limit: number,
  leaseSeconds: number,
): Promise<DueBooking[]> {
  const rows = await db.query<BookingRow & { age_ms: number }>(
    `update booking b set reconcile_at = now() + make_interval(secs => $2), reconcile_attempts = reconcile_attempts + 1
      where id in (select id from booking where reconcile_at <= now() order by reconcile_at limit $1 for update skip locked)
      returning ${BOOKING_COLUMNS}, (extract(epoch from now() - b.created_at) * 1000)::float8 as age_ms`,
    [limit, leaseSeconds],
  )
  return rows.map(row => ({ ...coreOf(row), ageMs: row.age_ms }))
}

/** Leaves a booking pending, known to whoever asks, and sets when it is looked at again. */
export async function postponeReconciliation(db: Queryable, id: BookingId, seconds: number): Promise<void> {
  await db.query(
    `update booking set acknowledged = true, reconcile_at = now() + make_interval(secs => $2) where id = $1 and status = 'pending'`,
    [id, seconds],
  )
}

/** A booking of the region whose row is locked until the transaction ends. */
export async function lockBooking(tx: Transaction, id: BookingId): Promise<BookingCore | undefined> {
  const rows = await tx.query<BookingRow>(
    `select ${BOOKING_COLUMNS} from booking b where id = $1 for update`,
    [id],
  )
  return rows[0] && coreOf(rows[0])
}

/**
 * The only statement that changes a booking and not its status; called by change.ts alone. Whoever hears of it knows of the booking. Undefined, and nothing written, when the booking
 * has failed or been cancelled or is no longer this version.
 */
export async function writeChange(
  tx: Transaction,
  booking: Pick<BookingCore, 'id' | 'version'>,
  edit: {
    kind: ChangeKind
    fields: readonly FieldChange[]
    slices?: readonly Slice[]
    recordLocator?: string
    contact?: Buffer
  },
): Promise<Pick<BookingCore, 'version' | 'updatedAt' | 'changes'> | undefined> {
  const rows = await tx.query<Pick<BookingRow, 'version' | 'updated_at' | 'changes'>>(
    `update booking set version = version + 1, updated_at = now(), acknowledged = true, slices = coalesce($3::jsonb, slices),
       record_locator = coalesce($4, record_locator), contact = coalesce($5, contact),
       changes = case when jsonb_array_length(changes) >= ${CHANGES_KEPT} then changes - 0 else changes end
         || jsonb_build_array(jsonb_build_object('version', version + 1, 'at', ${NOW_TEXT}, 'kind', $6::text, 'fields', $7::jsonb))
      where id = $1 and version = $2 and status in ('pending', 'confirmed')
      returning version, updated_at, changes`,
    [
      booking.id,
      booking.version,
      edit.slices === undefined ? undefined : JSON.stringify(edit.slices),
      edit.recordLocator,
      edit.contact,
      edit.kind,
      JSON.stringify(edit.fields),
    ],
  )
  const row = rows[0]
  return row && { version: row.version, updatedAt: row.updated_at, changes: row.changes }
}
