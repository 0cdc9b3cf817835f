import { CABINS, type Cabin } from '../../travel/itinerary.ts'

/**
 * What an offer of own flights carries: for each segment what it is called, when it leaves and what was quoted for it. Names instead of
 * indices, so that it outlives an import. Layout: version 1, cabin 1, slices 1, then per slice the number of segments 1, then per segment
 * carrier 3, number 2, suffix 1, origin 3, destination 3, departure minute 4, elapsed 2, class 1, fare 6, currency 3.
 */
export type ReferenceSegment = {
  carrier: string
  number: number
  /** Empty for none. */
  suffix: string
  from: string
  to: string
  /** UTC, see travel/time. */
  departure: number
  elapsed: number
  bookingClass: string
  /** Minor units of `currency`. */
  fare: number
  currency: string
}

export type Reference = { cabin: Cabin; slices: readonly (readonly ReferenceSegment[])[] }

const VERSION = 1
const SEGMENT_BYTES = 3 + 2 + 1 + 3 + 3 + 4 + 2 + 1 + 6 + 3

/** Packs a reference into bytes. */
export function encodeReference(reference: Reference): Uint8Array {
  const segments = reference.slices.reduce((sum, slice) => sum + slice.length, 0)
  const bytes = Buffer.alloc(3 + reference.slices.length + segments * SEGMENT_BYTES)
  let at = bytes.writeUInt8(VERSION, 0)
  at = bytes.writeUInt8(CABINS.indexOf(reference.cabin), at)
  at = bytes.writeUInt8(reference.slices.length, at)
  for (const slice of reference.slices) {
    at = bytes.writeUInt8(slice.length, at)
    for (const segment of slice) {
      at += bytes.write(segment.carrier.padEnd(3), at, 3, 'latin1')
      at = bytes.writeUInt16BE(segment.number, at)
      at = bytes.writeUInt8(segment.suffix === '' ? 0 : segment.suffix.charCodeAt(0), at)
      at += bytes.write(segment.from, at, 3, 'latin1')
      at += bytes.write(segment.to, at, 3, 'latin1')
      at = bytes.writeUInt32BE(segment.departure, at)
      at = bytes.writeUInt16BE(segment.elapsed, at)
      at = bytes.writeUInt8(segment.bookingClass.charCodeAt(0), at)
      at = bytes.writeUIntBE(segment.fare, at, 6)
      at += bytes.write(segment.currency, at, 3, 'latin1')
    }
  }
  return bytes
}

/**
 * Reads a reference back.
 * @throws Error for bytes of another layout, as an older version may have stored
 */
export function decodeReference(reference: Uint8Array): Reference {
  const bytes = Buffer.from(reference.buffer, reference.byteOffset, reference.byteLength)
  if (bytes[0] !== VERSION) throw new Error(`Reference of layout ${bytes[0]}, expected ${VERSION}`)
  const cabin = CABINS[bytes.readUInt8(1)]!
  const slices: ReferenceSegment[][] = []
  let at = 3
  const text = (length: number) => {
    at += length
    return bytes.toString('latin1', at - length, at)
  }
  const number = (length: number) => {
    at += length
    return bytes.readUIntBE(at - length, length)
  }
  for (let slice = bytes.readUInt8(2); slice > 0; slice--) {
    const segments: ReferenceSegment[] = []
    for (let segment = number(1); segment > 0; segment--) {
      const carrier = text(3).trimEnd()
      const flightNumber = number(2)
      const suffix = number(1)
      segments.push({
        carrier,
        number: flightNumber,
        suffix: suffix === 0 ? '' : String.fromCharCode(suffix),
        from: text(3),
        to: text(3),
        departure: number(4),
        elapsed: number(2),
        bookingClass: text(1),
        fare: number(6),
        currency: text(3),
      })
    }
    slices.push(segments)
  }
  return { cabin, slices }
}
