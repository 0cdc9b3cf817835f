import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type FareFault, FaresRefused, parseFares } from './fares.ts'

const HEADER = 'carrier,origin,destination,cabin,class,currency,base,per_km,seats'
const GOOD = 'BA,LHR,SIN,economy,Y,USD,49.50,0.085,9'

const read = (...lines: string[]) => parseFares([HEADER, ...lines].join('\n'))
function faults(text: string): readonly FareFault[] {
  try {
    parseFares(text)
    return []
  } catch (error) {
    assert.ok(error instanceof FaresRefused)
    for (const { line, column, reason } of error.faults)
      assert.ok(error.message.includes(`line ${line}, ${column}: ${reason}`))
    return error.faults
  }
}
const where = (...lines: string[]) =>
  faults([HEADER, ...lines].join('\n')).map(({ line, column }) => `${line} ${column}`)

describe('a fares file', () => {
  it('is read to minor units and exact rates', () => {
    assert.deepEqual(read(GOOD), [
      {
        line: 2,
        carrier: 'BA',
        origin: 'LHR',
        destination: 'SIN',
        cabin: 'economy',
        bookingClass: 'Y',
        currency: 'USD',
        base: 4950,
        perKm: { digits: 85n, scale: 3 },
        perKmText: '0.085',
        seats: 9,
      },
    ])
    assert.equal(read('*,*,*,first,F,JPY,50000,10,1')[0]!.base, 50_000)
    assert.equal(read('*,*,*,first,F,KWD,1.234,0,0')[0]!.base, 1_234)
  })

  it('may have its columns in any order, quotes, a byte order mark, CRLF, blank lines and more columns', () => {
    const text =
      '\uFEFFseats,"note",PER_KM,base,currency,class,cabin,destination,origin,carrier\r\n9,"hi",0.085,49.50,USD,Y,economy,SIN,LHR,"BA"\r\n\r\n'
    const [row] = parseFares(text)
    const [same] = read(GOOD)
    assert.deepEqual(row, same)
  })

  it('is refused with line and column', () => {
    const bad: [string, string][] = [
      ['B,LHR,SIN,economy,Y,USD,1,0,9', '2 carrier'],
      ['ba,LHR,SIN,economy,Y,USD,1,0,9', '2 carrier'],
      ['BA,LONDON,SIN,economy,Y,USD,1,0,9', '2 origin'],
      ['BA,LHR,,economy,Y,USD,1,0,9', '2 destination'],
      ['BA,LHR,SIN,premium,Y,USD,1,0,9', '2 cabin'],
      ['BA,LHR,SIN,economy,YY,USD,1,0,9', '2 class'],
      ['BA,LHR,SIN,economy,Y,XAU,1,0,9', '2 currency'],
      ['BA,LHR,SIN,economy,Y,USD,1.005,0,9', '2 base'],
      ['BA,LHR,SIN,economy,Y,USD,-1,0,9', '2 base'],
      ['BA,LHR,SIN,economy,Y,USD,1e3,0,9', '2 base'],
      ['BA,LHR,SIN,economy,Y,JPY,1.5,0,9', '2 base'],
      ['BA,LHR,SIN,economy,Y,USD,1,.5,9', '2 per_km'],
      ['BA,LHR,SIN,economy,Y,USD,1,-0.1,9', '2 per_km'],
      ['BA,LHR,SIN,economy,Y,USD,1,0,9.5', '2 seats'],
      ['BA,LHR,SIN,economy,Y,USD,1,0,32767', '2 seats'],
      ['BA,LHR,SIN,economy,Y,USD,1,0', '2 seats'],
      ['BA,LHR,SIN,economy,Y,USD,"1,000",0,9', '2 seats'],
      // Prices that no flight has, and that an offer could not carry.
      ['BA,LHR,SIN,economy,Y,USD,1000000000,0,9', '2 base'],
      ['BA,LHR,SIN,economy,Y,USD,1,999999999,9', '2 per_km'],
    ]
    for (const [line, expected] of bad) assert.deepEqual(where(line), [expected], line)
    assert.deepEqual(where(GOOD, '', GOOD.replace('49.50', '50')), ['4 class'])
    assert.deepEqual(where('X,LHR,SIN,economy,Y,USD,1,0,9', GOOD, 'BA,LHR,SIN,economy,,USD,1,0,9'), [
      '2 carrier',
      '4 class',
    ])
  })

  it('is refused without its header, or without a fare', () => {
    assert.deepEqual(
      faults('carrier,origin\n').map(({ line, column }) => `${line} ${column}`),
      ['destination', 'cabin', 'class', 'currency', 'base', 'per_km', 'seats'].map(column => `1 ${column}`),
    )
    assert.deepEqual(
      faults(`${HEADER},base\n${GOOD},1`).map(fault => fault.column),
      ['base'],
    )
    assert.equal(faults(HEADER).length, 1)
    assert.ok(faults('').length > 0)
  })

  it('lists no more faults than can be read, and any text is read or refused', () => {
    assert.ok(where(...Array<string>(1_000).fill('?')).length < 40)
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), text => void faults(`${HEADER}\n${text}`)),
    )
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('BA', '*', ',', '\n', '"', '9', '.', 'economy', 'USD'), { maxLength: 60 }),
        parts => void faults(`${HEADER}\n${parts.join('')}`),
      ),
    )
  })
})
