import { createHash } from 'node:crypto'
import type { AccountId } from '../id.ts'
import { Refusal } from '../refusal.ts'
import { open, seal } from '../secret.ts'
import { type Mode, REFERENCE_MAX } from '../supplier/supplier.ts'
import type { Money } from '../travel/money.ts'

/**
 * An offer id is a sealed token: authenticated encryption over everything that booking needs, so that a search writes nothing and any node
 * books any node's offer. Layout of the plain text, big-endian: layout version 1, mode 1, account 16 (hash), issued at 6 (ms), passengers
 * 1, last arrival day 2, per person 8 (minor units), currency 3, rates (1 + n), supplier (1 + n), reference (the rest).
 */
const PREFIX = 'off_'
const LAYOUT = 1
const CONTEXT = 'offer'
const FIXED_BYTES = 1 + 1 + 16 + 6 + 1 + 2 + 8 + 3
/** Longest token that is looked at. */
export const OFFER_ID_MAX = 1200

export type OfferContents = {
  mode: Mode
  /** Milliseconds since 1970. */
  issuedAt: number
  passengers: number
  /** Local day of the last arrival of the last slice: until then the documents must be valid. */
  lastDay: number
  perPerson: Money
  /** Provider and date of the exchange rates behind the price, empty where none were needed. */
  rates: string
  supplier: string
  reference: Uint8Array
}

const accountHash = (accountId: AccountId) => createHash('sha256').update(accountId).digest().subarray(0, 16)

/** Seals an offer for one account. @param key from the master secret and the region, so that an offer opens in its own region only */
export function sealOffer(key: Buffer, accountId: AccountId, offer: OfferContents): string {
  if (offer.reference.length > REFERENCE_MAX)
    throw new Error(`A reference of ${offer.supplier} is longer than ${REFERENCE_MAX} bytes`)
  const rates = Buffer.from(offer.rates)
  const supplier = Buffer.from(offer.supplier)
  const plain = Buffer.alloc(FIXED_BYTES + 1 + rates.length + 1 + supplier.length + offer.reference.length)
  let at = plain.writeUInt8(LAYOUT, 0)
  at = plain.writeUInt8(offer.mode === 'live' ? 1 : 0, at)
  at += accountHash(accountId).copy(plain, at)
  at = plain.writeUIntBE(offer.issuedAt, at, 6)
  at = plain.writeUInt8(offer.passengers, at)
  at = plain.writeUInt16BE(offer.lastDay, at)
  at = plain.writeBigUInt64BE(BigInt(offer.perPerson.minor), at)
  at += plain.write(offer.perPerson.currency, at, 3, 'latin1')
  at = plain.writeUInt8(rates.length, at)
  at += rates.copy(plain, at)
  at = plain.writeUInt8(supplier.length, at)
  at += supplier.copy(plain, at)
  plain.set(offer.reference, at)
  return PREFIX + seal(key, plain, CONTEXT).toString('base64url')
}

const NOT_OURS =
  'offerId: this is no offer of this key; send an offerId from a search made with the same key, unchanged'

/**
 * Opens an offer id for the account and mode that it was made for.
 * @throws Refusal invalid_params when it is forged, altered, or of another account, mode or region
 */
export function openOffer(key: Buffer, accountId: AccountId, mode: Mode, offerId: string): OfferContents {
  const refuse = () =>
    new Refusal('invalid_params', NOT_OURS, {
      param: 'offerId',
      details: [{ param: 'offerId', code: 'unknown_offer', message: NOT_OURS.slice('offerId: '.length) }],
    })
  if (!offerId.startsWith(PREFIX) || offerId.length > OFFER_ID_MAX) throw refuse()
  const text = offerId.slice(PREFIX.length)
  const sealed = Buffer.from(text, 'base64url')
  if (sealed.toString('base64url') !== text) throw refuse()
  const plain = open(key, sealed, CONTEXT)
  if (plain === undefined || plain.readUInt8(0) !== LAYOUT) throw refuse()
  if (!plain.subarray(2, 18).equals(accountHash(accountId))) throw refuse()
  const ratesAt = FIXED_BYTES + 1
  const ratesEnd = ratesAt + plain.readUInt8(FIXED_BYTES)
  const supplierAt = ratesEnd + 1
  const supplierEnd = supplierAt + plain.readUInt8(ratesEnd)
  const offer: OfferContents = {
    mode: plain.readUInt8(1) === 1 ? 'live' : 'test',
    issuedAt: plain.readUIntBE(18, 6),
    passengers: plain.readUInt8(24),
    lastDay: plain.readUInt16BE(25),
    perPerson: { minor: Number(plain.readBigUInt64BE(27)), currency: plain.toString('latin1', 35, 38) },
    rates: plain.toString('utf8', ratesAt, ratesEnd),
    supplier: plain.toString('utf8', supplierAt, supplierEnd),
    reference: plain.subarray(supplierEnd),
  }
  if (offer.mode !== mode) throw refuse()
  return offer
}

/** What a booking stores of its offer, to find it again when the same offer is booked again. */
export function offerHash(offerId: string): Buffer {
  return createHash('sha256').update(offerId).digest()
}
