import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkAnswer } from '../support/openapi.ts'
import { credentials, type Heard, head, JSON_HEADER, KEY, SEARCH, serveApi, talk } from './support.ts'

const heardKeys: string[][] = []
let searches = 0
const api = await serveApi({
  admit: async rawHeaders => {
    heardKeys.push(credentials(rawHeaders))
    const { CALLER } = await import('./support.ts')
    const { Refusal } = await import('../../src/refusal.ts')
    const sent = heardKeys.at(-1)!
    if (sent.length !== 1) throw new Refusal('unauthorized', 'Send one key.')
    if (sent[0] !== `Bearer ${KEY}`) throw new Refusal('invalid_key', 'Send another key.')
    return CALLER
  },
  search: async () => {
    searches++
    return { offers: [], warnings: [] }
  },
})
after(() => api.stop())
afterEach(() => {
  heardKeys.length = 0
  searches = 0
})

/** The answer has our shape and is one that the document knows. */
function refused(
  heard: Heard,
  status: number,
  code: string,
  method = 'POST',
  path = '/v1/travel/search',
): void {
  assert.equal(heard.status, status, heard.text.slice(0, 400))
  checkAnswer(method, path, { status, headers: new Headers([...heard.headers]), text: heard.body })
  const { error } = JSON.parse(heard.body)
  assert.equal(error.code, code)
  assert.equal(error.docUrl, `/docs#${code}`)
}

const post = (headers: readonly string[] = [], body = SEARCH, key = KEY) =>
  head(
    'POST /v1/travel/search',
    [JSON_HEADER, `Content-Length: ${Buffer.byteLength(body)}`, ...headers],
    key,
  ) + body

describe('before a byte of the body is read', () => {
  test('1 GB announced with a bad key is answered 401 at once and the connection ends', async () => {
    const heard = await talk(api.port, [
      head('POST /v1/travel/search', [JSON_HEADER, 'Content-Length: 1000000000'], 'air_test_bad'),
    ])
    refused(heard, 401, 'invalid_key')
    assert.ok(heard.afterMs < 500, `${heard.afterMs} ms`)
    assert.equal(heard.headers.get('connection'), 'close')
    assert.ok(heard.closed)
  })

  test('a chunked body of unknown length with a bad key: the same', async () => {
    const heard = await talk(api.port, [
      head('POST /v1/travel/search', [JSON_HEADER, 'Transfer-Encoding: chunked'], 'air_test_bad'),
      '4\r\nabcd\r\n',
    ])
    refused(heard, 401, 'invalid_key')
    assert.ok(heard.closed)
  })

  test('a small unread body does not cost the connection', async () => {
    const request = post([], SEARCH, 'air_test_bad')
    const heard = await talk(api.port, [request, post()], 400)
    assert.deepEqual(heard.statuses, [401, 200])
    assert.ok(!heard.closed)
  })

  test('Expect: 100-continue gets no 100 with a bad key, and its 100 with a good one', async () => {
    const expecting = (key: string) =>
      head(
        'POST /v1/travel/search',
        [JSON_HEADER, `Content-Length: ${SEARCH.length}`, 'Expect: 100-continue'],
        key,
      )
    const bad = await talk(api.port, [expecting('air_test_bad')])
    assert.deepEqual(bad.statuses, [401])
    refused(bad, 401, 'invalid_key')
    assert.ok(bad.closed)
    const good = await talk(api.port, [expecting(KEY), 50, SEARCH], 400)
    assert.deepEqual(good.statuses, [100, 200])
    assert.equal(searches, 1)
  })

  test('Expect: 100-continue with a body that is too large gets 413 and no 100', async () => {
    const heard = await talk(api.port, [
      head('POST /v1/travel/search', [JSON_HEADER, 'Content-Length: 65537', 'Expect: 100-continue']),
    ])
    assert.deepEqual(heard.statuses, [413])
    refused(heard, 413, 'payload_too_large')
  })

  test('another expectation: 401 with a bad key, 400 with a good one', async () => {
    refused(await talk(api.port, [post(['Expect: 200-maybe'], SEARCH, 'air_test_bad')]), 401, 'invalid_key')
    refused(await talk(api.port, [post(['Expect: 200-maybe'])]), 400, 'invalid_params')
    assert.equal(searches, 0)
  })

  for (const [what, body] of [
    ['not JSON', '{'],
    ['empty', ''],
  ] as const) {
    test(`${what} with a bad key: 401`, async () =>
      refused(await talk(api.port, [post([], body, 'air_test_bad')]), 401, 'invalid_key'))
  }
})

describe('headers that contradict each other', () => {
  test('two Authorization headers both reach the room that admits', async () => {
    refused(await talk(api.port, [post(['Authorization: Bearer other'])]), 401, 'unauthorized')
    assert.deepEqual(heardKeys, [[`Bearer ${KEY}`, 'Bearer other']])
  })

  test('a second Authorization behind hundreds of headers is not dropped', async () => {
    const many = Array.from({ length: 600 }, (_, i) => `a${i}: 1`)
    const heard = await talk(api.port, [post([...many, 'authorization: Bearer other'])])
    refused(heard, 401, 'unauthorized')
  })

  test('more than 64 headers: 400, after the key', async () => {
    const many = Array.from({ length: 70 }, (_, i) => `a${i}: 1`)
    refused(await talk(api.port, [post(many)]), 400, 'invalid_params')
    refused(await talk(api.port, [post(many, SEARCH, 'air_test_bad')]), 401, 'invalid_key')
  })

  test('two Host headers: 400; none: 400; HTTP/1.0 needs none', async () => {
    refused(await talk(api.port, [post(['Host: elsewhere'])]), 400, 'invalid_params')
    refused(await talk(api.port, [post().replace('Host: localhost\r\n', '')]), 400, 'invalid_params')
    const old = await talk(api.port, [
      post().replace('Host: localhost\r\n', '').replace('HTTP/1.1', 'HTTP/1.0'),
    ])
    assert.equal(old.status, 200)
  })

  test('two Content-Type headers: 415', async () => {
    refused(await talk(api.port, [post(['Content-Type: text/plain'])]), 415, 'unsupported_media_type')
  })

  const smuggling: [string, string][] = [
    ['Content-Length and Transfer-Encoding', post(['Transfer-Encoding: chunked'])],
    [
      'Transfer-Encoding and Content-Length',
      head('POST /v1/travel/search', [JSON_HEADER, 'Transfer-Encoding: chunked', 'Content-Length: 4']) +
        '0\r\n\r\n',
    ],
    ['two Content-Length that differ', post(['Content-Length: 3'])],
    ['two Content-Length that agree', post([`Content-Length: ${SEARCH.length}`])],
    [
      'a signed Content-Length',
      head('POST /v1/travel/search', [JSON_HEADER, 'Content-Length: +9']) + '123456789',
    ],
    ['a negative Content-Length', head('POST /v1/travel/search', [JSON_HEADER, 'Content-Length: -1'])],
    [
      'a list as Content-Length',
      head('POST /v1/travel/search', [JSON_HEADER, 'Content-Length: 9, 9']) + '123456789',
    ],
    ['a hexadecimal Content-Length', head('POST /v1/travel/search', [JSON_HEADER, 'Content-Length: 0x10'])],
    [
      'a Content-Length beyond 64 bits',
      head('POST /v1/travel/search', [JSON_HEADER, 'Content-Length: 99999999999999999999999']),
    ],
    [
      'a blank before the colon',
      head('POST /v1/travel/search', [JSON_HEADER, 'Transfer-Encoding : chunked']),
    ],
    [
      'an unknown transfer coding',
      head('POST /v1/travel/search', [JSON_HEADER, 'Transfer-Encoding: xchunked']) + '0\r\n\r\n',
    ],
    [
      'chunked not last',
      head('POST /v1/travel/search', [JSON_HEADER, 'Transfer-Encoding: chunked, identity']) + '0\r\n\r\n',
    ],
    ['a folded header', post(['X-A: 1\r\n  2'])],
    ['a header name with a control character', post(['X\u0001A: 1'])],
    ['a header value with NUL', post(['X-A: 1\0'])],
    ['a line feed alone ends a line', post().replace('Host: localhost\r\n', 'Host: localhost\n')],
    ['a carriage return alone ends a line', post().replace('Host: localhost\r\n', 'Host: localhost\r')],
    ['an unknown method', post().replace('POST', 'FLY')],
    ['a lower-case method', post().replace('POST', 'post')],
    ['no version', post().replace(' HTTP/1.1', '')],
    ['version 9', post().replace('HTTP/1.1', 'HTTP/9.9')],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a TLS hello', Buffer.from([22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]).toString('latin1')],
    [
      'a bad chunk size',
      `${head('POST /v1/travel/search', [JSON_HEADER, 'Transfer-Encoding: chunked'])}zz\r\nabc\r\n0\r\n\r\n`,
    ],
    [
      'a negative chunk size',
      `${head('POST /v1/travel/search', [JSON_HEADER, 'Transfer-Encoding: chunked'])}-1\r\nabc\r\n0\r\n\r\n`,
    ],
  ]
  for (const [what, bytes] of smuggling) {
    test(`${what}: refused in our shape, closed, nothing searched`, async () => {
      const heard = await talk(api.port, [bytes, 'GET /v1/travel/bookings HTTP/1.1\r\n\r\n'])
      assert.ok([400, 415].includes(heard.statuses[0] ?? 0), heard.text.slice(0, 300))
      refused(heard, heard.status, heard.status === 415 ? 'unsupported_media_type' : 'invalid_params')
      assert.equal(heard.statuses.length, 1, 'what follows on the connection is not read')
      assert.ok(heard.closed)
      assert.equal(searches, 0)
    })
  }
})

describe('sizes', () => {
  test('headers beyond 8 KiB: 431 in our shape, closed', async () => {
    const heard = await talk(api.port, [post([`X-Long: ${'a'.repeat(9000)}`])])
    refused(heard, 431, 'payload_too_large')
    assert.ok(heard.closed)
  })

  test('an address beyond 2 KiB: 401 with a bad key, 400 with a good one', async () => {
    const line = `GET /v1/travel/bookings?cursor=${'a'.repeat(2100)}`
    refused(
      await talk(api.port, [head(line, [], 'air_test_bad')]),
      401,
      'invalid_key',
      'GET',
      '/v1/travel/bookings',
    )
    refused(await talk(api.port, [head(line)]), 400, 'invalid_params', 'GET', '/v1/travel/bookings')
  })

  test('a body of 64 KiB is read, one byte more is not', async () => {
    const fill = (size: number) => SEARCH.slice(0, -1) + ' '.repeat(size - SEARCH.length) + '}'
    assert.equal((await talk(api.port, [post([], fill(65_536))])).status, 200)
    refused(await talk(api.port, [post([], fill(65_537))]), 413, 'payload_too_large')
  })

  test('a chunked body is cut off at 64 KiB', async () => {
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`
    const heard = await talk(api.port, [
      head('POST /v1/travel/search', [JSON_HEADER, 'Transfer-Encoding: chunked']),
      ...Array.from({ length: 5 }, () => chunk),
    ])
    refused(heard, 413, 'payload_too_large')
    assert.ok(heard.closed)
  })

  test('a body of 200 KiB is refused in a way that an ordinary client can read', async () => {
    for (const key of [KEY, 'air_test_bad']) {
      const answer = await fetch(`${api.url}/v1/travel/search`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: ' '.repeat(200_000),
      })
      assert.equal(answer.status, key === KEY ? 413 : 401)
      await answer.text()
    }
  })
})

describe('time', { concurrency: true }, () => {
  test('headers that do not come: 408 after 5 s', async () => {
    const heard = await talk(api.port, ['POST /v1/travel/search HTTP/1.1\r\nHost: a\r\n'])
    refused(heard, 408, 'invalid_params')
    assert.ok(heard.closed && heard.afterMs > 4_500 && heard.afterMs < 7_000, `${heard.afterMs} ms`)
  })

  test('a body that does not come: 408 after 10 s', async () => {
    const heard = await talk(api.port, [
      head('POST /v1/travel/search', [JSON_HEADER, 'Content-Length: 100']),
      '{',
    ])
    refused(heard, 408, 'invalid_params')
    assert.ok(heard.closed && heard.afterMs > 9_000 && heard.afterMs < 11_900, `${heard.afterMs} ms`)
    assert.equal(searches, 0)
  })
})

describe('paths and methods', () => {
  const good = (line: string) => talk(api.port, [head(line)])
  const bad = (line: string) => talk(api.port, [head(line, [], 'air_test_bad')])

  for (const [line, status, code, path] of [
    ['GET /v1/nothing', 404, 'not_found', '/v1/nothing'],
    ['GET /nothing', 404, 'not_found', '/nothing'],
    ['GET /v1/travel/search/', 404, 'not_found', '/v1/travel/search/'],
    ['GET /v1/Travel/search', 404, 'not_found', '/v1/Travel/search'],
    ['GET /v1/travel/booking/', 404, 'not_found', '/v1/travel/booking/'],
    [`GET /v1/travel/booking/${'a'.repeat(1500)}`, 404, 'not_found', '/v1/travel/booking/x'],
    ['GET /v1/travel/%zz', 400, 'invalid_params', '/v1/travel/%zz'],
    ['GET /v1/travel/booking/%00', 404, 'not_found', '/v1/travel/booking/x'],
    ['GET /v1/travel/booking/%ff', 400, 'invalid_params', '/v1/travel/booking/x'],
    ['GET /v1/travel/search', 405, 'method_not_allowed', '/v1/travel/search'],
    ['HEAD /v1/travel/bookings', 405, 'method_not_allowed', '/v1/travel/bookings'],
    ['DELETE /v1/travel/bookings', 405, 'method_not_allowed', '/v1/travel/bookings'],
    ['OPTIONS /v1/travel/search', 405, 'method_not_allowed', '/v1/travel/search'],
    ['PROPFIND /v1/travel/search', 405, 'method_not_allowed', '/v1/travel/search'],
    ['TRACE /v1/travel/search', 405, 'method_not_allowed', '/v1/travel/search'],
    ['POST /v1/travel/booking/x', 405, 'method_not_allowed', '/v1/travel/booking/x'],
    ['OPTIONS *', 404, 'not_found', '/*'],
    ['GET http://localhost/v1/nothing', 404, 'not_found', '/v1/nothing'],
    ['GET /v1/travel/bookings?limit=1&limit=2', 400, 'invalid_params', '/v1/travel/bookings'],
    ['GET /v1/travel/bookings?a=1&%61=2', 400, 'invalid_params', '/v1/travel/bookings'],
    ['GET /v1/travel/bookings?cursor=%00', 400, 'invalid_params', '/v1/travel/bookings'],
  ] as const) {
    test(`${line.length > 60 ? `${line.slice(0, 50)}…` : line}: ${status}, and 401 with a bad key`, async () => {
      const method = line.split(' ')[0]!
      const heard = await good(line)
      if (method === 'HEAD') assert.equal(heard.status, status)
      else refused(heard, status, code, method, path)
      if (status === 405) assert.match(heard.headers.get('allow') ?? '', /^(GET|POST)$/)
      assert.equal((await bad(line)).status, 401)
    })
  }

  test('an absolute address is taken for its path', async () => {
    assert.equal((await good(`GET http://localhost:1/v1/travel/bookings`)).status, 200)
  })
})

describe('what is logged', () => {
  test('one line a request, with the pattern of the path and never what was in it', async () => {
    api.lines.length = 0
    await talk(api.port, [head(`GET /v1/travel/booking/secret-id?key=${KEY}&api_key=air_live_secret`)])
    await talk(api.port, [head('GET /v1/air_live_secret/%zz')])
    await talk(api.port, [head('GET /v1/travel/bookings', [], 'air_test_bad')])
    await sleep(20)
    const { requestId, durationMs, ...first } = api.lines[0]!
    assert.deepEqual(first, {
      accountId: 'acc_000000000000000000000000',
      keyId: 'key_000000000000000000000000',
      mode: 'test',
      method: 'GET',
      route: '/v1/travel/booking/{id}',
      status: 404,
      code: 'not_found',
      at: first.at,
    })
    assert.match(requestId, /^req_/)
    assert.ok(durationMs >= 0)
    assert.deepEqual(
      api.lines.map(line => [line.status, line.code]),
      [
        [404, 'not_found'],
        [400, 'invalid_params'],
        [401, 'invalid_key'],
      ],
    )
    assert.doesNotMatch(JSON.stringify(api.lines), /secret|air_/)
  })

  test('a partner who hangs up is logged too', async () => {
    const slow = await serveApi({ search: () => sleep(300, { offers: [], warnings: [] }) })
    await talk(slow.port, [post()], 50).catch(() => {})
    const { connect } = await import('node:net')
    const socket = connect(slow.port, '127.0.0.1')
    socket.write(post())
    await sleep(100)
    socket.destroy()
    await sleep(400)
    assert.ok(
      slow.lines.some(line => line.status === 499),
      JSON.stringify(slow.lines),
    )
    await slow.stop()
  })
})
