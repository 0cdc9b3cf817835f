import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXAMPLE_WEBHOOK } from './reference/webhook-example.ts'
import { plainText, renderWebhook } from './webhook-render.ts'

test('an answer is shown as text in which every byte that is none can be seen', () => {
  const cases: [Uint8Array | string, string][] = [
    ['ok', 'ok'],
    ['', ''],
    ['{"a":"ü 🔑"}\r\n\t', '{"a":"ü 🔑"}\r\n\t'],
    ['a\u0000b\u001b[31m', 'a\\x00b\\x1b[31m'],
    ['\u202eevil', '\\xe2\\x80\\xaeevil'],
    ['\ufeffx', '\\xef\\xbb\\xbfx'],
    [Buffer.from([0x61, 0xff, 0xfe, 0x62]), 'a\\xff\\xfeb'],
    // Cut in the middle of a character, as an answer may be at 16 KiB.
    [Buffer.from('aü').subarray(0, 2), 'a\\xc3'],
    [Buffer.from([0x1f, 0x8b, 0x08]), '\\x1f\\x8b\\x08'],
  ]
  for (const [bytes, text] of cases) assert.equal(plainText(Buffer.from(bytes as string)), text)
})

test('a webhook names the signature header by the operator’s brand, and only where there is one', () => {
  const header = (contractSignature: boolean) =>
    JSON.parse(renderWebhook({ ...EXAMPLE_WEBHOOK, contractSignature }, 'Acme', 'req_')).signatureHeader
  assert.equal(header(true), 'X-Acme-Signature')
  assert.equal(header(false), null)
})
