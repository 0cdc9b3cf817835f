/** Own flights behind a supplier with moods: seats in the database as always, answers as the test wants them. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome, Supplier } from '../../src/supplier/supplier.ts'

/** Whether the reservation is made, and what is heard of it: in time, late, or never. */
export type Temper = {
  makes: boolean
  hears: 'truth' | 'nothing'
  late: boolean
  reason: 'sold_out' | 'price_changed' | 'rejected'
}

/** @param temper of the next reservation @param lateMs longer than a partner waits */
export function moodySupplier(
  inventory: Supplier,
  temper: () => Temper,
  lateMs: number,
): { supplier: Supplier; made: ReadonlyMap<string, string>; twice: readonly string[] } {
  const made = new Map<string, string>()
  const asked = new Set<string>()
  const twice: string[] = []
  const refusals = new Map<string, Outcome>()
  const supplier: Supplier = {
    ...inventory,
    async reserve(reservation, signal) {
      const { bookingId } = reservation
      if (asked.has(bookingId)) twice.push(bookingId)
      asked.add(bookingId)
      const { makes, hears, late, reason } = temper()
      const held = await inventory.reserve(reservation, signal)
      if (makes) made.set(bookingId, (held as { recordLocator: string }).recordLocator)
      else if (hears === 'truth') refusals.set(bookingId, { kind: 'refused', reason })
      if (late) await sleep(lateMs)
      if (hears === 'nothing') throw new Error('silence')
      return refusals.get(bookingId) ?? held
    },
    async lookUp({ bookingId }) {
      const recordLocator = made.get(bookingId)
      if (recordLocator !== undefined) return { kind: 'held', recordLocator }
      return refusals.get(bookingId) ?? { kind: 'absent' }
    },
    async cancel({ bookingId }) {
      made.delete(bookingId)
      return { kind: 'cancelled' }
    },
  }
  return { supplier, made, twice }
}
