import { newId } from '../id.ts'
import { record } from '../ledger/store.ts'
import { OFFER_VALID_MS } from '../offer/offer.ts'
import { type OfferContents, offerHash, openOffer } from '../offer/seal.ts'
import type { Caller } from '../partner/account.ts'
import { invalidParams, Refusal } from '../refusal.ts'
import { mac } from '../secret.ts'
import type { Quote, Supplier } from '../supplier/supplier.ts'
import { convert, type Rates } from '../travel/exchange.ts'
import { toAmount } from '../travel/money.ts'
import { dateOf } from '../travel/time.ts'
import type { Booking, BookRequest } from './booking.ts'
import { type Answer, judge, keep, replay } from './idempotency/once.ts'
import { claimKey, findKey } from './idempotency/store.ts'
import { gone, type ReserveHouse, reserve } from './reserve.ts'
import { findByOffer, insertBooking, keepClaim, type StoredBooking } from './store.ts'
import { sealTravellers } from './travellers.ts'

/** How long a supplier may take to say what an offer costs now. */
const QUOTE_DEADLINE_MS = 4_000
/** Added to the partner's wait: after that the worker, or another bearer of the key, may take a booking over. */
const TAKEOVER_MARGIN_SECONDS = 5

export type BookHouse = ReserveHouse & {
  suppliers: ReadonlyMap<string, Supplier>
  rates(): Rates | undefined
  offerKey: Buffer
  /** Keys the digest by which a repeated request is recognised, so that the digest tells nothing about the travellers. */
  requestKey: Buffer
  now(): number
}

/** How the door renders an outcome; called once, and its bytes are kept for replays. */
export type BookReply = {
  booking(booking: Booking): string
  refusal(refusal: Refusal): { status: number; body: string }
}

/**
 * Books an offer: one transaction claims seats, writes the booking `pending` and holds its price; then the supplier is asked; then one
 * transaction settles the outcome. Booking the same offer with the same body again gives the booking that is there.
 * @throws Refusal invalid_params, conflict, idempotency_mismatch; refusals of 422 are answered, so that a key replays them
 */
export async function book(
  house: BookHouse,
  caller: Caller,
  request: BookRequest,
  reply: BookReply,
  idempotencyKey: string | undefined,
): Promise<Answer> {
  const requestMac = mac(house.requestKey, JSON.stringify(request))
  if (idempotencyKey === undefined)
    return { ...(await answer(house, caller, request, requestMac, reply, undefined)), replayed: false }
  const before = await replay(house.database, caller, idempotencyKey, requestMac)
  if (before.answer !== undefined) return before.answer
  const key = before.known ? undefined : idempotencyKey
  const made = await answer(house, caller, request, requestMac, reply, key)
  return keep(house.database, caller, idempotencyKey, requestMac, made)
}

async function answer(
  house: BookHouse,
  caller: Caller,
  request: BookRequest,
  requestMac: Buffer,
  reply: BookReply,
  key: string | undefined,
): Promise<{ status: number; body: string }> {
  try {
    return { status: 200, body: reply.booking(await make(house, caller, request, requestMac, key)) }
  } catch (error) {
    if (error instanceof Refusal && (error.code === 'unavailable' || error.code === 'expired_offer'))
      return reply.refusal(error)
    throw error
  }
}

async function make(
  house: BookHouse,
  caller: Caller,
  request: BookRequest,
  requestMac: Buffer,
  key: string | undefined,
): Promise<StoredBooking> {
  const offer = openOffer(house.offerKey, caller.accountId, caller.mode, request.offerId)
  checkParty(offer, request)
  const hash = offerHash(request.offerId)
  const existing = async () => {
    const booking = await findByOffer(house.database, house.travellerKey, caller, hash)
    if (booking !== undefined && !booking.requestMac.equals(requestMac)) throw alreadyBooked()
    return booking
  }
  if (house.now() > offer.issuedAt + OFFER_VALID_MS) {
    const booking = await existing()
    if (booking !== undefined) return booking
    throw new Refusal(
      'expired_offer',
      'This offer is older than 15 minutes; search again and book a fresh one.',
      { param: 'offerId' },
    )
  }
  const supplier = house.suppliers.get(offer.supplier)
  if (supplier === undefined) throw gone()
  const quote = await supplier.quote(
    caller.mode,
    offer.reference,
    offer.passengers,
    AbortSignal.timeout(QUOTE_DEADLINE_MS),
  )
  if (quote.kind !== 'open') return (await existing()) ?? raise(notAtThisPrice(house, offer, quote))

  const written = await writePending(house, caller, supplier, offer, quote, request, hash, requestMac, key)
  if (written.kind === 'written') {
    void house.seatsChanged()
    return reserve(house, supplier, written.booking)
  }
  if (written.kind === 'key_taken') {
    const kept = await findKey(house.database, caller, key!)
    if (kept !== undefined) judge(kept, requestMac)
  }
  const booking = await existing()
  if (booking !== undefined) return booking
  // Someone took the seats since the search was brought up to date: what does the journey cost now?
  await house.seatsChanged()
  const now = await supplier.quote(
    caller.mode,
    offer.reference,
    offer.passengers,
    AbortSignal.timeout(QUOTE_DEADLINE_MS),
  )
  throw now.kind === 'open' ? gone() : notAtThisPrice(house, offer, now)
}

type Written =
  | { kind: 'written'; booking: StoredBooking }
  | { kind: 'booked_before' }
  | { kind: 'key_taken' }
  | { kind: 'sold_out' }

/** Carries a reason out of a transaction that must roll back. */
class RolledBack extends Error {
  readonly written: Written
  constructor(kind: 'booked_before' | 'key_taken' | 'sold_out') {
    super(kind)
    this.written = { kind } as Written
  }
}

async function writePending(
  house: BookHouse,
  caller: Caller,
  supplier: Supplier,
  offer: OfferContents,
  quote: Extract<Quote, { kind: 'open' }>,
  request: BookRequest,
  hash: Buffer,
  requestMac: Buffer,
  key: string | undefined,
): Promise<Written> {
  const id = newId('bkg')
  const contact = { email: request.contactEmail, phone: request.contactPhone }
  const total = { minor: offer.perPerson.minor * offer.passengers, currency: offer.perPerson.currency }
  const takeOverSeconds = house.bookingWaitMs / 1000 + TAKEOVER_MARGIN_SECONDS
  const sealed = sealTravellers(house.travellerKey, id, request.passengers, contact)
  try {
    return await house.database.transaction(async tx => {
      if (key !== undefined && !(await claimKey(tx, caller, key, requestMac, takeOverSeconds)))
        throw new RolledBack('key_taken')
      const inserted = await insertBooking(tx, caller, {
        id,
        supplier: supplier.name,
        reference: offer.reference,
        offerHash: hash,
        requestMac,
        slices: quote.slices,
        passengers: offer.passengers,
        perPerson: offer.perPerson.minor,
        total: total.minor,
        currency: total.currency,
        rates: offer.rates,
        sealed,
        reconcileInSeconds: takeOverSeconds,
      })
      if (inserted === undefined) throw new RolledBack('booked_before')
      await record(tx, caller, id, 'hold', total)
      // The seats come last: their rows are the ones that others wait for.
      const claim =
        supplier.stock === undefined
          ? ''
          : await supplier.stock.claim(tx, caller.mode, offer.reference, offer.passengers)
      if (claim === undefined) throw new RolledBack('sold_out')
      if (claim !== '') await keepClaim(tx, id, claim)
      const booking: StoredBooking = {
        id,
        accountId: caller.accountId,
        mode: caller.mode,
        status: 'pending',
        version: 1,
        supplier: supplier.name,
        recordLocator: '',
        slices: quote.slices,
        travellers: request.passengers.map(passenger => ({
          firstName: passenger.firstName,
          lastName: passenger.lastName,
          dateOfBirth: passenger.dateOfBirth,
          document: {
            type: passenger.documentType,
            lastFour: passenger.documentNumber.slice(-4),
            expiry: passenger.documentExpiry,
          },
        })),
        contactEmail: contact.email,
        contactPhone: contact.phone,
        perPerson: offer.perPerson,
        total,
        createdAt: inserted.createdAt,
        updatedAt: inserted.createdAt,
        statusHistory: inserted.history,
        reference: offer.reference,
        claim,
        passengerCount: offer.passengers,
        requestMac,
        reconcileAttempts: 0,
      }
      return { kind: 'written', booking }
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.written
    throw error
  }
}

/** The rules that tie a request to its offer: as many passengers as were searched for, documents valid to the last arrival. */
function checkParty(offer: OfferContents, request: BookRequest): void {
  if (request.passengers.length !== offer.passengers) {
    const message = `must list ${offer.passengers} ${offer.passengers === 1 ? 'passenger' : 'passengers'}, as many as the search asked for`
    throw invalidParams([{ param: 'passengers', code: 'passenger_count', message }])
  }
  const lastDate = dateOf(offer.lastDay)
  const faults = request.passengers.flatMap((passenger, i) =>
    passenger.documentExpiry < lastDate
      ? [
          {
            param: `passengers[${i}].documentExpiry`,
            code: 'document_expires',
            message: `the document must be valid until ${lastDate}, the last day of travel`,
          },
        ]
      : [],
  )
  if (faults.length > 0) throw invalidParams(faults)
}

function notAtThisPrice(
  house: BookHouse,
  offer: OfferContents,
  quote: Exclude<Quote, { kind: 'open' }>,
): Refusal {
  if (quote.kind === 'gone') return gone()
  const now = convert(quote.fares, offer.perPerson.currency, house.rates())
  if (now === undefined || now.minor === offer.perPerson.minor) return gone()
  const amount = (minor: number) => ({
    amount: toAmount({ minor, currency: offer.perPerson.currency }),
    currency: offer.perPerson.currency,
  })
  return gone({ priceChange: { from: amount(offer.perPerson.minor), to: amount(now.minor) } })
}

function alreadyBooked(): Refusal {
  return new Refusal(
    'unavailable',
    'This offer has been booked with other passengers or contact; search again for another booking.',
    {
      param: 'offerId',
    },
  )
}

function raise(refusal: Refusal): never {
  throw refusal
}
