/**
 * The order of offers. Lower is better: one unit of the reference currency weighs as much as four minutes, and each landing on the way as
 * much as an hour. The score never falls when price, elapsed time or stops rise, so a search may bound it from below; it adds up over
 * slices, so a round trip's score is the sum of its two directions.
 */
export const PRICE_WEIGHT = 4
export const STOP_MINUTES = 60

/** Parts of a reference price: 10,000 to one unit of the reference currency. */
export const REFERENCE_SCALE = 10_000

/** The currency in which fares are compared, whatever the answer's currency. */
export const REFERENCE_CURRENCY = 'USD'

/**
 * Score of a slice or an itinerary, in ten-thousandths of a minute, a whole number.
 * @param referencePrice price for one person in ten-thousandths of the reference currency
 * @param minutes elapsed
 * @param stops landings in between
 */
export function score(referencePrice: number, minutes: number, stops: number): number {
  return PRICE_WEIGHT * referencePrice + REFERENCE_SCALE * (minutes + STOP_MINUTES * stops)
}
