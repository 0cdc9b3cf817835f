import assert from 'node:assert/strict'
import type { z } from 'zod'
import type * as shape from '../../src/api/webhook-answer.ts'
import { type Call, openPartner, type Partner } from '../contract/support.ts'
import { createAuthority } from '../support/authority.ts'
import type { Answered } from '../support/openapi.ts'
import { type Receipt, type Receiver, startReceiver } from '../support/receiver.ts'
import { until } from './support.ts'

type Body<S extends z.ZodType> = Omit<z.output<S>, 'status'>
/** Any answer about webhooks: a test reads only the fields that its status promises. */
export type WebhookJson = { status: string; error: { code: string; param?: string; message: string } } & Body<
  typeof shape.WebhookAnswer
> &
  Body<typeof shape.WebhooksAnswer> &
  Body<typeof shape.WebhookDeleted> &
  Body<typeof shape.TestAnswer> &
  Body<typeof shape.RotationAnswer> &
  Body<typeof shape.EnableAnswer> &
  Body<typeof shape.RecoveryAnswer> &
  Body<typeof shape.DeliveriesAnswer> &
  Body<typeof shape.EventAnswer> &
  Body<typeof shape.EventsAnswer> &
  Body<typeof shape.RedeliveryAnswer>

/** A partner of a house that may send to this machine, with a receiver whose certificate it trusts. */
export type Door = Omit<Partner, 'call'> & {
  receiver: Receiver
  /** As of a partner: refuses an answer that the OpenAPI document does not describe. */
  call(path: string, call?: Call): Promise<Answered & { json: WebhookJson }>
  /** Registers a path of the receiver. */
  register(path: string, some?: Record<string, unknown>, call?: Call): Promise<WebhookJson>
  /** Waits for so many receipts on a path. */
  received(path: string, count?: number): Promise<Receipt[]>
  /** Books a flight; the booking's id once it is confirmed. */
  booked(call?: Call): Promise<string>
  /** A key of a new account. */
  stranger(): Promise<string>
  close(): Promise<void>
}

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** Opens one, by default with room for any number of calls. */
export async function openDoor(env: Record<string, string> = {}): Promise<Door> {
  const authority = createAuthority()
  const receiver = await startReceiver(authority.issue(['127.0.0.1', 'localhost']))
  const limits = 'search.test=1000000/60s,search.developer=1000000/60s,webhooks=1000000/60s'
  const partner = await openPartner({
    AIRSIDE_LIMITS: limits,
    AIRSIDE_WEBHOOK_ALLOW: '127.0.0.0/8',
    AIRSIDE_WEBHOOK_CA: authority.file,
    AIRSIDE_WEBHOOK_RETRY: '200ms,400ms,800ms',
    ...env,
  })
  const { house, offer, book } = partner
  const call = partner.call as unknown as Door['call']
  return {
    ...partner,
    call,
    receiver,
    async register(path, some = {}, how = {}) {
      const body = { url: receiver.url(path), events: ['booking.confirmed'], secret: SECRET, ...some }
      const { status, json, text } = await call('/webhooks/register', { ...how, body })
      assert.equal(status, 200, text)
      return json
    },
    async received(path, count = 1) {
      await until(`${count} receipts on ${path}`, () => receiver.of(path).length >= count)
      return receiver.of(path)
    },
    async booked(how = {}) {
      const { json } = await book(await offer({}, how), {}, how)
      assert.equal(json.bookingStatus, 'confirmed')
      return json.bookingId
    },
    async stranger() {
      const { accountId } = await house.command(
        'account',
        'create',
        '--name',
        'Stranger',
        '--plan',
        'developer',
      )
      const { key } = await house.command('key', 'create', '--account', String(accountId), '--mode', 'test')
      return String(key)
    },
    async close() {
      await house.stop()
      await receiver.close()
      authority.discard()
    },
  }
}
