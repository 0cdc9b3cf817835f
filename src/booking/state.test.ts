import assert from 'node:assert/strict'
import { it } from 'node:test'
import { BOOKING_STATUSES } from './booking.ts'
import { TRANSITIONS, type Trigger } from './state.ts'

it('is the whole table of what can happen to a booking', () => {
  const triggers = Object.keys(TRANSITIONS) as Trigger[]
  const table = triggers.flatMap(trigger =>
    BOOKING_STATUSES.filter(status => TRANSITIONS[trigger].from.includes(status)).map(
      status => `${status} ${trigger} ${TRANSITIONS[trigger].to}`,
    ),
  )
  assert.deepEqual(table.sort(), [
    'confirmed cancelled cancelled',
    'pending accepted confirmed',
    'pending cancelled cancelled',
    'pending refused failed',
  ])
})
