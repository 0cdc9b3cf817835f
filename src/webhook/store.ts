import type { Queryable, Transaction } from '../db/database.ts'
import type { AccountId, WebhookId } from '../id.ts'
import type { Mode } from '../supplier/supplier.ts'
import type { DisabledReason, LaneState, Owner, Webhook } from './endpoint.ts'
import type { EventType } from './event.ts'

type EndpointRow = {
  seq: number
  id: WebhookId
  account_id: AccountId
  mode: Mode
  url: string
  events: EventType[]
  secret_given: boolean
  state: LaneState
  created_at: Date
  previous_until: Date | null
  last_success_at: Date | null
  failing_since: Date | null
  disabled_at: Date | null
  disabled_reason: DisabledReason | null
}

const ENDPOINT_COLUMNS = `e.seq, e.id, e.account_id, e.mode, e.url, e.events, e.secret_given, e.created_at, l.state,
  case when e.cut_over_at > now() then e.cut_over_at end as previous_until, l.last_success_at, l.failing_since, l.disabled_at, l.disabled_reason`

const toWebhook = (row: EndpointRow): Webhook => ({
  seq: row.seq,
  id: row.id,
  accountId: row.account_id,
  mode: row.mode,
  url: row.url,
  events: row.events,
  state: row.state,
  createdAt: row.created_at,
  contractSignature: row.secret_given,
  previousSecretUntil: row.previous_until ?? undefined,
  lastSuccessAt: row.last_success_at ?? undefined,
  failingSince: row.failing_since ?? undefined,
  disabledAt: row.disabled_at ?? undefined,
  disabledReason: row.disabled_reason ?? undefined,
})

/**
 * Writes an endpoint with its lane. Undefined, and nothing written, when the account has `max` in this mode: registrations of one account wait
 * for each other, so that two at once cannot both take the last place.
 */
export async function insertEndpoint(
  tx: Transaction,
  owner: Owner,
  endpoint: {
    id: WebhookId
    url: string
    events: readonly EventType[]
    sealed: Buffer
    secretGiven: boolean
  },
  max: number,
): Promise<Webhook | undefined> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `webhooks ${owner.accountId} ${owner.mode}`,
  ])
  const [row] = await tx.query<{ seq: number; created_at: Date }>(
    `with room as (
       select count(*) < $8 as left from endpoint where account_id = $2 and mode = $3 and deleted_at is null
     ), made as (
       insert into endpoint (id, account_id, mode, url, events, secret, secret_given)
       select $1, $2, $3, $4, $5::text[], $6, $7 from room where room.left
       returning seq, created_at
     ), opened as (insert into lane (endpoint) select seq from made)
     select seq, created_at from made`,
    [
      endpoint.id,
      owner.accountId,
      owner.mode,
      endpoint.url,
      endpoint.events,
      endpoint.sealed,
      endpoint.secretGiven,
      max,
    ],
  )
  if (row === undefined) return undefined
  return {
    seq: row.seq,
    id: endpoint.id,
    accountId: owner.accountId,
    mode: owner.mode,
    url: endpoint.url,
    events: endpoint.events,
    state: 'open',
    createdAt: row.created_at,
    contractSignature: endpoint.secretGiven,
    previousSecretUntil: undefined,
    lastSuccessAt: undefined,
    failingSince: undefined,
    disabledAt: undefined,
    disabledReason: undefined,
  }
}

/** The owner's endpoints that are not deleted, oldest first. */
export async function selectEndpoints(db: Queryable, owner: Owner): Promise<Webhook[]> {
  const rows = await db.query<EndpointRow>(
    `select ${ENDPOINT_COLUMNS} from endpoint e join lane l on l.endpoint = e.seq
      where e.account_id = $1 and e.mode = $2 and e.deleted_at is null order by e.seq`,
    [owner.accountId, owner.mode],
  )
  return rows.map(toWebhook)
}

/** One of the owner's endpoints that is not deleted. */
export async function findEndpoint(db: Queryable, owner: Owner, id: string): Promise<Webhook | undefined> {
  const [row] = await db.query<EndpointRow>(
    `select ${ENDPOINT_COLUMNS} from endpoint e join lane l on l.endpoint = e.seq
      where e.id = $3 and e.account_id = $1 and e.mode = $2 and e.deleted_at is null`,
    [owner.accountId, owner.mode, id],
  )
  return row && toWebhook(row)
}

/** Whose an endpoint is that is not deleted, for the operator. */
export async function ownerOfEndpoint(db: Queryable, id: string): Promise<Owner | undefined> {
  const [row] = await db.query<{ account_id: AccountId; mode: Mode }>(
    'select account_id, mode from endpoint where id = $1 and deleted_at is null',
    [id],
  )
  return row && { accountId: row.account_id, mode: row.mode }
}

/** All endpoints of an account in both modes, for the operator. */
export async function selectEndpointsOfAccount(db: Queryable, accountId: string): Promise<Webhook[]> {
  const rows = await db.query<EndpointRow>(
    `select ${ENDPOINT_COLUMNS} from endpoint e join lane l on l.endpoint = e.seq
      where e.account_id = $1 and e.deleted_at is null order by e.mode, e.seq`,
    [accountId],
  )
  return rows.map(toWebhook)
}

/**
 * Puts a new secret in the place of the old one, which signs beside it for `overlapHours`. The contract's signature stays where there was one.
 * @returns until when the old one signs; undefined when the owner has no such endpoint
 */
export async function updateSecret(
  tx: Transaction,
  owner: Owner,
  id: WebhookId,
  sealed: Buffer,
  overlapHours: number,
): Promise<{ seq: number; previousUntil: Date | undefined } | undefined> {
  const [row] = await tx.query<{ seq: number; cut_over_at: Date | null }>(
    `update endpoint set secret = $4, secret_given = true, revision = revision + 1,
       previous_secret = case when $5::int > 0 then secret end,
       previous_given = case when $5::int > 0 then secret_given end,
       cut_over_at = case when $5::int > 0 then now() + make_interval(hours => $5::int) end
      where id = $3 and account_id = $1 and mode = $2 and deleted_at is null
     returning seq, cut_over_at`,
    [owner.accountId, owner.mode, id, sealed, overlapHours],
  )
  return row && { seq: row.seq, previousUntil: row.cut_over_at ?? undefined }
}

/** Opens a disabled lane again, as if it were new; harmless on an open one. False when the owner has no such endpoint. */
export async function openLane(tx: Transaction, owner: Owner, id: WebhookId): Promise<boolean> {
  const rows = await tx.query(
    `update lane l set state = 'open', width = 2, failing_since = null, exhausted = 0, noticed_at = null,
       disabled_at = null, disabled_reason = null
      from endpoint e
      where e.seq = l.endpoint and e.id = $3 and e.account_id = $1 and e.mode = $2 and e.deleted_at is null
        and l.state in ('open', 'disabled')
     returning 1`,
    [owner.accountId, owner.mode, id],
  )
  return rows.length === 1
}
