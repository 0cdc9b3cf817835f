import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { Proposal } from '../supplier/supplier.ts'
import type { Segment } from '../travel/itinerary.ts'
import { score } from '../travel/score.ts'
import { rank } from './rank.ts'

function proposal(referencePrice: number, minutes: number, stops: number): Proposal {
  const stop = (minute: number) => ({ airport: 'SIN', minute, offset: 0, terminal: '' })
  const segment: Segment = {
    carrier: 'ZX',
    number: '1',
    operatingCarrier: 'ZX',
    operatingNumber: '1',
    departure: stop(0),
    arrival: stop(minutes),
    stops,
    aircraft: '320',
    cabin: 'economy',
    bookingClass: 'Y',
  }
  return {
    supplier: 's',
    slices: [{ segments: [segment] }],
    fares: [],
    referencePrice,
    seatsAvailable: 9,
    reference: new Uint8Array(),
  }
}

const figures = (one: Proposal) => {
  const { arrival, stops } = one.slices[0]!.segments[0]!
  return { price: one.referencePrice, minutes: arrival.minute, stops }
}
const scoreOf = (one: Proposal) => {
  const { price, minutes, stops } = figures(one)
  return score(price, minutes, stops)
}

const some = fc.array(
  fc
    .tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 60, max: 90 }), fc.integer({ min: 0, max: 2 }))
    .map(([price, minutes, stops]) => proposal(price * 100_000, minutes, stops)),
  { minLength: 1, maxLength: 40 },
)

it('orders by score, keeps the best, and always the cheapest and the fastest non-stop', () => {
  fc.assert(
    fc.property(some, fc.integer({ min: 2, max: 12 }), (proposals, max) => {
      const kept = rank(proposals, max)
      assert.equal(kept.length, Math.min(max, proposals.length))
      assert.equal(new Set(kept).size, kept.length)
      assert.deepEqual(
        kept.map(scoreOf),
        kept.map(scoreOf).toSorted((a, b) => a - b),
      )
      const cheapest = Math.min(...proposals.map(one => figures(one).price))
      assert.ok(kept.some(one => figures(one).price === cheapest))
      const nonStop = proposals.filter(one => figures(one).stops === 0).map(one => figures(one).minutes)
      if (nonStop.length > 0) {
        assert.ok(kept.some(one => figures(one).stops === 0 && figures(one).minutes === Math.min(...nonStop)))
      }
      // All others are the best there are: at most two better ones had to make room.
      const best = proposals.toSorted((a, b) => scoreOf(a) - scoreOf(b)).slice(0, Math.max(0, max - 2))
      const scores = kept.map(scoreOf)
      for (const one of best) assert.ok(scores.includes(scoreOf(one)))
    }),
    { numRuns: 2_000 },
  )
})

it('keeps both where the score leaves both out', () => {
  const good = Array.from({ length: 60 }, (_, i) => proposal(1_000_000 + i, 100, 1))
  const slowAndCheap = proposal(10_000, 5_000, 2)
  const dearNonStop = proposal(90_000_000, 90, 0)
  const kept = rank([dearNonStop, slowAndCheap, ...good], 50)
  assert.equal(kept.length, 50)
  assert.deepEqual(kept.slice(0, 48), good.slice(0, 48))
  assert.deepEqual(new Set(kept.slice(48)), new Set([slowAndCheap, dearNonStop]))
})

it('keeps the order of equals', () => {
  const equal = Array.from({ length: 5 }, () => proposal(1, 60, 0))
  assert.deepEqual(rank(equal, 50), equal)
})
