import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { deriveKey } from '../secret.ts'
import { openSecret, sealSecret, secretPurpose } from './endpoint.ts'
import { contractSignature, signatureHeaders, standardKey, standardSignature } from './signature.ts'

const body = Buffer.from('{"event":"booking.confirmed","data":{"pnr":"Ä☂"}}')

test('the published example of the standard is reproduced', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const signature = standardSignature(
    secret,
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1614265330,
    Buffer.from('{"test": 2432232314}'),
  )
  assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('any secret signs in both schemes as a receiver computes them', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, unit: 'grapheme' }),
      fc.uint8Array(),
      fc.integer({ min: 1, max: 2 ** 31 }),
      (secret, bytes, seconds) => {
        const headers = signatureHeaders(
          'Airside',
          { current: { text: secret, given: true } },
          { id: 'evt_1', at: seconds * 1000, body: bytes },
        )
        assert.equal(
          headers['X-Airside-Signature'],
          createHmac('sha256', Buffer.from(secret)).update(bytes).digest('hex'),
        )
        const text = Buffer.from(bytes)
          .toString('latin1')
          .replace(/[^ -~]/g, '?')
        const signed = standardSignature(secret, 'evt_1', seconds, Buffer.from(text))
        assert.equal(
          signed,
          new Webhook(standardKey(secret).toString('base64')).sign('evt_1', new Date(seconds * 1000), text),
        )
      },
    ),
  )
})

test('during a rotation both sign; the header with one value is the old secret’s until the cut-over', () => {
  const current = { text: 'new', given: true }
  const previous = { secret: { text: 'old', given: true }, until: 10_000 }
  const at = (ms: number) => signatureHeaders('Acme', { current, previous }, { id: 'evt_1', at: ms, body })
  const before = at(9_999)
  assert.equal(before['X-Acme-Signature'], contractSignature('old', body))
  assert.equal(before['X-Acme-Signature-Next'], contractSignature('new', body))
  assert.equal(before['webhook-signature']!.split(' ').length, 2)
  const after = at(10_000)
  assert.equal(after['X-Acme-Signature'], contractSignature('new', body))
  assert.equal(after['X-Acme-Signature-Next'], undefined)
  assert.equal(after['webhook-signature'], standardSignature('new', 'evt_1', 10, body))
})

test('a secret that was not given signs no contract header', () => {
  const headers = signatureHeaders(
    'Airside',
    { current: { text: 'whsec_AAAA', given: false } },
    { id: 'evt_1', at: 0, body },
  )
  assert.deepEqual(Object.keys(headers), ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
})

test('a sealed secret opens for its endpoint and region alone', () => {
  const key = { key: deriveKey('master', secretPurpose('intl')), region: 'intl' as const }
  const [mine, other] = ['whk_mine', 'whk_other'] as unknown as Parameters<typeof sealSecret>[1][]
  const sealed = sealSecret(key, mine!, 'sécret 🔑')
  assert.equal(openSecret(key, mine!, sealed), 'sécret 🔑')
  assert.equal(openSecret(key, other!, sealed), undefined)
  assert.equal(openSecret({ ...key, region: 'cn' }, mine!, sealed), undefined)
  assert.equal(
    openSecret({ ...key, key: deriveKey('another', secretPurpose('intl')) }, mine!, sealed),
    undefined,
  )
  assert.ok(!sealed.includes('cret'))
})
