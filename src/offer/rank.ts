import type { Proposal } from '../supplier/supplier.ts'
import { elapsedMinutes, type Slice, stopsOf } from '../travel/itinerary.ts'
import { score } from '../travel/score.ts'

const minutesOf = (slices: readonly Slice[]) => slices.reduce((sum, slice) => sum + elapsedMinutes(slice), 0)
const stopsIn = (slices: readonly Slice[]) => slices.reduce((sum, slice) => sum + stopsOf(slice), 0)

/**
 * Orders the proposals of all suppliers, best first, and keeps `max` of them. The cheapest and the fastest non-stop are always kept: where
 * the score leaves them out they take the last places. Equal scores keep the order in which their supplier gave them.
 */
export function rank(proposals: readonly Proposal[], max: number): Proposal[] {
  const ranked = proposals
    .map(proposal => {
      const minutes = minutesOf(proposal.slices)
      const stops = stopsIn(proposal.slices)
      return { proposal, minutes, stops, score: score(proposal.referencePrice, minutes, stops) }
    })
    .sort((a, b) => a.score - b.score)
  if (ranked.length <= max) return ranked.map(entry => entry.proposal)
  const best = (
    fits: (entry: (typeof ranked)[number]) => boolean,
    worth: (entry: (typeof ranked)[number]) => number,
  ) =>
    ranked.filter(fits).reduce<(typeof ranked)[number] | undefined>((least, entry) => {
      return least === undefined || worth(entry) < worth(least) ? entry : least
    }, undefined)
  const cheapest = best(
    () => true,
    entry => entry.proposal.referencePrice,
  )
  const fastest = best(
    entry => entry.stops === 0,
    entry => entry.minutes,
  )
  const must = [cheapest, fastest].filter(entry => entry !== undefined && ranked.indexOf(entry) >= max)
  const missing = [...new Set(must)]
  const kept = [...ranked.slice(0, max)]
  for (let place = max - 1; missing.length > 0; place--) {
    if (kept[place] !== cheapest && kept[place] !== fastest) kept.splice(place, 1, missing.pop()!)
  }
  return kept.sort((a, b) => a!.score - b!.score).map(entry => entry!.proposal)
}
