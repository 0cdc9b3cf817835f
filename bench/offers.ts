/** Offers to book: gathered by searches between cities of the demo network, on many days. */
import { randomFrom } from '../src/demo/random.ts'
import { dateOf } from '../src/travel/time.ts'
import { dial, post } from './line.ts'

/** Pairs with many ways to travel, non-stop and by connections. */
const PAIRS = [
  'JFK LHR',
  'LAX SYD',
  'LHR SIN',
  'JFK LAX',
  'PVG PEK',
  'SIN SYD',
  'LHR HKG',
  'CDG NRT',
  'LAX CDG',
  'FRA SIN',
  'JFK HKG',
  'SYD LHR',
] as const
const DAYS_AHEAD_FROM = 5
const DAYS_AHEAD_TO = 320
const LINES = 8

/** Where a server listens, and a key that may search and book there. */
export type Counter = { port: number; key: string }

/**
 * At least `count` offers for one person, in an order in which neighbours seldom share a flight. The same seed asks the same questions.
 * @param today a day number of travel/time
 * @throws Error when the server has too little to sell
 */
export async function gatherOffers(
  counter: Counter,
  count: number,
  seed: number,
  today: number,
): Promise<string[]> {
  const random = randomFrom(seed)
  const offers: string[] = []
  let asked = 0
  const work = async () => {
    const line = dial(counter.port)
    while (offers.length < count && asked++ < count) {
      const [origin, destination] = PAIRS[Math.floor(random() * PAIRS.length)]!.split(' ')
      const departDate = dateOf(
        today + DAYS_AHEAD_FROM + Math.floor(random() * (DAYS_AHEAD_TO - DAYS_AHEAD_FROM)),
      )
      const body = JSON.stringify({ origin, destination, departDate })
      const answer = await line.ask(post('/v1/travel/search', counter.key, body))
      if (answer.status === 401 || answer.status === 403 || answer.status === 429) {
        throw new Error(`a search was refused: ${answer.body.toString('utf8')}`)
      }
      if (answer.status === 200) {
        for (const [, id] of answer.body.toString('latin1').matchAll(/"offerId":"([^"]+)"/g)) offers.push(id!)
      }
    }
    line.close()
  }
  await Promise.all(Array.from({ length: LINES }, work))
  if (offers.length < count) throw new Error(`only ${offers.length} of ${count} offers were found`)
  for (let i = offers.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const other = offers[i]!
    offers[i] = offers[j]!
    offers[j] = other
  }
  return offers
}

/** The body of a booking of one traveller. */
export function bookingBody(offerId: string): string {
  return JSON.stringify({
    offerId,
    passengers: [
      {
        firstName: 'Alex',
        lastName: 'Example',
        dateOfBirth: '1990-02-03',
        documentType: 'passport',
        documentNumber: 'X1234567',
        documentExpiry: '2039-12-31',
      },
    ],
    contactEmail: 'alex@example.com',
    contactPhone: '+442079460018',
  })
}
