import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A 32-byte key for one purpose, derived from the master secret (HKDF-SHA-256, RFC 5869). The same purpose always gives the same key. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'airside', purpose, 32))
}

/** HMAC-SHA-256 of text or bytes. */
export function mac(key: Buffer, data: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(data).digest()
}

/**
 * Encrypts with AES-256-GCM under a random 96-bit nonce: nonce, ciphertext, tag.
 * @param context bound to the ciphertext but not stored in it; opening elsewhere fails
 */
export function seal(key: Buffer, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Opens what `seal` made; undefined when it was made with another key or context, or altered. */
export function open(key: Buffer, sealed: Uint8Array, context: string): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  try {
    return Buffer.concat([
      decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES)),
      decipher.final(),
    ])
  } catch {
    return undefined
  }
}
