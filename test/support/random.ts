/** Chance that repeats: the same seed draws the same values. */
export type Random = {
  /** 0 ≤ x < 1. */
  next(): number
  /** A whole number, both ends included. */
  whole(low: number, high: number): number
  chance(probability: number): boolean
  of<T>(items: readonly T[]): T
}

/** A generator (mulberry32). */
export function random(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    whole: (low, high) => low + Math.floor(next() * (high - low + 1)),
    chance: probability => next() < probability,
    of: items => items[Math.floor(next() * items.length)]!,
  }
}
