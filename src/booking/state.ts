import type { BookingStatus } from './booking.ts'

/** What can happen to a booking's status. */
export type Trigger = 'accepted' | 'refused' | 'cancelled'

/** From which states a trigger leads where; a transition that is not here does not exist. `failed` and `cancelled` are final. */
export const TRANSITIONS: Readonly<Record<Trigger, { from: readonly BookingStatus[]; to: BookingStatus }>> = {
  accepted: { from: ['pending'], to: 'confirmed' },
  refused: { from: ['pending'], to: 'failed' },
  cancelled: { from: ['pending', 'confirmed'], to: 'cancelled' },
}
