import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeAddress, judgeUrl, networks, URL_MAX } from './address.ts'

const NOWHERE = networks([])

const REFUSED = [
  // Not a URL of ours.
  '',
  'example.com',
  '//example.com/x',
  'http://example.com/x',
  'ftp://example.com/x',
  'HTTP://example.com',
  'https:',
  'https://',
  'javascript:alert(1)',
  'https://user@example.com/x',
  'https://user:word@example.com/x',
  'https://:@example.com/x',
  'https://@example.com/x',
  'https://example.com/x#part',
  'https://example.com/#',
  ' https://example.com/x',
  'https://example.com/a b',
  'https://exa\nmple.com/x',
  `https://example.com/${'x'.repeat(8192)}`,
  // Ports that no receiver of webhooks has.
  'https://example.com:22/x',
  'https://example.com:25/x',
  'https://example.com:6667/x',
  'https://example.com:10080/x',
  'https://example.com:0/x',
  // Hosts that are none.
  'https://a..b/x',
  'https://.example.com/x',
  'https://-a.example.com/x',
  'https://a-.example.com/x',
  `https://${'a'.repeat(64)}.example.com/x`,
  `https://${'a.'.repeat(130)}com/x`,
  'https://exa%00mple.com/x',
  // This machine and its neighbours, in all spellings.
  'https://localhost/x',
  'https://localhost./x',
  'https://LOCALHOST/x',
  'https://a.localhost/x',
  'https://127.0.0.1/x',
  'https://127.0.0.1./x',
  'https://127.1/x',
  'https://127.000.000.001/x',
  'https://0x7f.1/x',
  'https://0x7f000001/x',
  'https://2130706433/x',
  'https://017700000001/x',
  'https://①②⑦.⓪.⓪.①/x',
  'https://１２７.０.０.１/x',
  'https://127。0。0。1/x',
  'https://0.0.0.0/x',
  'https://0/x',
  'https://10.0.0.1/x',
  'https://172.16.0.1/x',
  'https://192.168.1.1/x',
  'https://100.64.0.1/x',
  'https://169.254.169.254/x',
  'https://168.63.129.16/x',
  'https://192.0.2.1/x',
  'https://198.18.0.1/x',
  'https://224.0.0.1/x',
  'https://255.255.255.255/x',
  'https://[::]/x',
  'https://[::1]/x',
  'https://[::ffff:127.0.0.1]/x',
  'https://[::ffff:7f00:1]/x',
  'https://[::127.0.0.1]/x',
  'https://[64:ff9b::7f00:1]/x',
  'https://[64:ff9b:1::7f00:1]/x',
  'https://[2002:7f00:1::]/x',
  'https://[2001:0:7f00:1::]/x',
  'https://[fe80::1]/x',
  'https://[fc00::1]/x',
  'https://[fd00:ec2::254]/x',
  'https://[ff02::1]/x',
  'https://[2001:db8::1]/x',
  'https://[3fff::1]/x',
  'https://[5f00::1]/x',
  'https://[100::1]/x',
]

const TAKEN = [
  'https://example.com/hook',
  'https://example.com',
  'https://example.com./hook',
  'https://example.com:8443/hook?key=value',
  'https://EXAMPLE.com/hook',
  'https://bücher.example/hook',
  'https://a_b.example.com/hook',
  'https://8.8.8.8/hook',
  'https://[2606:4700:4700::1111]/hook',
  'https://example.com/user@part',
]

test('a URL that is not public, or not a URL, is refused in every spelling', () => {
  for (const url of REFUSED) assert.equal(judgeUrl(url, NOWHERE).ok, false, url)
  assert.ok(REFUSED.length >= 60)
})

test('a public URL is taken', () => {
  for (const url of TAKEN) assert.deepEqual(judgeUrl(url, NOWHERE).ok, true, url)
  const longest = `https://example.com/${'x'.repeat(URL_MAX - 'https://example.com/'.length)}`
  assert.equal(judgeUrl(longest, NOWHERE).ok, true)
  assert.equal(judgeUrl(`${longest}x`, NOWHERE).ok, false)
})

test('an allowed network counts as public, and nothing beside it', () => {
  const allow = networks(['10.1.0.0/16', '127.0.0.0/8', 'fd00:1::/32'])
  for (const url of [
    'https://10.1.2.3/',
    'https://127.1/',
    'https://localhost/',
    'https://[::ffff:10.1.2.3]/',
    'https://[fd00:1::5]/',
  ])
    assert.equal(judgeUrl(url, allow).ok, true, url)
  for (const url of [
    'https://10.2.0.1/',
    'https://[fd00:2::5]/',
    'https://[::1]/',
    'https://169.254.169.254/',
  ])
    assert.equal(judgeUrl(url, allow).ok, false, url)
})

test('an address that cannot be read is not public', () => {
  for (const text of [
    '',
    'example.com',
    '1.2.3',
    '1.2.3.4.5',
    'fe80::1%eth0',
    '2606:4700::1%eth0',
    '8.8.8.8 ',
    '::g',
  ])
    assert.equal(judgeAddress(text, NOWHERE), false, text)
})
