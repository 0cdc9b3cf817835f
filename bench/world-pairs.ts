/** Which airports of the generated world are joined, and how many flights a day each pair has. */
import { randomFrom } from '../src/demo/random.ts'
import { type Airport, greatCircleKm } from '../src/travel/airport.ts'

/** Two airports with flights both ways; `a` and `b` are ranks, `flights` are flight numbers each way. */
export type Pair = { a: number; b: number; km: number; flights: number }

/** Destinations of an airport by its rank's share of all airports; between the points a power law. */
const DEGREES: readonly (readonly [share: number, degree: number])[] = [
  [0.0005, 256],
  [0.01, 140],
  [0.1, 34],
  [0.25, 13.5],
  [0.5, 3.2],
  [0.8, 1.2],
  [1, 1],
]

/** Flight numbers of a pair by its share of all pairs, busiest first. */
const FREQUENCIES: readonly (readonly [share: number, flights: number])[] = [
  [0.00005, 74],
  [0.01, 14.6],
  [0.05, 7],
  [0.1, 4.9],
  [0.25, 2.2],
  [0.45, 1],
  [1, 1],
]

/** Interpolates a curve of points with rising share, straight in the logarithms. */
function onCurve(points: readonly (readonly [number, number])[], share: number): number {
  let [x0, y0] = points[0]!
  for (const [x1, y1] of points) {
    if (share <= x1) {
      if (x1 === x0) return y1
      const part = Math.log(Math.max(share, x0) / x0) / Math.log(x1 / x0)
      return y0 * (y1 / y0) ** part
    }
    ;[x0, y0] = [x1, y1]
  }
  return y0
}

const SHORTEST_KM = 100
const LONGEST_KM = 15_000

/** How willingly a pair of a given length is joined. */
function attraction(km: number): number {
  if (km < SHORTEST_KM || km > LONGEST_KM) return 0
  return 1 / (1 + (km / 1350) ** 3.9)
}

/**
 * The pairs of airports given busiest first. Every airport has a number of places to fill; one after another, drawn by the places left, an
 * airport chooses a partner by the partner's places and the distance.
 */
export function worldPairs(airports: readonly Airport[], seed: number): Pair[] {
  const random = randomFrom(seed)
  const count = airports.length
  const size = airports.map((_, i) => {
    const degree = onCurve(DEGREES, (i + 0.5) / count)
    return Math.max(1, Math.min(Math.floor(degree + random()), Math.floor(count * 0.6)))
  })
  const willing = willingness(airports)
  const left = Float64Array.from(size)
  const weight = new Float64Array(count)
  const pairs: Pair[] = []
  for (;;) {
    const a = draw(left, random)
    if (a < 0) break
    const row = a * count
    for (let b = 0; b < count; b++) weight[b] = willing[row + b]! * left[b]!
    const b = draw(weight, random)
    if (b < 0) {
      left[a] = 0
      continue
    }
    willing[row + b] = 0
    willing[b * count + a] = 0
    left[a]!--
    left[b]!--
    pairs.push({
      a: Math.min(a, b),
      b: Math.max(a, b),
      km: kmBetween(airports[a]!, airports[b]!),
      flights: 1,
    })
  }
  return withFrequencies(pairs, size, random)
}

/** An index drawn by weight, or -1 when all weights are nothing. */
function draw(weights: Float64Array, random: () => number): number {
  let total = 0
  for (let i = 0; i < weights.length; i++) total += weights[i]!
  if (total < 1e-12) return -1
  let at = random() * total
  let last = -1
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue
    last = i
    at -= weights[i]!
    if (at < 0) break
  }
  return last
}

const kmBetween = (a: Airport, b: Airport) => greatCircleKm(a.latitude, a.longitude, b.latitude, b.longitude)

/** How willingly each airport is joined to each other: a square matrix, row by row. */
function willingness(airports: readonly Airport[]): Float64Array {
  const count = airports.length
  const out = new Float64Array(count * count)
  for (let a = 0; a < count; a++) {
    for (let b = 0; b < a; b++) {
      const home = airports[a]!.country === airports[b]!.country ? 3 : 1
      const value = attraction(kmBetween(airports[a]!, airports[b]!)) * home
      out[a * count + b] = value
      out[b * count + a] = value
    }
  }
  return out
}

/** Gives the pairs between large airports the many flights. */
function withFrequencies(pairs: readonly Pair[], size: readonly number[], random: () => number): Pair[] {
  const busy = pairs.map(pair => {
    const noise = Math.exp(1.6 * (random() + random() + random() - 1.5))
    return { pair, weight: ((size[pair.a]! * size[pair.b]!) ** 0.45 * noise) / (1 + pair.km / 1500) }
  })
  busy.sort((x, y) => y.weight - x.weight)
  return busy.map(({ pair }, i) => {
    const flights = onCurve(FREQUENCIES, (i + 0.5) / busy.length)
    return { ...pair, flights: Math.max(1, Math.floor(flights + random())) }
  })
}
