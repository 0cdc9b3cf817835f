import { randomBytes } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export type Prefix = 'acc' | 'key' | 'bkg' | 'req' | 'whk' | 'evt'
export type Id<P extends Prefix> = string & { readonly __prefix: P }
export type AccountId = Id<'acc'>
export type KeyId = Id<'key'>
export type BookingId = Id<'bkg'>
export type RequestId = Id<'req'>
export type WebhookId = Id<'whk'>
export type EventId = Id<'evt'>

/** Random characters of an id: 24 of base 62 carry 142 bits. */
const LENGTH = 24

/** `length` random base-62 characters, each equally likely (bytes over 247 are drawn again). */
export function randomBase62(length: number): string {
  let out = ''
  while (out.length < length) {
    for (const byte of randomBytes(length + 8)) {
      if (byte < 248 && out.length < length) out += ALPHABET[byte % 62]
    }
  }
  return out
}

/** A new id such as `bkg_4fT…`. */
export function newId<P extends Prefix>(prefix: P): Id<P> {
  return `${prefix}_${randomBase62(LENGTH)}` as Id<P>
}

/** Whether `text` has the form of an id with this prefix; anything else cannot exist and needs no look-up. */
export function isId<P extends Prefix>(prefix: P, text: string): text is Id<P> {
  return (
    text.length === prefix.length + 1 + LENGTH &&
    text.startsWith(`${prefix}_`) &&
    /^[a-z]{3}_[0-9A-Za-z]+$/.test(text)
  )
}
