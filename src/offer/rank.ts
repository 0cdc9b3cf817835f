import type { Proposal } from '../supplier/supplier.ts'
import { elapsedMinutes, stopsOf } from '../travel/itinerary.ts'
import { score } from '../travel/score.ts'

type Ranked = { proposal: Proposal; minutes: number; stops: number; score: number }

/**
 * Orders the proposals of all suppliers, best first, and keeps `max` of them (at least 2). The cheapest and the fastest non-stop are always
 * kept: where the score leaves them out they take the place of the last ones. Equal scores keep the order in which their supplier gave them.
 */
export function rank(proposals: readonly Proposal[], max: number): Proposal[] {
  const ranked = proposals.map(rankedOf).sort((a, b) => a.score - b.score)
  const must = new Set([
    least(ranked, entry => entry.proposal.referencePrice),
    least(
      ranked.filter(entry => entry.stops === 0),
      entry => entry.minutes,
    ),
  ])
  let others = max - ranked.filter(entry => must.has(entry)).length
  return ranked.filter(entry => must.has(entry) || others-- > 0).map(entry => entry.proposal)
}

function rankedOf(proposal: Proposal): Ranked {
  const minutes = proposal.slices.reduce((sum, slice) => sum + elapsedMinutes(slice), 0)
  const stops = proposal.slices.reduce((sum, slice) => sum + stopsOf(slice), 0)
  return { proposal, minutes, stops, score: score(proposal.referencePrice, minutes, stops) }
}

/** The entry worth least, the better ranked of equals; undefined of none. */
function least(ranked: readonly Ranked[], worth: (entry: Ranked) => number): Ranked | undefined {
  return ranked.reduce<Ranked | undefined>(
    (best, entry) => (best === undefined || worth(entry) < worth(best) ? entry : best),
    undefined,
  )
}
