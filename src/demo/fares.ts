/** The demo fares: invented ladders of booking classes for the demo network, in the fares file's format. */

/** One booking class: price `base + perKm × km` in whole and decimal currency units, and seats authorised on a departure. */
type Rung = { bookingClass: string; base: number; perKm: number; seats: number }

/** Rungs by cabin, cheapest last as the trade writes them. */
const LADDER: Readonly<Record<'economy' | 'business' | 'first', readonly Rung[]>> = {
  economy: [
    { bookingClass: 'Y', base: 190, perKm: 0.17, seats: 400 },
    { bookingClass: 'B', base: 145, perKm: 0.125, seats: 40 },
    { bookingClass: 'M', base: 110, perKm: 0.095, seats: 30 },
    { bookingClass: 'H', base: 90, perKm: 0.076, seats: 24 },
    { bookingClass: 'K', base: 75, perKm: 0.063, seats: 20 },
    { bookingClass: 'L', base: 62, perKm: 0.053, seats: 16 },
    { bookingClass: 'V', base: 52, perKm: 0.0485, seats: 9 },
  ],
  business: [
    { bookingClass: 'J', base: 420, perKm: 0.52, seats: 80 },
    { bookingClass: 'C', base: 330, perKm: 0.4, seats: 12 },
    { bookingClass: 'D', base: 250, perKm: 0.31, seats: 8 },
    { bookingClass: 'I', base: 190, perKm: 0.235, seats: 4 },
  ],
  first: [
    { bookingClass: 'F', base: 700, perKm: 0.78, seats: 14 },
    { bookingClass: 'A', base: 500, perKm: 0.56, seats: 4 },
  ],
}

/** What a set of fares applies to, and how it differs from the ladder above. */
type FareSet = {
  carrier: string
  /** City pairs, both directions; none = any pair. */
  pairs?: readonly (readonly [string, string])[]
  currency: string
  /** Shares of the ladder's base and price for each kilometre. */
  base: number
  perKm: number
}

const SETS: readonly FareSet[] = [
  { carrier: '*', currency: 'USD', base: 1, perKm: 1 },
  // Sells in the currency of its neighbours, so that most searches see a conversion.
  { carrier: 'N1', currency: 'EUR', base: 0.7, perKm: 0.9 },
  { carrier: 'J1', currency: 'USD', base: 0.8, perKm: 0.85 },
  { carrier: 'XI', currency: 'USD', base: 1.1, perKm: 0.92 },
  // Pairs with much competition, and islands with none.
  {
    carrier: '*',
    pairs: [
      ['JFK', 'LAX'],
      ['SYD', 'MEL'],
      ['PVG', 'PEK'],
    ],
    currency: 'USD',
    base: 0.9,
    perKm: 0.75,
  },
  {
    carrier: '*',
    pairs: [
      ['AKL', 'APW'],
      ['NAN', 'APW'],
      ['APW', 'HNL'],
    ],
    currency: 'USD',
    base: 1.2,
    perKm: 1.3,
  },
  // One airline's answer to another on a pair that both fly.
  { carrier: 'E1', pairs: [['JFK', 'LHR']], currency: 'USD', base: 0.95, perKm: 0.98 },
  {
    carrier: 'M1',
    pairs: [
      ['AKL', 'SYD'],
      ['AKL', 'MEL'],
    ],
    currency: 'USD',
    base: 0.85,
    perKm: 1.05,
  },
]

/** The demo fares as a fares file (CSV with its header line). */
export function demoFares(): string {
  const lines = ['carrier,origin,destination,cabin,class,currency,base,per_km,seats']
  for (const set of SETS) {
    const pairs = set.pairs?.flatMap(([a, b]) => [
      [a, b],
      [b, a],
    ]) ?? [['*', '*']]
    for (const [origin, destination] of pairs) {
      for (const [cabin, rungs] of Object.entries(LADDER)) {
        for (const { bookingClass, base, perKm, seats } of rungs) {
          const price = `${(base * set.base).toFixed(2)},${(perKm * set.perKm).toFixed(4)}`
          lines.push(
            `${set.carrier},${origin},${destination},${cabin},${bookingClass},${set.currency},${price},${seats}`,
          )
        }
      }
    }
  }
  return `${lines.join('\n')}\n`
}
