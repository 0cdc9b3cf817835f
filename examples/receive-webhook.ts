/**
 * Receives webhooks: verifies each, answers at once, handles every event once and none that is stale. Needs nothing but Node.js.
 *
 *   WEBHOOK_SECRET=whsec_… node examples/receive-webhook.ts 3000
 *
 * To try it without a public address, in two more windows:
 *
 *   node bin/airside.js listen --forward-to http://localhost:3000/hook --key air_test_… --secret whsec_…
 *   node bin/airside.js trigger booking.confirmed --key air_test_…
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'

const secret = process.env.WEBHOOK_SECRET
if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret that the webhook was registered with.')
const port = Number(process.argv[2] ?? 3000)

/** Older captures are replays, and so is anything from the future. */
const TOLERANCE_SECONDS = 5 * 60
const BODY_MAX = 64 * 1024

type BookingEvent = {
  event: string
  timestamp: string
  data: { bookingId: string; bookingStatus: string; pnr: string }
  id: string
  version: number
  test?: true
}

const same = (a: Buffer, b: Buffer) => a.length === b.length && timingSafeEqual(a, b)
const hmac = (key: Buffer) => createHmac('sha256', key)

/** Why a delivery cannot be trusted; undefined when it can. `body` is the raw bytes, never JSON that was parsed and written again. */
function distrust(headers: IncomingHttpHeaders, body: Buffer): string | undefined {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures } = headers
  if (typeof id !== 'string' || typeof at !== 'string' || typeof signatures !== 'string')
    return 'it is not signed'
  // Written so that NaN, from a timestamp that is no number, is refused as well.
  if (!(Math.abs(Date.now() / 1000 - Number(at)) <= TOLERANCE_SECONDS))
    return 'it is too old, or from the future'
  // Standard Webhooks: `whsec_` and base64 is the key; any other secret is its own bytes. There are two signatures while a secret rotates.
  const key = secret!.startsWith('whsec_') ? Buffer.from(secret!.slice(6), 'base64') : Buffer.from(secret!)
  const wanted = hmac(key).update(`${id}.${at}.`).update(body).digest()
  const signed = signatures
    .split(' ')
    .some(one => one.startsWith('v1,') && same(Buffer.from(one.slice(3), 'base64'), wanted))
  if (!signed) return 'its signature is wrong'
  // The HMAC of the body alone, under the secret's own bytes: there when the webhook has a secret of yours. `-Next` is the new secret's.
  const ofBody = hmac(Buffer.from(secret!)).update(body).digest()
  const own = [headers['x-airside-signature'], headers['x-airside-signature-next']].filter(
    one => typeof one === 'string',
  )
  if (own.length > 0 && !own.some(one => same(Buffer.from(one, 'hex'), ofBody)))
    return 'its X-Airside-Signature is wrong'
  return undefined
}

/**
 * What was handled: event ids, and the last version of each booking. A real receiver keeps both in its database and writes them in the
 * transaction that handles the event, so that neither a crash nor a second process can handle one twice.
 */
const handled = new Set<string>()
const versions = new Map<string, number>()

/** Handles a trusted event once. Returns what became of it. */
function handle(event: BookingEvent): string {
  if (handled.has(event.id)) return 'seen before'
  handled.add(event.id)
  if (event.test) return 'a test'
  const { bookingId, bookingStatus, pnr } = event.data
  const known = versions.get(bookingId) ?? 0
  if (event.version <= known) return `stale: version ${known} is known`
  versions.set(bookingId, event.version)
  return `handled: ${bookingId} is ${bookingStatus}${pnr === '' ? '' : ` under ${pnr}`}, version ${event.version}`
}

/** The raw body; undefined when it is larger than any event. */
async function read(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > BODY_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const server = createServer(async (request, response) => {
  const body = await read(request).catch(() => undefined)
  if (request.method !== 'POST' || body === undefined) return response.writeHead(400).end()
  const reason = distrust(request.headers, body)
  if (reason !== undefined) {
    console.log(`refused: ${reason}`)
    return response.writeHead(401).end()
  }
  const event = JSON.parse(body.toString('utf8')) as BookingEvent
  // Answer first: slow work belongs behind the answer, for after five seconds the attempt has failed and comes again.
  response.writeHead(200).end()
  console.log(`${event.event} ${event.id}: ${handle(event)}`)
})
server.listen(port, () => {
  const address = server.address()
  console.log(`Receiving on http://localhost:${typeof address === 'object' ? address?.port : port}/`)
})
