import type { Logger } from '../log.ts'
import type { Caller } from '../partner/account.ts'
import { invalidParams, Refusal } from '../refusal.ts'
import { type Proposal, type Supplier, type SupplierQuery, within } from '../supplier/supplier.ts'
import { airport, place } from '../travel/airport.ts'
import { convert, DEMO_PROVIDER, type Rates } from '../travel/exchange.ts'
import { arrivalOf } from '../travel/itinerary.ts'
import type { Money } from '../travel/money.ts'
import { dayNumber, localDay, MINUTES_A_DAY, minuteOfMs } from '../travel/time.ts'
import {
  DAYS_AHEAD_MAX,
  OFFER_VALID_MS,
  OFFERS_MAX,
  type Offer,
  type OfferQuery,
  type SearchAnswer,
  type Warning,
} from './offer.ts'
import { rank } from './rank.ts'
import { sealOffer } from './seal.ts'

/** How long all suppliers together may take. */
const SUPPLIERS_DEADLINE_MS = 4_000

export type SearchHouse = {
  suppliers: ReadonlyMap<string, Supplier>
  rates(): Rates | undefined
  offerKey: Buffer
  log: Logger
  now(): number
}

/**
 * All suppliers at once under one deadline, their proposals ranked, priced for the party and sealed. Touches no database.
 * @throws Refusal invalid_params, no_results, or service_unavailable when every supplier failed
 */
export async function search(house: SearchHouse, caller: Caller, query: OfferQuery): Promise<SearchAnswer> {
  const now = house.now()
  const wanted = resolve(caller, query, now)
  const { proposals, failed } = await ask(house, wanted)
  if (failed > 0 && failed === house.suppliers.size) {
    throw new Refusal('service_unavailable', 'No supplier answered in time; search again in a few seconds.', {
      retryAfterSeconds: 2,
    })
  }
  const rates = house.rates()
  const offers: Offer[] = []
  let converted = false
  for (const proposal of rank(proposals, OFFERS_MAX)) {
    const perPerson = convert(proposal.fares, query.currency, rates)
    if (perPerson === undefined) throw noRate(query.currency)
    const exchanged = proposal.fares.some(fare => fare.currency !== query.currency)
    converted ||= exchanged
    offers.push(seal(house, caller, query, proposal, perPerson, exchanged ? ratesLabel(rates) : '', now))
  }
  if (offers.length === 0) {
    throw new Refusal(
      'no_results',
      'Nothing is sold between these places on this date; try another date, class or nearby airport.',
    )
  }
  const warnings: Warning[] = []
  if (converted && rates?.provider === DEMO_PROVIDER) {
    warnings.push({
      code: 'demo_rates',
      message:
        'Prices were converted with invented demonstration rates; the operator has not imported real ones yet.',
    })
  }
  if (failed > 0)
    warnings.push({
      code: 'supplier_unavailable',
      message: 'Some suppliers did not answer in time; there may be more offers.',
    })
  return { offers, warnings }
}

const ratesLabel = (rates: Rates | undefined) =>
  rates === undefined ? '' : `${rates.provider} ${rates.asOf}`

function seal(
  house: SearchHouse,
  caller: Caller,
  query: OfferQuery,
  proposal: Proposal,
  perPerson: Money,
  rates: string,
  now: number,
): Offer {
  const last = arrivalOf(proposal.slices.at(-1)!)
  const id = sealOffer(house.offerKey, caller.accountId, {
    mode: caller.mode,
    issuedAt: now,
    passengers: query.passengers,
    lastDay: Math.floor((last.minute + last.offset) / MINUTES_A_DAY),
    perPerson,
    rates,
    supplier: proposal.supplier,
    reference: proposal.reference,
  })
  return {
    id,
    supplier: proposal.supplier,
    slices: proposal.slices,
    passengers: query.passengers,
    perPerson,
    total: { minor: perPerson.minor * query.passengers, currency: perPerson.currency },
    seatsAvailable: proposal.seatsAvailable,
    expiresAt: now + OFFER_VALID_MS,
  }
}

async function ask(
  house: SearchHouse,
  query: SupplierQuery,
): Promise<{ proposals: Proposal[]; failed: number }> {
  const answers = await Promise.allSettled(
    [...house.suppliers.values()].map(supplier =>
      within(SUPPLIERS_DEADLINE_MS, signal => supplier.search(query, signal)),
    ),
  )
  const proposals: Proposal[] = []
  let failed = 0
  answers.forEach((answer, i) => {
    if (answer.status === 'fulfilled') {
      for (const proposal of answer.value) proposals.push(proposal)
      return
    }
    failed++
    house.log.warn(
      { supplier: [...house.suppliers.keys()][i], err: answer.reason },
      'supplier did not answer a search',
    )
  })
  return { proposals, failed }
}

function noRate(currency: string): Refusal {
  const message = `there is no exchange rate for ${currency} yet; leave it out or ask for another one`
  return invalidParams([{ param: 'currency', code: 'no_rate', message }])
}

/** Turns codes into airports and dates into days, and refuses what cannot be searched. */
function resolve(caller: Caller, query: OfferQuery, now: number): SupplierQuery {
  const faults: { param: string; code: string; message: string }[] = []
  const fault = (param: string, code: string, message: string) => faults.push({ param, code, message })
  const from = place(query.origin)
  const to = place(query.destination)
  const unknown = 'is no IATA code of an airport or city; use three letters such as LHR or LON'
  if (from === undefined) fault('origin', 'unknown_airport', unknown)
  if (to === undefined) fault('destination', 'unknown_airport', unknown)
  if (from !== undefined && to !== undefined && from.airports.some(code => to.airports.includes(code))) {
    fault('destination', 'same_place', 'must be another place than the origin')
  }
  const departDay = dayNumber(query.departDate)
  const returnDay = query.returnDate === undefined ? undefined : dayNumber(query.returnDate)
  if (departDay === undefined) fault('departDate', 'invalid_date', 'must be a date such as 2027-03-28')
  if (query.returnDate !== undefined && returnDay === undefined)
    fault('returnDate', 'invalid_date', 'must be a date such as 2027-04-04')
  if (from !== undefined && departDay !== undefined) {
    const today = localDay(airport(from.airports[0]!)!.zone, now)
    if (departDay < today) fault('departDate', 'in_the_past', 'lies before today at the origin')
    if (departDay > today + DAYS_AHEAD_MAX)
      fault('departDate', 'too_far_ahead', `lies more than ${DAYS_AHEAD_MAX} days ahead`)
    if (returnDay !== undefined && returnDay < departDay)
      fault('returnDate', 'before_departure', 'must not lie before departDate')
    if (returnDay !== undefined && returnDay > today + DAYS_AHEAD_MAX) {
      fault('returnDate', 'too_far_ahead', `lies more than ${DAYS_AHEAD_MAX} days ahead`)
    }
  }
  if (faults.length > 0) throw invalidParams(faults)
  return {
    mode: caller.mode,
    origins: from!.airports,
    destinations: to!.airports,
    departDay: departDay!,
    returnDay,
    leavesAfter: minuteOfMs(now),
    passengers: query.passengers,
    cabin: query.cabin,
  }
}
