/** The outside carrier of carrier.ts as a supplier: what any adapter has to do, in its shortest form. */
import type { Outcome, Proposal, Quote, Reservation, Supplier } from '../../src/supplier/supplier.ts'
import type { Slice } from '../../src/travel/itinerary.ts'
import { MINUTES_A_DAY } from '../../src/travel/time.ts'

export const CARRIER = 'carrier'

type Kept = { departure: number; fare: number }

/** @param absentFinalAfterMs how long an order may take to show at the carrier */
export function carrierSupplier(url: string, absentFinalAfterMs: number): Supplier {
  const ask = (method: string, path: string, signal: AbortSignal) =>
    fetch(`${url}/${path}`, { method, signal })
  const price = async (signal: AbortSignal) =>
    (await (await ask('GET', 'price', signal)).json()) as { fare: number; seats: number }

  return {
    name: CARRIER,
    absentFinalAfterMs,
    async search(query, signal): Promise<Proposal[]> {
      const { fare, seats } = await price(signal)
      if (seats < query.passengers) return []
      const departure = query.departDay * MINUTES_A_DAY + 600
      return [
        {
          supplier: CARRIER,
          slices: [sliceOf(departure)],
          fares: [{ minor: fare, currency: 'USD' }],
          referencePrice: fare * 100,
          seatsAvailable: seats,
          reference: Buffer.from(JSON.stringify({ departure, fare } satisfies Kept)),
        },
      ]
    },
    async quote(_mode, reference, passengers, signal): Promise<Quote> {
      const kept = JSON.parse(Buffer.from(reference).toString()) as Kept
      const { fare, seats } = await price(signal)
      if (seats < passengers) return { kind: 'gone' }
      const fares = [{ minor: fare, currency: 'USD' }]
      if (fare !== kept.fare) return { kind: 'repriced', fares }
      return { kind: 'open', slices: [sliceOf(kept.departure)], fares, seatsAvailable: seats }
    },
    async reserve({ bookingId }: Reservation, signal): Promise<Outcome> {
      const response = await ask('POST', `orders/${bookingId}`, signal)
      if (response.status === 409) {
        const { refused } = (await response.json()) as { refused: string }
        if (refused === 'sold_out' || refused === 'price_changed' || refused === 'rejected')
          return { kind: 'refused', reason: refused }
      }
      return response.status === 200 ? held(await response.json()) : { kind: 'unknown' }
    },
    async lookUp({ bookingId }, signal) {
      const response = await ask('GET', `orders/${bookingId}`, signal)
      if (response.status === 404) return { kind: 'absent' }
      return response.status === 200 ? held(await response.json()) : { kind: 'unknown' }
    },
    async cancel({ bookingId }, signal) {
      const { status } = await ask('DELETE', `orders/${bookingId}`, signal)
      return { kind: status === 200 || status === 404 ? 'cancelled' : 'unknown' }
    },
  }
}

function held(answer: unknown): Outcome {
  const { locator } = answer as { locator?: unknown }
  return typeof locator === 'string' && locator !== ''
    ? { kind: 'held', recordLocator: locator }
    : { kind: 'unknown' }
}

function sliceOf(departure: number): Slice {
  const stop = (airport: string, minute: number) => ({ airport, minute, offset: 480, terminal: '' })
  return {
    segments: [
      {
        carrier: 'ZC',
        number: '77',
        operatingCarrier: 'ZC',
        operatingNumber: '77',
        departure: stop('SIN', departure),
        arrival: stop('HKG', departure + 240),
        stops: 0,
        aircraft: '320',
        cabin: 'economy',
        bookingClass: 'Y',
      },
    ],
  }
}
