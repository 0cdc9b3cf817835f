import type { Database } from '../db/database.ts'
import { newId } from '../id.ts'
import { record } from '../ledger/store.ts'
import type { OfferContents } from '../offer/seal.ts'
import type { Caller } from '../partner/account.ts'
import type { Quote, Supplier } from '../supplier/supplier.ts'
import type { BookRequest, Traveller } from './booking.ts'
import { claimKey } from './idempotency/store.ts'
import { insertBooking, keepClaim, type StoredBooking } from './store.ts'
import { sealTravellers, type TravellerKey } from './travellers.ts'

/** Added to the partner's wait: after that the worker, or another bearer of the key, may take a booking over. */
const TAKEOVER_MARGIN_SECONDS = 5

export type PendingHouse = { database: Database; travellerKey: TravellerKey; bookingWaitMs: number }

/** A booking about to be written: what was sold, to whom, and how the request will be known again. */
export type PendingRequest = {
  caller: Caller
  supplier: Supplier
  offer: OfferContents
  offerHash: Buffer
  quote: Extract<Quote, { kind: 'open' }>
  request: BookRequest
  requestMac: Buffer
  idempotencyKey: string | undefined
}

/** Written and committed, or why nothing was. */
export type Written =
  | { kind: 'written'; booking: StoredBooking }
  | { kind: 'booked_before' }
  | { kind: 'key_taken' }
  | { kind: 'sold_out' }

/** Carries a reason out of a transaction that must roll back. */
class RolledBack extends Error {
  readonly written: Exclude<Written, { kind: 'written' }>
  constructor(kind: 'booked_before' | 'key_taken' | 'sold_out') {
    super(kind)
    this.written = { kind }
  }
}

/** Writes a booking `pending`, holds its price and claims its seats and its Idempotency-Key: one transaction, all or nothing. */
export async function writePending(house: PendingHouse, pending: PendingRequest): Promise<Written> {
  const { caller, supplier, offer, quote, request, requestMac, idempotencyKey } = pending
  const id = newId('bkg')
  const contact = { email: request.contactEmail, phone: request.contactPhone }
  const total = { minor: offer.perPerson.minor * offer.passengers, currency: offer.perPerson.currency }
  const takeOverSeconds = house.bookingWaitMs / 1000 + TAKEOVER_MARGIN_SECONDS
  const sealed = sealTravellers(house.travellerKey, id, request.passengers, contact)
  try {
    return await house.database.transaction(async tx => {
      if (
        idempotencyKey !== undefined &&
        !(await claimKey(tx, caller, idempotencyKey, requestMac, takeOverSeconds))
      )
        throw new RolledBack('key_taken')
      const inserted = await insertBooking(tx, caller, {
        id,
        supplier: supplier.name,
        reference: offer.reference,
        offerHash: pending.offerHash,
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
      if (claim !== '') await keepClaim(tx, id, claim, supplier.operations?.legs(claim) ?? [])
      const booking: StoredBooking = {
        id,
        accountId: caller.accountId,
        mode: caller.mode,
        status: 'pending',
        version: 1,
        supplier: supplier.name,
        recordLocator: '',
        slices: quote.slices,
        travellers: travellersOf(request),
        contactEmail: contact.email,
        contactPhone: contact.phone,
        perPerson: offer.perPerson,
        total,
        createdAt: inserted.createdAt,
        updatedAt: inserted.createdAt,
        statusHistory: inserted.history,
        changes: [],
        reference: offer.reference,
        claim,
        passengerCount: offer.passengers,
        requestMac,
        acknowledged: false,
        reconcileAttempts: 0,
      }
      return { kind: 'written', booking }
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.written
    throw error
  }
}

/** Travellers as a booking shows them. */
const travellersOf = (request: BookRequest): Traveller[] =>
  request.passengers.map(({ firstName, lastName, dateOfBirth, ...document }) => ({
    firstName,
    lastName,
    dateOfBirth,
    document: {
      type: document.documentType,
      lastFour: document.documentNumber.slice(-4),
      expiry: document.documentExpiry,
    },
  }))
