import type { Settings } from '../../settings.ts'
import { EVENT_TYPES } from '../../webhook/event.ts'
import type { Guide } from './guides.ts'
import { block, json, prose, safe, table } from './markup.ts'
import { EXAMPLE_EVENT } from './webhook-example.ts'

const p = (text: string) => `<p>${prose(text)}</p>`
const li = (text: string) => `<li>${prose(text)}</li>`

/** What a receiver of events has to know, in the order of need. */
export function webhookGuides(settings: Settings): Guide[] {
  const header = `X-${settings.brand}-Signature`
  return [
    { id: 'receiving', title: 'Receiving events', html: receiving(header) },
    { id: 'verifying', title: 'Verifying signatures', html: verifying(header) },
    { id: 'webhook-retries', title: 'Answers and retries', html: retries(settings.webhookRetryMs) },
    { id: 'webhook-order', title: 'Duplicates, order, replays', html: order() },
    { id: 'webhook-addresses', title: 'Which addresses are allowed', html: addresses() },
  ]
}

const WHEN: Readonly<Record<(typeof EVENT_TYPES)[number], string>> = {
  'booking.confirmed': 'The airline holds the reservation; `pnr` is its record locator.',
  'booking.failed': 'The airline refused. Nothing was charged.',
  'booking.cancelled': 'Cancelled, by whoever.',
  'booking.updated': 'Something of it changed while its status stayed: a time, a seat, the record locator.',
}

function receiving(header: string): string {
  return (
    p(
      'Register an HTTPS URL, and every change of a booking is sent to it as a POST, within milliseconds of its commit. A transition sends its own event only.',
    ) +
    table(
      ['Event', 'When'],
      EVENT_TYPES.map(type => [`<code>${type}</code>`, prose(WHEN[type])]),
    ) +
    block('Body', json(JSON.parse(EXAMPLE_EVENT.body.toString('utf8')))) +
    table(
      ['Header', 'What it is'],
      [
        [`<code>${safe(header)}</code>`, prose('Hex HMAC-SHA-256 of the raw body, when you gave a secret.')],
        ['<code>webhook-id</code>', prose('The id of the event, the same on every attempt.')],
        ['<code>webhook-timestamp</code>', prose('When this attempt was sent, in seconds since 1970.')],
        [
          '<code>webhook-signature</code>',
          prose(
            '`v1,` and the base64 HMAC-SHA-256 of `id.timestamp.body`; two of them, separated by a blank, while a secret rotates.',
          ),
        ],
        [
          `<code>${safe(header.replace(/Signature$/, 'Attempt'))}</code>`,
          prose('1 for the first attempt, up to 4.'),
        ],
      ],
    ) +
    p(
      'The three that begin with `webhook-` are those of [Standard Webhooks](https://www.standardwebhooks.com), for which there are libraries in most languages.',
    ).replace(/\[([^\]]+)\]\((https:[^)]+)\)/, '<a href="$2">$1</a>') +
    p(
      'To see events on your own machine, without a public address: `node bin/airside.js listen --forward-to http://localhost:3000/hook --key …_test_…`, and in another window `node bin/airside.js trigger booking.confirmed --key …_test_…`.',
    )
  )
}

function verifying(header: string): string {
  return (
    p('Anybody can send a POST to your URL. Verify it before you look at what it says:') +
    '<ul>' +
    li('over the bytes as they arrived, not over JSON that was parsed and written again;') +
    li('with a comparison that takes the same time wherever the values differ;') +
    li('and refuse a `webhook-timestamp` that is more than five minutes off: an old capture is a replay.') +
    '</ul>' +
    block('Node.js', VERIFY.replace('HEADER', header.toLowerCase())) +
    p(
      `\`${header}\` covers the body alone, so it cannot tell an old capture from a fresh delivery: verify \`webhook-signature\` as well, or instead. Its key is the base64 after \`whsec_\`, decoded; a secret of any other form is taken as its UTF-8 bytes, which is also what \`${header}\` takes of every secret.`,
    ) +
    p(
      `To change a secret, rotate it. While both are valid, \`webhook-signature\` carries a signature of each; \`${header}\` keeps the old one, and \`${header}-Next\` carries the new one. Accept either until the old one has ended.`,
    )
  )
}

const keyword = (text: string) => `<span class="k">${text}</span>`
const VERIFY = `${keyword('import')} { createHmac, timingSafeEqual } ${keyword('from')} <span class="s">'node:crypto'</span>

${keyword('const')} same = (a, b) =&gt; a.length === b.length &amp;&amp; timingSafeEqual(a, b)

<span class="c">// headers: names in lower case; body: a Buffer of the raw bytes; secret: whsec_…</span>
${keyword('function')} verified(headers, body, secret) {
  ${keyword('const')} { <span class="s">'webhook-id'</span>: id, <span class="s">'webhook-timestamp'</span>: at, <span class="s">'webhook-signature'</span>: signatures } = headers
  ${keyword('if')} (!(Math.abs(Date.now() / 1000 - Number(at)) &lt; 300)) ${keyword('return')} false
  ${keyword('const')} key = Buffer.from(secret.slice(6), <span class="s">'base64'</span>)
  ${keyword('const')} wanted = createHmac(<span class="s">'sha256'</span>, key).update(\`\${id}.\${at}.\`).update(body).digest()
  ${keyword('return')} signatures.split(<span class="s">' '</span>).some(one =&gt; one.startsWith(<span class="s">'v1,'</span>)
    &amp;&amp; same(Buffer.from(one.slice(3), <span class="s">'base64'</span>), wanted))
}

<span class="c">// or the body alone, by the contract's header</span>
${keyword('const')} wanted = createHmac(<span class="s">'sha256'</span>, secret).update(body).digest()
${keyword('const')} good = same(Buffer.from(headers[<span class="s">'HEADER'</span>], <span class="s">'hex'</span>), wanted)`

function retries(waits: readonly number[]): string {
  const rows = waits.map((wait, i) => [
    String(i + 2),
    `${duration(wait)} after the failure of attempt ${i + 1}, give or take 10 %`,
  ])
  return (
    p(
      'Answer 200 within 5 seconds of the first packet: keep the event, answer, then work. Nothing else counts as received, not even another 2xx, and redirects are not followed.',
    ) +
    table(['Attempt', 'When'], [['1', 'at once'], ...rows]) +
    p(
      'After the last failure the delivery is `exhausted`: it is listed for 30 days with every attempt, and can be sent again, one event or a whole window. All attempts carry the same bytes and the same `webhook-id`.',
    ) +
    p(
      'A webhook that has failed for days is disabled, and so is one that answers 410 to all attempts of an event. Enable it with one call, and recover what it missed from `missedSince`.',
    )
  )
}

function order(): string {
  return (
    '<ul>' +
    li(
      'An event may come more than once: whoever answered too late, or lost the answer, gets it again. Keep the `webhook-id` of what you have handled, in the same transaction, and ignore it the second time.',
    ) +
    li(
      'Events may come out of order. `version` is the booking’s change counter: ignore an event whose version is not above the last one you have seen of that booking. A version that was skipped is on its way, or can be sent again.',
    ) +
    li('Where only the present matters, take an event as a hint and retrieve the booking.') +
    li('Test events carry `"test": true`; do not act on them.') +
    '</ul>'
  )
}

function addresses(): string {
  return (
    p(
      'A URL is `https`, without user name, password or fragment, and not on a port that browsers refuse. Its host is public: not this machine, a private network, a link-local or a reserved range, in whatever spelling. That is checked when you register, and at every connection again, on the address really connected to; all addresses of a name must be public.',
    ) +
    p(
      'The certificate must be valid for the host; TLS 1.2 or later. Requests come from the addresses of the operator: ask them if you keep a list. Rather trust the signature.',
    )
  )
}

function duration(ms: number): string {
  if (ms % 60_000 === 0) return `${ms / 60_000} min`
  return ms % 1_000 === 0 ? `${ms / 1_000} s` : `${ms} ms`
}
