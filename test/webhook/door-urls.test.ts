import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPartner } from '../contract/support.ts'

/** A house as a partner meets it: nothing but public addresses is allowed. */
const { house, call } = await openPartner({ AIRSIDE_LIMITS: 'webhooks=1000000/60s' })
after(() => house.stop())

async function register(url: string) {
  const answer = await call('/webhooks/register', { body: { url, events: ['booking.confirmed'] } })
  const { webhookId } = answer.json as unknown as { webhookId?: string }
  if (webhookId !== undefined) await call(`/webhooks/${webhookId}`, { method: 'DELETE' })
  return answer
}

const REFUSED: Record<string, readonly string[]> = {
  'schemes that are not https': [
    'http://example.com/',
    'HTTP://example.com/',
    'ftp://example.com/',
    'ws://example.com/',
    'wss://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'data:text/plain,x',
    'javascript:alert(1)',
    '//example.com/',
    '/hook',
    'example.com/hook',
    'https',
    'https://',
    'https:///',
    'https://?x',
    'http+unix://%2Fvar%2Frun%2Fdocker.sock/',
  ],
  'user info': [
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://:password@example.com/',
    'https://@example.com/',
    'https://:@example.com/',
    'https://example.com@127.0.0.1/',
    'https://127.0.0.1@example.com/',
  ],
  fragments: ['https://example.com/#', 'https://example.com/#a', 'https://example.com#@127.0.0.1/'],
  'this machine, in every spelling': [
    'https://127.0.0.1/',
    'https://127.0.0.1:8443/',
    'https://127.1/',
    'https://127.255.255.254/',
    'https://0x7f.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://017700000001/',
    'https://0177.0.0.1/',
    'https://①②⑦.⓪.⓪.①/',
    'https://127。0。0。1/',
    'https://127.0.0.1./',
    'https://0/',
    'https://0.0.0.0/',
    'https://0.1.2.3/',
    'https://localhost/',
    'https://LOCALHOST/',
    'https://localhost./',
    'https://a.localhost/',
    'https://[::1]/',
    'https://[::]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:7f00:1::]/',
  ],
  'networks that are not public': [
    'https://10.0.0.1/',
    'https://10.255.255.255/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://100.64.0.1/',
    'https://100.100.100.200/',
    'https://168.63.129.16/',
    'https://192.0.0.8/',
    'https://192.0.2.1/',
    'https://198.18.0.1/',
    'https://198.51.100.1/',
    'https://203.0.113.1/',
    'https://192.88.99.1/',
    'https://224.0.0.1/',
    'https://239.255.255.250/',
    'https://240.0.0.1/',
    'https://255.255.255.255/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[fd00:ec2::254]/',
    'https://[ff02::1]/',
    'https://[2001:db8::1]/',
    'https://[3fff::1]/',
    'https://[5f00::1]/',
    'https://[100::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[::ffff:169.254.169.254]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://[2002:a9fe:a9fe::]/',
  ],
  'ports that browsers refuse': [
    0, 1, 22, 23, 25, 53, 110, 143, 389, 465, 587, 993, 2049, 5060, 6000, 6667, 10080,
  ].map(port => `https://example.com:${port}/`),
  'hosts that are none': [
    'https://a..b/',
    'https://.example.com/',
    'https://-a.example.com/',
    'https://a-.example.com/',
    `https://${'a'.repeat(64)}.example.com/`,
    `https://${'a.'.repeat(127)}example.com/`,
    'https://exa mple.com/',
    'https://exam%20ple.com/',
    'https://example.com:99999/',
    'https://example.com:port/',
    'https://[::1/',
    'https://[fe80::1%25eth0]/',
    'https://999.1.1.1/',
    'https://1.2.3.4.5/',
    'https://<script>/',
  ],
  'blanks and control characters': [
    ' https://example.com/',
    'https://example.com/ ',
    'https://example.com/a b',
    'https://example.com/\r\nX-Injected: 1',
    'https://exa\tmple.com/',
    'https://127.0.0.1\t/',
    'https://example.com/\u00a0',
    'https://example.com/\u2028',
    '\u0001https://example.com/',
  ],
  lengths: [`https://example.com/${'a'.repeat(2048)}`, `https://example.com/${'a'.repeat(8192)}`],
}

let forms = 0
for (const [what, urls] of Object.entries(REFUSED)) {
  forms += urls.length
  test(`4.4 refused: ${what} (${urls.length} forms)`, async () => {
    for (const url of urls) {
      const { status, json } = await register(url)
      assert.deepEqual(
        [status, json.error?.code, json.error?.param],
        [400, 'invalid_params', 'url'],
        JSON.stringify(url.slice(0, 80)),
      )
    }
  })
}

test('4.4 taken: public hosts, literal ones too, other ports, and names that do not resolve yet', async () => {
  for (const url of [
    'https://example.com',
    'https://example.com./',
    'https://EXAMPLE.com:443/Path?query=1&query=2',
    'https://hooks.example.com:8443/a',
    'https://not-there-yet.invalid/hook',
    'https://under_score.example.com/',
    'https://xn--bcher-kva.example/',
    'https://8.8.8.8/',
    'https://172.15.255.255/',
    'https://172.32.0.1/',
    'https://100.63.255.255/',
    'https://[2606:4700:4700::1111]/',
    'https://127.0.0.1.example.com/',
    'https://example.com/@127.0.0.1',
    'https://example.com/%23a',
    `https://example.com/${'a'.repeat(2000)}`,
  ]) {
    assert.equal((await register(url)).status, 200, url)
  }
})

test('enough forms were tried', () => assert.ok(forms >= 60, `${forms}`))
