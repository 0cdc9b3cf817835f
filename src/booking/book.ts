import { setTimeout as sleep } from 'node:timers/promises'
import { OFFER_VALID_MS } from '../offer/offer.ts'
import { type OfferContents, offerHash, openOffer } from '../offer/seal.ts'
import type { Caller } from '../partner/account.ts'
import { invalidParams, Refusal } from '../refusal.ts'
import { mac } from '../secret.ts'
import { type Quote, type Supplier, within } from '../supplier/supplier.ts'
import { convert, type Rates } from '../travel/exchange.ts'
import { departureOf } from '../travel/itinerary.ts'
import { toAmount } from '../travel/money.ts'
import { dateOf, minuteOfMs } from '../travel/time.ts'
import type { Booking, BookRequest } from './booking.ts'
import { type Answer, findAnswer, keep } from './idempotency/once.ts'
import { type PendingHouse, writePending } from './pending.ts'
import { acknowledge, type ReserveHouse, reserve } from './reserve.ts'
import { findByOffer, type StoredBooking } from './store.ts'

/** How long a supplier may take to say what an offer costs now. */
const QUOTE_DEADLINE_MS = 4_000
/** How often a request looks whether another one for the same offer has come to its end, growing from the first to the last. */
const LOOK_AGAIN_MS = [20, 50, 100, 250]
/** Longer than the first request's wait for its supplier: then it has vanished. */
const VANISHED_AFTER_MS = 1_000

export type BookHouse = PendingHouse &
  ReserveHouse & {
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
 * @throws Refusal invalid_params, conflict, idempotency_mismatch, service_unavailable; those of 422 are answered, so that a key replays them
 */
export async function book(
  house: BookHouse,
  caller: Caller,
  request: BookRequest,
  reply: BookReply,
  idempotencyKey: string | undefined,
): Promise<Answer> {
  const requestMac = mac(house.requestKey, JSON.stringify(request))
  if (idempotencyKey !== undefined) {
    const answer = await findAnswer(house.database, caller, idempotencyKey, requestMac)
    if (answer !== undefined) return answer
  }
  const { made, keyClaimed } = await make(house, caller, request, requestMac, idempotencyKey)
  const answer = made instanceof Refusal ? reply.refusal(made) : { status: 200, body: reply.booking(made) }
  if (idempotencyKey === undefined) return { ...answer, replayed: false }
  return keep(house.database, caller, idempotencyKey, requestMac, answer, keyClaimed)
}

/** A booking, or the refusal that is the answer; and whether this request is the one that claimed its Idempotency-Key. */
type Made = { made: StoredBooking | Refusal; keyClaimed: boolean }

async function make(
  house: BookHouse,
  caller: Caller,
  request: BookRequest,
  requestMac: Buffer,
  idempotencyKey: string | undefined,
): Promise<Made> {
  const offer = openOffer(house.offerKey, caller.accountId, caller.mode, request.offerId)
  checkParty(offer, request)
  const hash = offerHash(request.offerId)
  const before = () => findBefore(house, caller, hash, requestMac)
  const unclaimed = (made: StoredBooking | Refusal): Made => ({ made, keyClaimed: false })

  if (house.now() > offer.issuedAt + OFFER_VALID_MS) return unclaimed((await before()) ?? expired())
  const supplier = house.suppliers.get(offer.supplier)
  if (supplier === undefined) return unclaimed((await before()) ?? gone())
  const quote = await askPrice(house, supplier, offer)
  if (quote === undefined) return unclaimed((await before()) ?? raise(silent()))
  if (quote.kind === 'open' && hasLeft(quote, house.now())) return unclaimed((await before()) ?? gone())
  if (quote.kind !== 'open') return unclaimed((await before()) ?? notAtThisPrice(house, offer, quote))

  const pending = { caller, supplier, offer, offerHash: hash, quote, request, requestMac, idempotencyKey }
  const written = await writePending(house, pending)
  if (written.kind === 'written') {
    void house.seatsChanged()
    const booking = await reserve(house, supplier, written.booking)
    return { made: booking ?? (await whyGone(house, supplier, offer)), keyClaimed: true }
  }
  // A refusal here is not yet the answer where the key is taken: what its claimer comes to is.
  return unclaimed((await before()) ?? (await whyGone(house, supplier, offer)))
}

/**
 * The booking that an earlier request made of the offer, if any. While that one still waits for its supplier this one waits along, for the
 * booking may yet be withdrawn without a trace.
 * @returns a Refusal when it was booked with another body
 */
async function findBefore(
  house: BookHouse,
  caller: Caller,
  hash: Buffer,
  requestMac: Buffer,
): Promise<StoredBooking | Refusal | undefined> {
  const patientUntil = performance.now() + house.bookingWaitMs + VANISHED_AFTER_MS
  for (let look = 0; ; look++) {
    const booking = await findByOffer(house.database, house.travellerKey, caller, hash)
    if (booking === undefined) return undefined
    if (!booking.requestMac.equals(requestMac)) return alreadyBooked()
    if (booking.status !== 'pending' || booking.acknowledged) return booking
    if (performance.now() > patientUntil) return acknowledge(house, booking)
    await sleep(LOOK_AGAIN_MS[Math.min(look, LOOK_AGAIN_MS.length - 1)])
  }
}

/** What an offer costs now; undefined when its supplier does not say. */
async function askPrice(
  house: BookHouse,
  supplier: Supplier,
  offer: OfferContents,
): Promise<Quote | undefined> {
  try {
    return await within(QUOTE_DEADLINE_MS, signal =>
      supplier.quote(offer.mode, offer.reference, offer.passengers, signal),
    )
  } catch (error) {
    house.log.warn({ supplier: supplier.name, err: error }, 'supplier did not quote an offer')
    return undefined
  }
}

/** Whether the first flight has departed since the search. */
function hasLeft({ slices }: Extract<Quote, { kind: 'open' }>, now: number): boolean {
  return departureOf(slices[0]!).minute <= minuteOfMs(now)
}

/** Why an offer that looked open could not be booked: its seats went meanwhile, or its price moved. */
async function whyGone(house: BookHouse, supplier: Supplier, offer: OfferContents): Promise<Refusal> {
  await house.seatsChanged()
  const quote = await askPrice(house, supplier, offer)
  return quote === undefined || quote.kind === 'open' ? gone() : notAtThisPrice(house, offer, quote)
}

/** The rules that tie a request to its offer: as many passengers as were searched for, documents valid to the last arrival. */
function checkParty(offer: OfferContents, request: BookRequest): void {
  if (request.passengers.length !== offer.passengers) {
    const message = `must list ${offer.passengers} ${offer.passengers === 1 ? 'passenger' : 'passengers'}, as many as the search asked for`
    throw invalidParams([{ param: 'passengers', code: 'passenger_count', message }])
  }
  const lastDate = dateOf(offer.lastDay)
  const message = `the document must be valid until ${lastDate}, the last day of travel`
  const faults = request.passengers.flatMap((passenger, i) =>
    passenger.documentExpiry < lastDate
      ? [{ param: `passengers[${i}].documentExpiry`, code: 'document_expires', message }]
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
  const { currency, minor } = offer.perPerson
  const now = convert(quote.fares, currency, house.rates())
  if (now === undefined || now.minor === minor) return gone()
  const amount = (minor: number) => ({ amount: toAmount({ minor, currency }), currency })
  return new Refusal(
    'unavailable',
    'The price has changed; search again for an offer at the present price.',
    {
      param: 'offerId',
      priceChange: { from: amount(minor), to: amount(now.minor) },
    },
  )
}

const aboutOffer = { param: 'offerId' }

const gone = () =>
  new Refusal(
    'unavailable',
    'This offer is no longer available; search again and book another one.',
    aboutOffer,
  )

const alreadyBooked = () =>
  new Refusal(
    'unavailable',
    'This offer has been booked with other passengers or contact; search again for another booking.',
    aboutOffer,
  )

const expired = () =>
  new Refusal(
    'expired_offer',
    'This offer is older than 15 minutes; search again and book a fresh one.',
    aboutOffer,
  )

const silent = () =>
  new Refusal(
    'service_unavailable',
    'The supplier of this offer does not answer; nothing was booked. Try again in a few seconds.',
    { retryAfterSeconds: 2 },
  )

function raise(refusal: Refusal): never {
  throw refusal
}
