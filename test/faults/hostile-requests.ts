/** Requests as an attacker, or a program with a mistake, sends them: valid ones with something wrong. */
import fc from 'fast-check'
import { bookBody } from '../support/client.ts'
import { dayAhead } from '../support/small-network.ts'

export type Hostile = {
  method: string
  path: string
  headers: readonly (readonly [string, string])[]
  body: Buffer | undefined
  /** The header lines that frame the body: as they must be, or not. */
  framing: Framing
  /** Whether the credentials are a key that works. */
  admitted: boolean
}

type Framing =
  | 'length'
  | 'chunked'
  | 'short'
  | 'long'
  | 'both'
  | 'two lengths'
  | 'signed length'
  | 'blank before colon'
  | 'folded'
  | 'bare line feeds'
/** Framings that only a sender with an intention produces: for these a closed connection is an answer too. */
export const BROKEN_FRAMINGS: ReadonlySet<Framing> = new Set([
  'short',
  'long',
  'both',
  'two lengths',
  'signed length',
  'blank before colon',
  'folded',
  'bare line feeds',
])

/** What the generator is given to be wrong about. */
export type Material = { keys: readonly string[]; offers: readonly string[]; bookingIds: readonly string[] }

const LONG = [1, 100, 101, 255, 256, 2048, 65_536].map(length => 'A'.repeat(length))
const TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udc00y',
  '\ufeffLHR',
  '\u202eSIN',
  '\u2028',
  'é'.normalize('NFD'),
  '𝕏'.repeat(50),
  '2026-02-30',
  '0000-00-00',
  '0000-01-01',
  '9999-12-31',
  '+275760-09-13',
  '-000001-01-01',
  '2027-1-1',
  "'; drop table booking; --",
  '=cmd|calc!A1',
  'a\r\nX-Injected: yes',
  '{{7*7}}#{7*7}',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  'toString',
  `${'a'.repeat(20_000)}!`,
  `+${'1'.repeat(30_000)}`,
  `${'a@'.repeat(10_000)}b.c`,
  ...LONG,
]
/** JSON tokens that no program writes by itself. */
const TOKENS = [
  '1e400',
  '-1e400',
  '-0',
  '9007199254740993',
  '1E-400',
  '0.1e1',
  '01',
  '+1',
  'NaN',
  'Infinity',
  'undefined',
  "'a'",
  '1_000',
  '"\\x41"',
  '"\\ud800"',
  '"\\u0000"',
]

const evilText = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
)
const evil: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: evilText },
  { weight: 2, arbitrary: fc.constantFrom(null, true, false, 0, 1, 9, 10, -1, 1.5, 2 ** 53, 1e308, -1e308) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      [],
      {},
      [[]],
      [null],
      { length: 9 },
      { toString: 'x' },
      Array(10).fill({}),
      Array(2000).fill(0),
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(...TOKENS).map(token => `@raw@${token}@raw@`) },
)

/** Arbitrary requests around this material. */
export function hostileRequest(material: Material): fc.Arbitrary<Hostile> {
  const search = mutated(
    fc.constant({
      origin: 'SIN',
      destination: 'HKG',
      departDate: dayAhead(40),
      returnDate: dayAhead(45),
      passengers: 2,
      class: 'economy',
      currency: 'USD',
    }),
  )
  const book = mutated(
    fc
      .record({
        offer: fc.constantFrom(...material.offers),
        mark: fc.integer({ min: 0, max: 99_999 }),
        party: fc.constantFrom(1, 1, 1, 2, 9),
      })
      .map(({ offer, mark, party }) => bookBody(offer, `H${String(mark).padStart(5, '0')}`, party)),
  )
  const bookForged = fc
    .tuple(fc.constantFrom(...material.offers), fc.nat(), fc.constantFrom(...'Az09_-=+/.%'))
    .map(([offer, at, letter]) =>
      jsonBytes(
        bookBody(
          offer.slice(0, at % offer.length) + letter + offer.slice((at % offer.length) + 1),
          'H99999',
          1,
        ),
      ),
    )
  const id = fc.oneof(
    fc.constantFrom(
      ...material.bookingIds,
      'bkg_',
      `bkg_${'0'.repeat(24)}`,
      `bkg_${'%00'.repeat(8)}`,
      '..%2f..',
      '%',
      '%ff',
      '%E0%80%80',
      '\u00e9',
    ),
    evilText.map(text => encodeURIComponent(text.toWellFormed()).slice(0, 3000)),
  )
  const query = fc
    .array(fc.tuple(fc.constantFrom('limit', 'cursor', 'status', '__proto__', 'limit'), evilText), {
      maxLength: 3,
    })
    .map(pairs =>
      pairs
        .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed()).slice(0, 2500)}`)
        .join('&'),
    )
  const target = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        method: fc.constant('POST'),
        path: fc.constant('/v1/travel/search'),
        body: search,
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        method: fc.constant('POST'),
        path: fc.constant('/v1/travel/book'),
        body: fc.oneof({ weight: 4, arbitrary: book }, { weight: 1, arbitrary: bookForged }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        method: fc.constant('GET'),
        path: id.map(text => `/v1/travel/booking/${text}`),
        body: fc.constant(undefined),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        method: fc.constant('GET'),
        path: query.map(text => `/v1/travel/bookings?${text}`),
        body: fc.constant(undefined),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        method: fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'),
        path: fc.constantFrom(
          '/',
          '/docs',
          '/healthz',
          '/readyz',
          '/v1/openapi.json',
          '/v1',
          '/v1/',
          '//v1/travel/search',
          '/v1/travel/search/',
          '/v1/TRAVEL/search',
          '/v1/webhooks/register',
          '*',
          'http://elsewhere/v1/travel/search',
          '/%',
          '/..;/metrics',
          '/v1/travel/book?a=1&a=2',
        ),
        body: fc.constant(undefined),
      }),
    },
  )
  const method = fc.oneof(
    { weight: 30, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'PUT',
        'PATCH',
        'DELETE',
        'HEAD',
        'OPTIONS',
        'TRACE',
        'PROPFIND',
        'get',
        'POST',
        'GET',
      ),
    },
  )
  const good = fc
    .constantFrom(...material.keys)
    .map(key => ({ admitted: true, lines: [['Authorization', `Bearer ${key}`] as const] }))
  const wrong = fc
    .constantFrom<readonly (readonly string[])[]>(
      [],
      ...material.keys.flatMap(key => [
        [['Authorization', `Bearer ${key}x`]],
        [['Authorization', key]],
        [['Authorization', `Basic ${key}`]],
        [['Authorization', `Bearer ${key.slice(0, -1)}`]],
        [
          ['Authorization', `Bearer ${key}`],
          ['Authorization', `Bearer ${key}`],
        ],
        [['X-Api-Key', key]],
      ]),
    )
    .map(lines => ({ admitted: false, lines: lines as (readonly [string, string])[] }))
  const credentials = fc.oneof({ weight: 9, arbitrary: good }, { weight: 1, arbitrary: wrong })
  const type = fc.oneof(
    { weight: 12, arbitrary: fc.constant('application/json') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '',
        'text/plain',
        'application/json; charset=latin1',
        'application/json\tx',
        'application/JSON;charset=UTF-8',
        'multipart/form-data; boundary=x',
        'application/json, text/plain',
      ),
    },
  )
  const extra = fc.oneof(
    { weight: 12, arbitrary: fc.constant<readonly (readonly [string, string])[]>([]) },
    {
      weight: 3,
      arbitrary: fc
        .constantFrom('k1', 'k2', 'k3', '', ' ', 'a b', 'é', 'x'.repeat(255), 'x'.repeat(256), "'; --", '%00')
        .map(key => [['Idempotency-Key', key]] as const),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom<readonly (readonly [string, string])[]>(
        [['Content-Encoding', 'gzip']],
        [['Expect', '100-continue']],
        [['Expect', 'the-impossible']],
        [
          ['X-Forwarded-For', '127.0.0.1'],
          ['X-Request-Id', 'req_forged'],
        ],
        [['X-Big', 'b'.repeat(9_000)]],
        Array.from({ length: 80 }, (_, n) => [`X-${n}`, 'y'] as const),
        [['Host', 'other']],
        [
          ['Upgrade', 'h2c'],
          ['Connection', 'Upgrade'],
        ],
        [['Transfer-Encoding', 'gzip']],
      ),
    },
  )
  const framing = fc.oneof(
    { weight: 20, arbitrary: fc.constant<Framing>('length') },
    { weight: 2, arbitrary: fc.constant<Framing>('chunked') },
    { weight: 1, arbitrary: fc.constantFrom<Framing>(...(BROKEN_FRAMINGS as ReadonlySet<Framing>)) },
  )
  return fc
    .record({ target, method, credentials, type, extra, framing })
    .map(({ target, method, credentials, type, extra, framing }) => ({
      method: method ?? target.method,
      path: target.path,
      headers: [
        ...credentials.lines,
        ...(target.body === undefined || type === '' ? [] : [['Content-Type', type] as const]),
        ...extra,
      ],
      body: target.body,
      framing: target.body === undefined ? 'length' : framing,
      admitted: credentials.admitted,
    }))
}

/** The request's bytes. */
export function bytesOf({ method, path, headers, body, framing }: Hostile): Buffer {
  const line = framing === 'bare line feeds' ? '\n' : '\r\n'
  const length = body?.length ?? 0
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: airside.test',
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ]
  const chunk = Buffer.concat([
    Buffer.from(`${length.toString(16)}\r\n`),
    body ?? Buffer.alloc(0),
    Buffer.from('\r\n0\r\n\r\n'),
  ])
  const send = (lines: readonly string[], bytes: Buffer | undefined) =>
    Buffer.concat([Buffer.from([...head, ...lines, '', ''].join(line), 'latin1'), bytes ?? Buffer.alloc(0)])
  if (body === undefined) return send([], undefined)
  switch (framing) {
    case 'chunked':
      return send(['Transfer-Encoding: chunked'], length === 0 ? Buffer.from('0\r\n\r\n') : chunk)
    case 'short':
      return send([`Content-Length: ${length + 10}`], body)
    case 'long':
      return send([`Content-Length: ${Math.max(0, length - 3)}`], body)
    case 'both':
      return send([`Content-Length: ${length}`, 'Transfer-Encoding: chunked'], chunk)
    case 'two lengths':
      return send([`Content-Length: ${length}`, `Content-Length: ${length + 1}`], body)
    case 'signed length':
      return send([`Content-Length: +${length}`], body)
    case 'blank before colon':
      return send(['Transfer-Encoding : chunked'], chunk)
    case 'folded':
      return send(['X-Folded: a', ' b', `Content-Length: ${length}`], body)
    default:
      return send([`Content-Length: ${length}`], body)
  }
}

/** Bytes of a body: a valid value with one or two things wrong, or JSON that is none. */
function mutated(valid: fc.Arbitrary<object>): fc.Arbitrary<Buffer> {
  const fields = fc
    .tuple(valid, fc.array(fc.tuple(fc.nat(), fc.boolean(), evil), { minLength: 0, maxLength: 2 }))
    .map(([value, changes]) =>
      jsonBytes(
        changes.reduce((changed, [at, remove, to]) => change(changed, at, remove && at % 3 === 0, to), value),
      ),
    )
  const text = fc
    .tuple(
      valid,
      fc.nat(),
      fc.constantFrom(
        'cut',
        'tail',
        'bom',
        'utf8',
        'overlong',
        'deep',
        'keys',
        'twice',
        'proto',
        'empty',
        'array',
        'large',
        'utf16',
      ),
    )
    .map(([value, at, how]) => distort(JSON.stringify(value), at, how))
  return fc.oneof({ weight: 5, arbitrary: fields }, { weight: 1, arbitrary: text })
}

function distort(json: string, at: number, how: string): Buffer {
  switch (how) {
    case 'cut':
      return Buffer.from(json.slice(0, at % json.length))
    case 'tail':
      return Buffer.from(`${json}}`)
    case 'bom':
      return Buffer.from(`\ufeff${json}`)
    case 'utf8':
      return Buffer.concat([
        Buffer.from(json.slice(0, -2)),
        Buffer.from([0xff, 0xfe]),
        Buffer.from(json.slice(-2)),
      ])
    case 'overlong':
      return Buffer.from(json.replace('"', '\u0001')).map(byte => (byte === 1 ? 0xc0 : byte)) as Buffer
    case 'deep':
      return Buffer.from('['.repeat(60_000))
    case 'keys':
      return Buffer.from(`{${Array.from({ length: 5_000 }, (_, n) => `"k${n}":0`).join()}}`)
    case 'twice':
      return Buffer.from(json.replace('{', `{${json.slice(1, -1)},`))
    case 'proto':
      return Buffer.from(json.replace('{', '{"__proto__":{"admin":true},"constructor":{"prototype":{}},'))
    case 'empty':
      return Buffer.alloc(0)
    case 'array':
      return Buffer.from(`[${json}]`)
    case 'large':
      return Buffer.from(json + ' '.repeat(65_537))
    default:
      return Buffer.from(json, 'utf16le')
  }
}

/** A copy of `value` with one of its fields, at any depth, put away or replaced. */
function change(value: object, at: number, remove: boolean, to: unknown): object {
  const copy = structuredClone(value) as Record<string, unknown>
  const places: [Record<string, unknown>, string][] = []
  const walk = (node: Record<string, unknown>) => {
    for (const [name, child] of Object.entries(node)) {
      places.push([node, name])
      if (typeof child === 'object' && child !== null) walk(child as Record<string, unknown>)
    }
  }
  walk(copy)
  const [node, name] = places[at % places.length]!
  if (remove) delete node[name]
  else node[name] = to
  return copy
}

function jsonBytes(value: unknown): Buffer {
  const text = JSON.stringify(value) ?? 'null'
  return Buffer.from(
    text.replace(/"@raw@(.*?)@raw@"/g, (_, token: string) => JSON.parse(`"${token}"`) as string),
  )
}
