/** Pairs of an outbound and a return journey, best first, without looking at all of them. */
import { best, keep, worst } from './best.ts'
import type { Journey, Order } from './journey.ts'

export type Pair = readonly [Journey, Journey]

/** One direction's journeys, in order. `complete` when there are no others. */
export type Side = { list: readonly Journey[]; complete: boolean }

/** The best pairs, and whether a longer list of either side could make them better. */
export type Pairs = { list: readonly Pair[]; deepenOut: boolean; deepenBack: boolean }

/** Whether the return leaves after the outbound has arrived. */
export function isFeasible(out: Journey, back: Journey): boolean {
  return back.departure > out.departure + out.minutes
}

/**
 * The best `count` feasible pairs of two sorted lists. Every pair is worse than the one with a better journey in either place, so a row is
 * left at the first pair that does not count, and so are the rows.
 */
export function bestPairs(out: Side, back: Side, order: Order<Pair>, count: number): Pairs {
  const pairs = best(count, order)
  for (const outbound of out.list) {
    let first = true
    let beaten = false
    for (const inbound of back.list) {
      const last = worst(pairs)
      beaten = last !== undefined && order([outbound, inbound], last) > 0
      if (beaten) break
      if (isFeasible(outbound, inbound)) keep(pairs, [outbound, inbound])
      first = false
    }
    if (beaten && first) break
  }
  const last = worst(pairs)
  // A journey that is not listed comes after the last listed one: at best it makes a pair with the other side's best.
  const couldBeat = (unlisted: Pair | undefined) =>
    unlisted !== undefined && (last === undefined || order(unlisted, last) < 0)
  const [lastOut, bestOut] = [out.list.at(-1), out.list[0]]
  const [lastBack, bestBack] = [back.list.at(-1), back.list[0]]
  return {
    list: pairs.list,
    deepenOut: !out.complete && couldBeat(lastOut && bestBack && [lastOut, bestBack]),
    deepenBack: !back.complete && couldBeat(lastBack && bestOut && [bestOut, lastBack]),
  }
}
