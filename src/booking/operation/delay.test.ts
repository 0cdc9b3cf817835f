import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Slice } from '../../travel/itinerary.ts'
import { dayNumber, formatLocal, MINUTES_A_DAY } from '../../travel/time.ts'
import { retime } from './delay.ts'

const stop = (airport: string, date: string, minute: number, offset: number) => ({
  airport,
  minute: dayNumber(date)! * MINUTES_A_DAY + minute - offset,
  offset,
  terminal: '',
})
const segment = (departure: ReturnType<typeof stop>, arrival: ReturnType<typeof stop>, stops = 0) => ({
  carrier: 'ZX',
  number: '1',
  operatingCarrier: 'ZX',
  operatingNumber: '1',
  departure,
  arrival,
  stops,
  aircraft: '320',
  cabin: 'economy' as const,
  bookingClass: 'Y',
})

/** London turns its clocks at 01:00 UTC on 28 March 2027: 00:30 +00:00 is followed by 02:00 +01:00. */
const NIGHT: Slice = {
  segments: [segment(stop('LHR', '2027-03-28', 30, 0), stop('CDG', '2027-03-28', 4 * 60, 120))],
}
const LEG = { leg: 'ZX1/LHR', departs: '2027-03-28' }

test('local times follow a clock that is turned meanwhile, and come back', () => {
  const late = retime([NIGHT], [LEG], [{ ...LEG, cancelled: false, delayMinutes: 45 }])!
  const { departure, arrival } = late.slices[0]!.segments[0]!
  assert.equal(formatLocal(departure.minute, departure.offset), '2027-03-28T02:15:00+01:00')
  assert.equal(formatLocal(arrival.minute, arrival.offset), '2027-03-28T04:45:00+02:00')
  assert.deepEqual(late.fields[0], {
    path: 'slices[0].segments[0].departureTime',
    from: '2027-03-28T00:30:00+00:00',
    to: '2027-03-28T02:15:00+01:00',
  })
  const back = retime(late.slices, [LEG], [{ ...LEG, cancelled: false, delayMinutes: 0 }])!
  assert.deepEqual(back.slices, [NIGHT])
})

test('whatever happened before, times are those of what holds now, and saying it again changes nothing', () => {
  const legs = ['A', 'B', 'C'].map((board, i) => ({
    leg: `ZX1/${board}`,
    departs: `2027-03-2${8 + Math.min(i, 1)}`,
  }))
  const through = segment(stop('LHR', '2027-03-28', 30, 0), stop('CDG', '2027-03-28', 240, 120), 1)
  const onward = segment(stop('CDG', '2027-03-28', 300, 120), stop('FRA', '2027-03-28', 400, 120))
  const sold: Slice[] = [{ segments: [through] }, { segments: [onward] }]
  const state = fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 0, max: 2880 })), { maxLength: 8 })
  fc.assert(
    fc.property(state, steps => {
      const now = [0, 0, 0]
      let slices: readonly Slice[] = sold
      for (const [leg, delayMinutes] of steps) {
        now[leg] = delayMinutes
        const operated = [{ ...legs[leg]!, cancelled: false, delayMinutes }]
        slices = retime(slices, legs, operated)?.slices ?? slices
        assert.equal(retime(slices, legs, operated), undefined)
      }
      const [a, , c] = now as [number, number, number]
      const moved = (before: { minute: number }, after: { minute: number }) => after.minute - before.minute
      const [one, two] = [slices[0]!.segments[0]!, slices[1]!.segments[0]!]
      assert.equal(moved(through.departure, one.departure), a)
      assert.equal(moved(through.arrival, one.arrival), now[1])
      assert.equal(moved(onward.departure, two.departure), c)
      assert.equal(moved(onward.arrival, two.arrival), c)
    }),
  )
})
