import { randomBytes } from 'node:crypto'
import type { BookingId } from '../id.ts'
import { open, seal } from '../secret.ts'
import type { Region } from '../settings.ts'
import type { Passenger } from '../travel/passenger.ts'
import type { Traveller } from './booking.ts'

/**
 * Travellers' data at rest. Each booking has a random key of its own, wrapped by one derived from the master secret; every field is sealed
 * with its place (region, booking, position) as associated data, so that a value moved elsewhere does not open.
 */
export type TravellerKey = { master: Buffer; region: Region }

export type Contact = { email: string; phone: string }

export type SealedTravellers = {
  dataKey: Buffer
  contact: Buffer
  details: Buffer[]
  documents: Buffer[]
}

const place = (key: TravellerKey, id: BookingId, field: string) => `${key.region}|${id}|${field}`

/** Seals the travellers and the contact of a new booking under a fresh data key. */
export function sealTravellers(
  key: TravellerKey,
  id: BookingId,
  passengers: readonly Passenger[],
  contact: Contact,
): SealedTravellers {
  const dataKey = randomBytes(32)
  const sealField = (field: string, value: object) =>
    seal(dataKey, Buffer.from(JSON.stringify(value)), place(key, id, field))
  return {
    dataKey: seal(key.master, dataKey, place(key, id, 'key')),
    contact: sealField('contact', contact),
    details: passengers.map(({ firstName, lastName, dateOfBirth }, i) =>
      sealField(`details ${i}`, { firstName, lastName, dateOfBirth }),
    ),
    documents: passengers.map(({ documentType, documentNumber, documentExpiry }, i) =>
      sealField(`document ${i}`, { documentType, documentNumber, documentExpiry }),
    ),
  }
}

/**
 * Opens what `sealTravellers` made. An erased document is simply absent.
 * @throws Error when a field does not open: the master secret is another one, or the row was altered
 */
export function openTravellers(
  key: TravellerKey,
  id: BookingId,
  sealed: {
    dataKey: Buffer
    contact: Buffer
    details: readonly Buffer[]
    documents: readonly (Buffer | null)[]
  },
): { travellers: Traveller[]; contact: Contact } {
  const dataKey = open(key.master, sealed.dataKey, place(key, id, 'key'))
  if (dataKey === undefined)
    throw new Error(
      `The traveller data of ${id} cannot be read: AIRSIDE_SECRET differs from the one it was written with`,
    )
  const openField = <T>(field: string, bytes: Buffer): T => {
    const plain = open(dataKey, bytes, place(key, id, field))
    if (plain === undefined) throw new Error(`A sealed field of ${id} was altered: ${field}`)
    return JSON.parse(plain.toString('utf8')) as T
  }
  const travellers = sealed.details.map((bytes, i): Traveller => {
    const details = openField<Pick<Passenger, 'firstName' | 'lastName' | 'dateOfBirth'>>(
      `details ${i}`,
      bytes,
    )
    const document = sealed.documents[i]
    if (document === null || document === undefined) return { ...details, document: undefined }
    const { documentType, documentNumber, documentExpiry } = openField<
      Pick<Passenger, 'documentType' | 'documentNumber' | 'documentExpiry'>
    >(`document ${i}`, document)
    return {
      ...details,
      document: { type: documentType, lastFour: documentNumber.slice(-4), expiry: documentExpiry },
    }
  })
  return { travellers, contact: openField<Contact>('contact', sealed.contact) }
}
