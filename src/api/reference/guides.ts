import { DAYS_AHEAD_MAX, OFFER_VALID_MS, OFFERS_MAX } from '../../offer/offer.ts'
import { REFUSALS, Refusal } from '../../refusal.ts'
import type { LimitName, Settings } from '../../settings.ts'
import { PRICE_WEIGHT, REFERENCE_CURRENCY, REFERENCE_SCALE, STOP_MINUTES, score } from '../../travel/score.ts'
import { renderRefusal } from '../reply.ts'
import { CODE_NOTES } from './codes.ts'
import { EXAMPLE_REQUEST_ID } from './example.ts'
import { block, json, prose, safe, table } from './markup.ts'
import type { OpenApi } from './shapes.ts'

/** A chapter that explains what holds for many operations. */
export type Guide = { id: string; title: string; html: string }

/** What to read before the first call. */
export function startGuides(document: OpenApi, settings: Settings): Guide[] {
  const [, ...regions] = document.servers
  const rows = regions.map(({ description, url, variables = {} }) => [
    safe(description),
    `<code>${safe(Object.entries(variables).reduce((text, [name, { default: base }]) => text.replace(`{${name}}`, base), url))}</code>`,
  ])
  return [
    {
      id: 'addresses',
      title: 'Addresses and keys',
      html:
        p(
          'Every path starts at the address of your region. Regions share nothing: a key works at its own address only, and what is booked there stays there.',
        ) +
        table(['Region', 'Base address'], rows) +
        p('Send your key with every request, in one header:') +
        block('Header', `Authorization: Bearer <span class="s">${safe(settings.keyPrefix)}_test_…</span>`) +
        p(
          `Keys that start with \`${settings.keyPrefix}_test_\` book in a world of their own where nothing is real; keys that start with \`${settings.keyPrefix}_live_\` make real bookings. Bookings of one are not visible to the other. A key has scopes: \`search\`, \`book\`, \`read\`, \`webhooks\`. Keep keys on your servers, never in a browser or an app.`,
        ) +
        p(
          'The key is checked before anything else, on the headers alone; then its scope, then the rate limit, and only then what you sent.',
        ),
    },
    {
      id: 'first-booking',
      title: 'From search to booking',
      html:
        '<ol>' +
        li('Search. Each result carries an `offerId`.') +
        li('Book the `offerId` with the passengers you searched for, within 15 minutes.') +
        li('If `bookingStatus` is `pending`, retrieve the booking every few seconds until it is not.') +
        '</ol>' +
        block(
          'Before the examples below',
          'export BASE_URL=<span class="s">"' +
            safe(regionAddress(document)) +
            '"</span>\nexport API_KEY=<span class="s">"' +
            safe(settings.keyPrefix) +
            '_test_…"</span>',
        ),
    },
  ]
}

/** What holds for many operations, in the order of need. */
export function ruleGuides(settings: Settings): Guide[] {
  return [
    { id: 'ranking', title: 'How results are ordered', html: ranking() },
    {
      id: 'offers',
      title: 'Offers',
      html:
        p(
          `A search looks up to ${DAYS_AHEAD_MAX} days ahead and answers at most ${OFFERS_MAX} offers. An offer can be booked for ${OFFER_VALID_MS / 60_000} minutes after its search, by the account and in the mode that searched; \`expiresAt\` tells the moment.`,
        ) +
        p(
          'The flat fields of an offer describe the way out from end to end: `carrier` and `flightNumber` of the first flight, first departure, last arrival, landings in between. `slices` tells every flight, and the way back. `seatsAvailable` is the least over all flights and can change until you book.',
        ) +
        p(
          'When only the price has moved, book answers `unavailable` with `error.priceChange`: nothing was booked or charged.',
        ),
    },
    {
      id: 'booking-states',
      title: 'Booking states',
      html:
        table(
          ['State', 'What it means', 'Goes to'],
          [
            [
              '<code>pending</code>',
              prose('Accepted; the airline has not answered yet. `pnr` is empty.'),
              '<code>confirmed</code>, <code>failed</code>, <code>cancelled</code>',
            ],
            [
              '<code>confirmed</code>',
              prose('The airline holds the reservation under `pnr`; the price is charged.'),
              '<code>cancelled</code>',
            ],
            ['<code>failed</code>', 'The airline refused. Nothing was charged.', 'final'],
            ['<code>cancelled</code>', 'Cancelled by the passenger or the carrier.', 'final'],
          ],
        ) + p('`statusHistory` lists every state with its moment; `version` rises by one with every change.'),
    },
    {
      id: 'idempotency',
      title: 'Repeating a request safely',
      html:
        p(
          'When a connection breaks while you book, you cannot know whether the booking was made. Send `Idempotency-Key` with every book call, 1 to 255 visible characters, a fresh one for every new booking, and repeat the same request with the same key until you have an answer.',
        ) +
        '<ul>' +
        li(
          'For 24 hours the key gives the first answer again, status and body byte for byte, with the header `Idempotent-Replayed: true`.',
        ) +
        li(
          'The same key with another body is refused with `idempotency_mismatch`; while the first request still runs, with `conflict`.',
        ) +
        li(
          'Without a key, the offer itself protects you: booking the same offer again with the same body gives the booking that is there.',
        ) +
        '</ul>',
    },
    { id: 'rate-limits', title: 'Rate limits', html: rateLimits(settings) },
    {
      id: 'time-and-money',
      title: 'Time and money',
      html:
        p(
          'Departures and arrivals are local to their airport and carry its UTC offset on that day, such as `2027-03-28T21:05:00+01:00`. All other moments are UTC and end in `Z`. Durations are elapsed time, in hours and minutes, never days: `PT25H5M`.',
        ) +
        p(
          "`price.amount` is the whole trip for one person, taxes and fees included; `totalPrice` is for the party. Amounts are exact to the currency's minor unit by ISO 4217: two decimals for `USD`, none for `JPY`, three for `KWD`. Prices come in the currency you ask for, else in that of your account; fares in other currencies are added up exactly and rounded once, half up.",
        ),
    },
    {
      id: 'versions',
      title: 'Changes and versions',
      html: p(
        '`/v1` only grows: new optional request fields, new answer fields, new headers, new paths. Ignore what you do not know. The values of the lists documented here do not change. Anything else would be `/v2`, served beside `/v1` for twelve months. Request fields that we do not know are ignored.',
      ),
    },
  ]
}

/** How refusals look; the table of codes follows it. */
export function errorGuide(): string {
  const { message } = CODE_NOTES.invalid_params
  const param = 'departDate'
  const refusal = new Refusal('invalid_params', message, {
    param,
    details: [{ param, code: 'invalid_format', message: message.slice(param.length + 2) }],
  })
  const { body } = renderRefusal(refusal, EXAMPLE_REQUEST_ID)
  return (
    p(
      'Every refusal has the same shape. Branch on `error.code`; `message` is for people and may change. `requestId` is also in the header `X-Request-Id`: quote it when you ask for help.',
    ) +
    block(`Answer · ${REFUSALS.invalid_params.status}`, json(JSON.parse(body))) +
    p(
      'A request that does not arrive in time is answered 408 with `invalid_params`; headers beyond 8 KiB 431 with `payload_too_large`.',
    )
  )
}

function ranking(): string {
  const offers = [
    { what: 'Non-stop', price: 420, minutes: 480, stops: 0 },
    { what: 'One stop, cheaper', price: 355, minutes: 690, stops: 1 },
    { what: 'Two stops, cheapest', price: 330, minutes: 900, stops: 2 },
  ].map(offer => ({
    ...offer,
    points: score(offer.price * REFERENCE_SCALE, offer.minutes, offer.stops) / REFERENCE_SCALE,
  }))
  offers.sort((a, b) => a.points - b.points)
  return (
    p('Best first, by one number; the lower the better:') +
    `<p class="formula">points = ${PRICE_WEIGHT} × price + minutes + ${STOP_MINUTES} × stops</p>` +
    p(
      `Price is for one person, the whole trip, in ${REFERENCE_CURRENCY} whatever currency you asked for; minutes are elapsed, both ways; stops are landings in between. So one ${REFERENCE_CURRENCY} weighs as much as ${PRICE_WEIGHT} minutes, and each landing as much as ${STOP_MINUTES}. Nobody can pay for a better place.`,
    ) +
    table(
      ['Offer', 'Price', 'Time', 'Stops', 'Points'],
      offers.map(({ what, price, minutes, stops, points }) => [
        safe(what),
        `${price} ${REFERENCE_CURRENCY}`,
        `${Math.floor(minutes / 60)} h ${minutes % 60} min`,
        String(stops),
        `<b>${points}</b>`,
      ]),
    ) +
    p('The cheapest journey and the fastest non-stop are always among the results, whatever their points.')
  )
}

function rateLimits(settings: Settings): string {
  const names: [LimitName, string][] = [
    ['search.test', 'Search, test keys'],
    ['search.developer', 'Search, live keys, Developer'],
    ['search.enterprise', 'Search, live keys, Enterprise'],
    ['webhooks', 'What changes webhooks or sends events again'],
  ]
  return (
    table(
      ['What', 'Allowance'],
      names.map(([name, what]) => {
        const { quantity, windowSeconds } = settings.limits[name]
        return [what, `${quantity.toLocaleString('en')} in ${windowSeconds} s`]
      }),
    ) +
    p(
      'Counted per account and mode. Every limited answer carries `RateLimit-Policy` (the allowance) and `RateLimit` (`r` requests left now, all of them again in `t` seconds). Beyond it, 429 `rate_limited` tells in `Retry-After` when to send again.',
    ) +
    p(
      'Book, retrieve and all lists have no allowance. When too many of them run at once they are refused at once with 503 `service_unavailable` and `Retry-After`, so that what has been accepted stays fast.',
    )
  )
}

function regionAddress(document: OpenApi): string {
  const { url, variables = {} } = document.servers[1] ?? document.servers[0]!
  return Object.entries(variables).reduce(
    (text, [name, { default: base }]) => text.replace(`{${name}}`, base),
    url,
  )
}

const p = (text: string) => `<p>${prose(text)}</p>`
const li = (text: string) => `<li>${prose(text)}</li>`
