/**
 * Searches a flight and books it, as a partner's program would. Needs nothing but Node.js.
 *
 *   AIRSIDE_URL=http://127.0.0.1:8080/v1 AIRSIDE_KEY=air_test_… node examples/search-and-book.ts LHR JFK 2027-01-20
 */
const baseUrl = process.env.AIRSIDE_URL ?? 'http://127.0.0.1:8080/v1'
const key = process.env.AIRSIDE_KEY
const [origin = 'LHR', destination = 'JFK', departDate = inDays(30)] = process.argv.slice(2)
if (key === undefined)
  throw new Error('Set AIRSIDE_KEY to a test key; a fresh Airside prints one when it starts.')

type Offer = {
  offerId: string
  carrier: string
  flightNumber: string
  departureTime: string
  price: { amount: number; currency: string }
}
type Booking = { bookingId: string; bookingStatus: string; pnr: string }

const { results } = await call<{ results: Offer[] }>('POST', '/travel/search', {
  origin,
  destination,
  departDate,
})
const offer = results[0]!
console.log(
  `${results.length} offers; the best: ${offer.carrier} ${offer.flightNumber}, ${offer.departureTime}`,
)
console.log(`${offer.price.amount} ${offer.price.currency} per person`)

// One key per intended booking: after a time-out, the same request with the same key can be sent again without booking twice.
const idempotencyKey = crypto.randomUUID()
let booking = await call<Booking>(
  'POST',
  '/travel/book',
  {
    offerId: offer.offerId,
    passengers: [
      {
        firstName: 'Ada',
        lastName: 'Example',
        dateOfBirth: '1990-05-17',
        documentType: 'passport',
        documentNumber: 'X1234567',
        documentExpiry: inDays(2000),
      },
    ],
    contactEmail: 'ada@example.com',
    contactPhone: '+442071838750',
  },
  { 'Idempotency-Key': idempotencyKey },
)

// `pending` means that the airline has not answered yet: ask again after a few seconds.
while (booking.bookingStatus === 'pending') {
  await new Promise(resolve => setTimeout(resolve, 3000))
  booking = await call<Booking>('GET', `/travel/booking/${booking.bookingId}`)
}
console.log(`${booking.bookingStatus}: ${booking.bookingId}, record locator ${booking.pnr}`)

async function call<T>(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<T> {
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as T & {
    requestId: string
    error: { code: string; message: string }
  }
  if (!response.ok) {
    const { code, message } = answer.error
    throw new Error(`${method} ${path}: ${code}: ${message} (requestId ${answer.requestId})`)
  }
  return answer
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
}
