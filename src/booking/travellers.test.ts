import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { newId } from '../id.ts'
import { openTravellers, sealTravellers } from './travellers.ts'

const key = { master: randomBytes(32), region: 'intl' } as const
const id = newId('bkg')
const contact = { email: 'grace@navy.example', phone: '+12025550123' }
const passengers = ['Grace', 'Ada'].map(firstName => ({
  firstName,
  lastName: '李',
  dateOfBirth: '1906-12-09',
  documentType: 'passport' as const,
  documentNumber: `PASS${firstName}1234`,
  documentExpiry: '2040-01-01',
}))

it('opens what it sealed, documents by their last four characters', () => {
  const sealed = sealTravellers(key, id, passengers, contact)
  const opened = openTravellers(key, id, sealed)
  assert.deepEqual(opened.contact, contact)
  assert.deepEqual(
    opened.travellers.map(traveller => [traveller.firstName, traveller.document]),
    ['Grace', 'Ada'].map(name => [name, { type: 'passport', lastFour: '1234', expiry: '2040-01-01' }]),
  )
  const erased = openTravellers(key, id, { ...sealed, documents: [null, sealed.documents[1]!] })
  assert.deepEqual([erased.travellers[0]!.document, erased.travellers[0]!.firstName], [undefined, 'Grace'])
})

it('shows nothing at rest, and seals the same data differently each time', () => {
  const [one, other] = [
    sealTravellers(key, id, passengers, contact),
    sealTravellers(key, id, passengers, contact),
  ]
  const bytes = Buffer.concat([one.contact, ...one.details, ...one.documents]).toString('latin1')
  for (const secret of ['Grace', 'navy', 'PASS', '1906']) assert.ok(!bytes.includes(secret))
  assert.notDeepEqual(one.details[0], other.details[0])
})

it('opens nothing that was moved, altered, or sealed under another secret or in another region', () => {
  const sealed = sealTravellers(key, id, passengers, contact)
  const [first, second] = sealed.details as [Buffer, Buffer]
  assert.throws(() => openTravellers(key, id, { ...sealed, details: [second, first] }), /details 0/)
  assert.throws(() => openTravellers(key, id, { ...sealed, documents: sealed.details }), /document 0/)
  const altered = Buffer.from(sealed.contact)
  altered[20]! ^= 1
  assert.throws(() => openTravellers(key, id, { ...sealed, contact: altered }), /contact/)
  assert.throws(() => openTravellers(key, newId('bkg'), sealed), /AIRSIDE_SECRET/)
  assert.throws(() => openTravellers({ ...key, region: 'cn' }, id, sealed), /AIRSIDE_SECRET/)
  assert.throws(
    () => openTravellers({ ...key, master: randomBytes(32) }, id, sealed),
    error => {
      assert.ok(!String(error).includes('navy'))
      return true
    },
  )
})
