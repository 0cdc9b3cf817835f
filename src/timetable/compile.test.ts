import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type Airport, airports } from '../travel/airport.ts'
import { dateOf, dayNumber, formatLocal, MINUTES_A_DAY } from '../travel/time.ts'
import { type CompileReport, compile } from './compile.ts'
import { openImage, operates, RESTRICTION, SEATS_UNKNOWN, type Timetable } from './image.ts'
import { ssimReader } from './ssim.ts'
import { type CarrierText, type DataText, type LegText, ssimWriter } from './ssim-writer.ts'

const day = (date: string) => dayNumber(date)!
const at = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))

/** A flight of one date unless told otherwise, London to Paris. */
function leg(more: Partial<LegText> = {}): LegText {
  const from = more.from ?? day('2027-06-07')
  return {
    carrier: 'ZZ',
    number: 1,
    variation: 1,
    sequence: 1,
    from,
    to: from,
    weekdays: 127,
    origin: 'LHR',
    departure: at('10:00'),
    departureOffset: 60,
    destination: 'CDG',
    arrival: at('12:15'),
    arrivalOffset: 120,
    aircraft: '320',
    configuration: 'C020Y120',
    departureDays: 0,
    arrivalDays: 0,
    ...more,
  }
}

type Filed = LegText | DataText
type Compiled = { timetable: Timetable; report: CompileReport; lines: string[] }

function compiled(filed: readonly Filed[], carrier: Partial<CarrierText> = {}): Compiled {
  const writer = ssimWriter()
  const groups = Map.groupBy(withCarrier(filed), ([code]) => code)
  for (const [code, group] of groups) {
    writer.carrier({ carrier: code, from: day('2027-01-01'), to: day('2028-12-31'), ...carrier })
    for (const [, record] of group) 'segment' in record ? writer.data(record) : writer.leg(record)
  }
  const reader = ssimReader()
  reader.push(Buffer.from(writer.end(), 'latin1'))
  const { buffer, report } = compile([reader.end()], airports())
  const timetable = openImage(buffer)
  return { timetable, report, lines: departures(timetable) }
}

function withCarrier(filed: readonly Filed[]): [string, Filed][] {
  let carrier = ''
  return filed.map(record => {
    if (!('segment' in record)) carrier = record.carrier
    return [carrier, record]
  })
}

/** Every departure of every flight as a line of text, sorted. */
function departures(t: Timetable): string[] {
  const lines: string[] = []
  for (let r = 0; r < t.counts.routes; r++) {
    for (let f = t.flightStart[r]!; f < t.flightStart[r + 1]!; f++) {
      for (let d = t.firstDay[f]!; d < t.endDay[f]!; d++) {
        if (!operates(t, f, d)) continue
        const start = d * MINUTES_A_DAY + t.departureMinute[f]!
        const legs = [...t.flightLeg.slice(t.legStart[f], t.legStart[f + 1])].map((index, i) => {
          return `${t.text(t.legName[index]!)} ${dateOf(d + t.flightLegShift[t.legStart[f]! + i]!)}`
        })
        const suffix = t.suffix[f] === 0 ? '' : String.fromCharCode(t.suffix[f]!)
        lines.push(
          `${t.text(t.carrier[f]!)}${t.number[f]}${suffix} ` +
            `${code(t, t.routeFrom[r]!)} ${formatLocal(start, t.departureOffset[f]!)} ` +
            `${code(t, t.routeTo[r]!)} ${formatLocal(start + t.elapsed[f]!, t.arrivalOffset[f]!)} [${legs.join(', ')}]`,
        )
        assert.equal(
          d - t.dayShift[f]!,
          Math.floor((start + t.departureOffset[f]!) / MINUTES_A_DAY),
          'dayShift leads to the local day of departure',
        )
      }
    }
  }
  return lines.sort()
}

const code = (t: Timetable, airport: number) => t.text(t.airportCode[airport]!)
const warned = (c: Compiled) => c.report.warnings.map(w => [w.kind, w.count])
const seats = (t: Timetable, f = 0) => [t.economySeats[f], t.businessSeats[f], t.firstSeats[f]]
const cutSeconds = (line: string) => line.replace(/(T\d\d:\d\d):00/g, '$1')
const shown = (c: Compiled) => c.lines.map(cutSeconds)

test('one leg, one date', () => {
  const c = compiled([leg()])
  assert.deepEqual(shown(c), [
    'ZZ1 LHR 2027-06-07T10:00+01:00 CDG 2027-06-07T12:15+02:00 [ZZ1/LHR 2027-06-07]',
  ])
  const t = c.timetable
  assert.deepEqual(seats(t), [120, 20, -1])
  assert.equal(t.text(t.aircraft[0]!), '320')
  assert.equal(t.routeLeastElapsed[0], 75)
  assert.ok(Math.abs(t.routeKm[0]! - 347) < 3)
  assert.equal(t.routeInternational[0], 1)
})

test('customers see the passenger times, the days are those of the aircraft', () => {
  const c = compiled([
    leg({
      aircraftDeparture: at('00:05'),
      departure: at('23:55'),
      aircraftArrival: at('02:20'),
      arrival: at('02:30'),
    }),
  ])
  assert.deepEqual(shown(c), [
    'ZZ1 LHR 2027-06-06T23:55+01:00 CDG 2027-06-07T02:30+02:00 [ZZ1/LHR 2027-06-07]',
  ])
})

test('2400 is the end of the day it names', () => {
  const c = compiled([leg({ departure: at('21:45'), arrival: 1440 })])
  assert.deepEqual(shown(c), [
    'ZZ1 LHR 2027-06-07T21:45+01:00 CDG 2027-06-08T00:00+02:00 [ZZ1/LHR 2027-06-07]',
  ])
})

test('a blank date variation takes the first arrival after the departure, and the first departure after the arrival', () => {
  const blank = { departureDays: undefined, arrivalDays: undefined }
  const strip = (l: LegText): LegText => {
    const { departureDays: _, arrivalDays: __, ...rest } = { ...l, ...blank }
    return rest as LegText
  }
  const c = compiled([
    strip(
      leg({
        origin: 'CDG',
        departureOffset: 120,
        departure: at('23:00'),
        destination: 'LHR',
        arrivalOffset: 60,
        arrival: at('23:10'),
      }),
    ),
    strip(
      leg({
        sequence: 2,
        from: day('2027-06-08'),
        departure: at('00:20'),
        destination: 'DUB',
        arrivalOffset: 60,
        arrival: at('01:35'),
      }),
    ),
  ])
  assert.deepEqual(shown(c), [
    'ZZ1 CDG 2027-06-07T23:00+02:00 DUB 2027-06-08T01:35+01:00 [ZZ1/CDG 2027-06-07, ZZ1/LHR 2027-06-08]',
    'ZZ1 CDG 2027-06-07T23:00+02:00 LHR 2027-06-07T23:10+01:00 [ZZ1/CDG 2027-06-07]',
    'ZZ1 LHR 2027-06-08T00:20+01:00 DUB 2027-06-08T01:35+01:00 [ZZ1/LHR 2027-06-08]',
  ])
})

test('across the date line: A is the day before, and weekdays move to UTC', () => {
  const c = compiled([
    leg({
      from: day('2027-06-07'),
      to: day('2027-06-20'),
      weekdays: 1,
      origin: 'AKL',
      departure: at('08:00'),
      departureOffset: 720,
      destination: 'HNL',
      arrival: at('18:30'),
      arrivalOffset: -600,
      arrivalDays: -1,
    }),
  ])
  assert.deepEqual(shown(c), [
    'ZZ1 AKL 2027-06-07T08:00+12:00 HNL 2027-06-06T18:30-10:00 [ZZ1/AKL 2027-06-07]',
    'ZZ1 AKL 2027-06-14T08:00+12:00 HNL 2027-06-13T18:30-10:00 [ZZ1/AKL 2027-06-14]',
  ])
  assert.equal(c.timetable.weekdays[0], 0b1000000)
  assert.equal(c.timetable.dayShift[0], -1)
})

test('a period over a clock change is cut and keeps its local times', () => {
  const c = compiled([
    leg({
      from: day('2027-03-27'),
      to: day('2027-03-29'),
      origin: 'JFK',
      departure: at('10:00'),
      departureOffset: -240,
      destination: 'LHR',
      arrival: at('21:30'),
      arrivalOffset: 0,
    }),
  ])
  assert.deepEqual(shown(c), [
    'ZZ1 JFK 2027-03-27T10:00-04:00 LHR 2027-03-27T21:30+00:00 [ZZ1/JFK 2027-03-27]',
    'ZZ1 JFK 2027-03-28T10:00-04:00 LHR 2027-03-28T21:30+01:00 [ZZ1/JFK 2027-03-28]',
    'ZZ1 JFK 2027-03-29T10:00-04:00 LHR 2027-03-29T21:30+01:00 [ZZ1/JFK 2027-03-29]',
  ])
  assert.equal(c.report.cutSegments, 1)
  assert.deepEqual(warned(c), [])
})

test('a departure that the clock skips is moved forward on that date alone', () => {
  const c = compiled([
    leg({
      from: day('2027-03-27'),
      to: day('2027-03-29'),
      origin: 'CDG',
      departure: at('02:30'),
      departureOffset: 60,
      destination: 'DKR',
      arrival: at('07:00'),
      arrivalOffset: 0,
    }),
  ])
  // DKR has no scheduled service any more but is an airport still.
  assert.deepEqual(shown(c), [
    'ZZ1 CDG 2027-03-27T02:30+01:00 DKR 2027-03-27T07:00+00:00 [ZZ1/CDG 2027-03-27]',
    'ZZ1 CDG 2027-03-28T03:30+02:00 DKR 2027-03-28T07:00+00:00 [ZZ1/CDG 2027-03-28]',
    'ZZ1 CDG 2027-03-29T02:30+02:00 DKR 2027-03-29T07:00+00:00 [ZZ1/CDG 2027-03-29]',
  ])
})

test('a local time that comes twice is the one that the filed variation says', () => {
  const night = {
    from: day('2027-10-31'),
    origin: 'CDG',
    departure: at('02:30'),
    destination: 'DKR',
    arrival: at('06:00'),
    arrivalOffset: 0,
  }
  const first = compiled([leg({ ...night, departureOffset: 120 })])
  const second = compiled([leg({ ...night, departureOffset: 60 })])
  assert.match(shown(first)[0]!, /CDG 2027-10-31T02:30\+02:00 .*06:00/)
  assert.match(shown(second)[0]!, /CDG 2027-10-31T02:30\+01:00 .*06:00/)
  assert.deepEqual([...warned(first), ...warned(second)], [])
})

test('a variation that our zone data never has is kept and reported', () => {
  const c = compiled([leg({ arrivalOffset: 60, from: day('2027-06-07'), to: day('2027-06-09') })])
  assert.match(shown(c)[0]!, /T10:00\+01:00 CDG 2027-06-07T12:15\+01:00/)
  assert.deepEqual(warned(c), [['zone', 1]])
  assert.equal(c.report.warnings[0]!.examples[0]!.line, 11)
})

test('UTC mode: times, period and days are UTC', () => {
  const c = compiled(
    [
      leg({
        origin: 'JFK',
        from: day('2027-06-08'),
        departure: at('01:00'),
        departureOffset: -240,
        destination: 'LHR',
        arrival: at('08:00'),
        arrivalOffset: 60,
      }),
    ],
    { timeMode: 'U' },
  )
  assert.deepEqual(shown(c), [
    'ZZ1 JFK 2027-06-07T21:00-04:00 LHR 2027-06-08T09:00+01:00 [ZZ1/JFK 2027-06-07]',
  ])
})

test('every other week, from the first day on', () => {
  const c = compiled([
    leg({ from: day('2027-06-07'), to: day('2027-07-07'), weekdays: 0b101, fortnightly: true }),
  ])
  assert.deepEqual(
    shown(c).map(line => line.slice(8, 18)),
    ['2027-06-07', '2027-06-09', '2027-06-21', '2027-06-23', '2027-07-05', '2027-07-07'],
  )
  assert.equal(c.timetable.irregular[0], 1)
  assert.equal(c.timetable.counts.irregularWords, 1)
})

test('period edges that are no operating days are trimmed', () => {
  const c = compiled([leg({ from: day('2027-06-08'), to: day('2027-06-20'), weekdays: 1 })])
  assert.deepEqual([c.timetable.firstDay[0], c.timetable.endDay[0]], [day('2027-06-14'), day('2027-06-15')])
})

const SECOND = leg({
  sequence: 2,
  origin: 'CDG',
  departure: at('13:00'),
  departureOffset: 120,
  destination: 'FCO',
  arrival: at('15:00'),
  configuration: 'Y180',
})

test('a through flight has the least seats of its legs and one stop; a round flight is sold by legs only', () => {
  const t = compiled([leg(), SECOND]).timetable
  const through = [...t.stops].indexOf(1)
  assert.deepEqual(seats(t, through), [120, -1, -1])
  assert.equal(t.elapsed[through], 240)
  const round = compiled([leg(), { ...SECOND, destination: 'LHR', arrival: at('13:20'), arrivalOffset: 60 }])
  assert.equal(round.report.throughFlights, 0)
  assert.equal(round.report.flights, 2)
})

test('a chain that breaks, or leaves before it arrives, is sold by legs only', () => {
  assert.equal(compiled([leg(), { ...SECOND, origin: 'ORY' }]).report.throughFlights, 0)
  assert.equal(compiled([leg(), { ...SECOND, departure: at('12:00') }]).report.throughFlights, 0)
})

test('a through flight operates on the days that both legs have', () => {
  const june = { from: day('2027-06-07'), to: day('2027-06-13') }
  const c = compiled([leg({ ...june, weekdays: 0b11111 }), { ...SECOND, ...june, weekdays: 0b1110000 }])
  assert.deepEqual(
    shown(c).filter(line => line.includes('LHR') && line.includes('FCO')),
    ['ZZ1 LHR 2027-06-11T10:00+01:00 FCO 2027-06-11T15:00+02:00 [ZZ1/LHR 2027-06-11, ZZ1/CDG 2027-06-11]'],
  )
})

test('restrictions by off point, by data element, and those that are not sold', () => {
  const restrictions = (...filed: Filed[]) => {
    const c = compiled(filed)
    const t = c.timetable
    const sold: Record<string, number> = {}
    for (let r = 0; r < t.counts.routes; r++) {
      for (let f = t.flightStart[r]!; f < t.flightStart[r + 1]!; f++)
        sold[code(t, t.routeFrom[r]!) + code(t, t.routeTo[r]!)] = t.restriction[f]!
    }
    return { sold, restricted: c.report.restricted }
  }
  const k = RESTRICTION.connectingOnly
  assert.deepEqual(restrictions(leg({ restriction: 'AK' }), { ...SECOND, restriction: ' Y' }), {
    sold: { LHRFCO: k, CDGFCO: RESTRICTION.onlineConnectingOnly },
    restricted: { A: 1 },
  })
  assert.deepEqual(
    restrictions(
      leg({ restriction: 'ZZ' }),
      { segment: 'AB', element: 170, board: 'LHR', off: 'CDG', text: 'K' },
      { segment: 'AC', element: 172, board: 'LHR', off: 'FCO', text: 'A' },
      SECOND,
    ),
    { sold: { LHRCDG: k, LHRFCO: 0, CDGFCO: 0 }, restricted: {} },
  )
  for (const letter of 'AHIDEGMQTZ')
    assert.deepEqual(restrictions(leg({ restriction: letter })), { sold: {}, restricted: { [letter]: 1 } })
  const sold = Object.fromEntries(
    [...'BCFKVNWOYX'].map(letter => [letter, restrictions(leg({ restriction: letter })).sold.LHRCDG]),
  )
  assert.deepEqual(sold, { B: 5, C: 6, F: 7, K: 1, V: 1, N: 2, W: 2, O: 4, Y: 3, X: 3 })
})

test('service types: scheduled passengers and extra flights are sold, nothing else', () => {
  const sold = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].filter(
    service => compiled([leg({ service })]).report.flights === 1,
  )
  assert.equal(sold.join(''), 'BGJQRS')
})

test('seats of a configuration', () => {
  const cases: [string, string, number[]][] = [
    ['F014Y119', '', [119, -1, 14]],
    ['W18Y112VVCGO', '', [130, -1, -1]],
    ['J14W34Y316VV364', '', [350, 14, -1]],
    ['C042Y150LL04PP03VVX', '', [150, 42, -1]],
    ['P8D4I6Y90', '', [90, 10, 8]],
    ['CY', '', [SEATS_UNKNOWN, SEATS_UNKNOWN, -1]],
    ['F000Y100', '', [100, -1, -1]],
    ['VV320', '', []],
    ['PP', '', []],
    ['', 'FCYB', [SEATS_UNKNOWN, SEATS_UNKNOWN, SEATS_UNKNOWN]],
    ['', 'YMB', [SEATS_UNKNOWN, -1, -1]],
    ['', '', [SEATS_UNKNOWN, -1, -1]],
  ]
  for (const [configuration, classes, expected] of cases) {
    const c = compiled([leg({ configuration, classes })])
    assert.deepEqual(
      c.report.flights === 0 ? [] : seats(c.timetable),
      expected,
      `${configuration} ${classes}`,
    )
  }
})

test('XX fields are read from their data elements, continued over records', () => {
  const about = { segment: 'AB', board: 'LHR', off: 'CDG' }
  const c = compiled([
    leg({ configuration: 'XX' }),
    { ...about, element: 108, text: 'F004C0' },
    { ...about, element: 108, text: '56Y200' },
  ])
  assert.deepEqual(seats(c.timetable), [200, 56, 4])
  const classes = compiled([
    leg({ configuration: '', classes: 'XX' }),
    { ...about, element: 106, text: 'JCDYBM' },
  ])
  assert.deepEqual(seats(classes.timetable), [SEATS_UNKNOWN, SEATS_UNKNOWN, -1])
})

const MARKETING = leg({ carrier: 'YY', number: 5001, configuration: '', disclosure: 'L' })
const OPERATED_BY: DataText = { segment: 'AB', element: 50, board: 'LHR', off: 'CDG', text: 'ZZ    1' }
const operatorNames = (c: Compiled) => {
  const t = c.timetable
  return [...t.carrier].map((carrier, f) => [
    t.text(carrier) + t.number[f],
    t.text(t.operatingCarrier[f]!) + t.operatingNumber[f],
    t.text(t.legName[t.flightLeg[t.legStart[f]!]!]!),
    ...seats(t, f),
  ])
}

test('a codeshare takes the seats of the flight that operates it', () => {
  const own = ['ZZ1', 'ZZ1', 'ZZ1/LHR', 120, 20, -1]
  const share = ['YY5001', 'ZZ1', 'ZZ1/LHR', 120, 20, -1]
  assert.deepEqual(operatorNames(compiled([leg(), MARKETING, OPERATED_BY])), [own, share])
  const listed: DataText = {
    segment: 'AB',
    element: 10,
    board: 'LHR',
    off: 'CDG',
    text: 'AA 4242 /YY 5001 /',
  }
  assert.deepEqual(operatorNames(compiled([leg(), listed, MARKETING])), [own, share])
})

test('a codeshare whose operating flight is not filed is sold under its own legs', () => {
  const alone = operatorNames(compiled([MARKETING, OPERATED_BY]))
  assert.deepEqual(alone, [['YY5001', 'ZZ1', 'YY5001/LHR', SEATS_UNKNOWN, -1, -1]])
  const byOwner = operatorNames(compiled([{ ...MARKETING, owner: 'ZZ' }]))
  assert.deepEqual(byOwner[0]!.slice(0, 3), ['YY5001', 'ZZ5001', 'YY5001/LHR'])
})

test('absurd records are not sold and reported', () => {
  const cases: [string, LegText][] = [
    ['station', leg({ destination: 'ZZZ' })],
    ['speed', leg({ destination: 'JFK', arrivalOffset: -240, arrival: at('07:00') })],
    ['elapsed', leg({ arrivalDays: 1 })],
    ['cabin', leg({ configuration: 'LL04PP08' })],
  ]
  for (const [kind, record] of cases) {
    const c = compiled([record])
    assert.deepEqual([c.report.flights, warned(c), c.report.unsoldLegs], [0, [[kind, 1]], { [kind]: 1 }])
  }
  const early = compiled([
    leg({ departure: at('12:00'), arrival: at('08:00'), destination: 'SIN', arrivalOffset: 480 }),
  ])
  assert.deepEqual(warned(early), [['date variation', 1]])
  assert.match(shown(early)[0]!, /SIN 2027-06-08T08:00\+08:00/)
})

test('airports are numbered by falling out-degree, routes and flights are in order, bytes are the same again', () => {
  const filed = [
    leg({ number: 3, departure: at('18:00'), arrival: at('20:15') }),
    leg({ number: 2 }),
    leg({ number: 4, origin: 'CDG', departureOffset: 120, destination: 'FCO' }),
    leg({
      number: 5,
      origin: 'CDG',
      departureOffset: 120,
      destination: 'LHR',
      arrivalOffset: 60,
      arrival: at('10:20'),
    }),
  ]
  const c = compiled(filed)
  const t = c.timetable
  assert.deepEqual(
    [...t.airportCode].map(i => t.text(i)),
    ['CDG', 'LHR', 'FCO'],
  )
  assert.deepEqual([...t.outStart], [0, 2, 3, 3])
  assert.deepEqual([...t.inStart], [0, 1, 2, 3])
  assert.deepEqual(
    [...t.inRoute].map(r => t.routeTo[r]),
    [0, 1, 2],
  )
  assert.deepEqual([...t.number].slice(t.flightStart[2]), [2, 3])
  assert.deepEqual(
    Buffer.from(new Uint8Array(t.buffer)),
    Buffer.from(new Uint8Array(compiled(filed).timetable.buffer)),
  )
})

test('the real file: every leg but cargo and positioning, no zone contradicts once the arrival is on the next day', () => {
  const reader = ssimReader()
  reader.push(readFileSync(new URL('../../test/fixtures/ssim/sample-2005.ssim', import.meta.url)))
  const schedule = reader.end()
  const { legs } = schedule
  let overnight = 0
  for (let i = 0; i < schedule.legCount; i++) {
    if (legs.aircraftArrival[i]! <= legs.aircraftDeparture[i]!) overnight++
  }
  assert.equal(overnight, 73)
  const { buffer, report } = compile([schedule], airports())
  assert.equal(report.soldLegs + report.unsoldLegs.service!, 514)
  assert.deepEqual(report.warnings, [])
  const t = openImage(buffer)
  assert.ok(
    departures(t).includes(
      'XX975 RUN 2005-10-29T20:15:00+04:00 CDG 2005-10-30T04:30:00+01:00 [XX975/RUN 2005-10-29]',
    ),
  )
  assert.ok(Math.max(...t.elapsed) < 1440)
})

test('an unknown airport list sells nothing', () => {
  const none: Airport[] = []
  const reader = ssimReader()
  const writer = ssimWriter()
  writer.carrier({ carrier: 'ZZ', from: day('2027-01-01'), to: undefined })
  writer.leg(leg())
  reader.push(Buffer.from(writer.end()))
  const { buffer, report } = compile([reader.end()], none)
  assert.equal(report.flights, 0)
  assert.equal(openImage(buffer).counts.airports, 0)
})
