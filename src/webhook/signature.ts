import { createHmac } from 'node:crypto'
import type { Secret, SigningSecrets } from './endpoint.ts'

/**
 * The headers that prove where a delivery comes from.
 * @param brand part of two names, as in `X-Airside-Signature`
 * @param message `at`: when the attempt begins, in milliseconds since 1970
 */
export function signatureHeaders(
  brand: string,
  secrets: SigningSecrets,
  message: { id: string; at: number; body: Uint8Array },
): Record<string, string> {
  const { current } = secrets
  const { id, at, body } = message
  const seconds = Math.floor(at / 1000)
  const previous =
    secrets.previous !== undefined && at < secrets.previous.until ? secrets.previous.secret : undefined
  const headers: Record<string, string> = {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': [current, ...(previous ? [previous] : [])]
      .map(secret => standardSignature(secret.text, id, seconds, body))
      .join(' '),
  }
  // A header with one value cannot carry two signatures: the old secret keeps it until the cut-over.
  const name = `X-${brand}-Signature`
  if (previous?.given) {
    headers[name] = contractSignature(previous.text, body)
    if (current.given) headers[`${name}-Next`] = contractSignature(current.text, body)
  } else if (current.given) headers[name] = contractSignature(current.text, body)
  return headers
}

/** Hex HMAC-SHA-256 of the raw body, under the secret's UTF-8 bytes as they were given. */
export function contractSignature(secret: Secret['text'], body: Uint8Array): string {
  return createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex')
}

/** The Standard Webhooks signature of `id.seconds.body`, such as `v1,K5oZ…`. */
export function standardSignature(
  secret: Secret['text'],
  id: string,
  seconds: number,
  body: Uint8Array,
): string {
  const mac = createHmac('sha256', standardKey(secret)).update(`${id}.${seconds}.`).update(body)
  return `v1,${mac.digest('base64')}`
}

const PREFIX = 'whsec_'

/** The key of a secret: `whsec_` and base64 as the standard writes it; the UTF-8 bytes of anything else. */
export function standardKey(secret: Secret['text']): Buffer {
  if (secret.startsWith(PREFIX)) {
    const encoded = secret.slice(PREFIX.length)
    const key = Buffer.from(encoded, 'base64')
    if (key.length > 0 && sameBase64(key.toString('base64'), encoded)) return key
  }
  return Buffer.from(secret, 'utf8')
}

const sameBase64 = (a: string, b: string) => a.replace(/=+$/, '') === b.replace(/=+$/, '')
