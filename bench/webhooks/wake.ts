/** G2: how long after a booking's commit its events have arrived, by each way in which a sender may hear of it. */
import { type Child, startChild } from './child.ts'
import type { Arrival, Count } from './receiver.ts'
import type { BookOrder, Committed } from './sender.ts'
import type { Stage } from './stage.ts'

const WITHIN_MS = 10_000

export type Wake = {
  /** Milliseconds from commit to receipt, one for each delivery. */
  latencies: readonly number[]
  /** Bookings that began late: the machine could not keep up with the generator. */
  late: number
}

/**
 * Commits bookings, each owed to one endpoint, and times their receipts.
 * @param sender what sends; it commits as well where it is told `in process` or there is nothing to tell
 * @param first the endpoint, by its place, from which on bookings are made for
 */
export async function measureWake(
  stage: Stage,
  sender: Child,
  order: Pick<BookOrder, 'rate' | 'seconds' | 'told'>,
  first = 0,
): Promise<Wake> {
  const { database, receiver } = stage
  const booker =
    order.told === 'in process' || order.told === 'directly'
      ? sender
      : startChild(new URL('sender.ts', import.meta.url))
  try {
    await receiver.ask('reset', { note: true })
    const wanted: BookOrder = {
      ...order,
      url: stage.url,
      accounts: stage.endpoints.slice(first).map(endpoint => endpoint.accountId),
      urls: stage.endpoints.map((_, i) => stage.urlOf(i, 'https')).slice(first),
      authority: stage.authority.file,
      secret: stage.secret,
    }
    const { at, late } = await booker.ask<Committed>('book', wanted)
    await receiver.ask<Count>('expect', { number: at.length, withinMs: WITHIN_MS })
    const arrivals = await receiver.ask<Arrival[]>('arrivals')
    const events = await database.query<{ id: string; booking_id: string }>(
      'select id, booking_id from event where booking_id = any($1::text[])',
      [at.map(({ bookingId }) => bookingId)],
    )
    const bookingOf = new Map(events.map(event => [event.id, event.booking_id]))
    const committedAt = new Map(at.map(one => [one.bookingId, one.at]))
    const latencies = arrivals.flatMap(arrival => {
      const began = committedAt.get(bookingOf.get(arrival.id) ?? arrival.id)
      return began === undefined ? [] : [arrival.at - began]
    })
    if (latencies.length !== at.length)
      throw new Error(`${latencies.length} receipts of ${at.length} bookings`)
    return { latencies, late }
  } finally {
    if (booker !== sender) await booker.kill()
  }
}
