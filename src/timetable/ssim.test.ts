import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { dayNumber } from '../travel/time.ts'
import { BLANK_VARIATION, OPEN_DAY, type Schedule } from './schedule.ts'
import { carrierText, SsimRefused, ssimReader } from './ssim.ts'
import { unpacked } from './ssim-fields.ts'
import { type CarrierText, type LegText, ssimWriter } from './ssim-writer.ts'

const SAMPLE = readFileSync(new URL('../../test/fixtures/ssim/sample-2005.ssim', import.meta.url))
const day = (date: string) => dayNumber(date)!
const CARRIER: CarrierText = { carrier: 'QF', from: day('2027-01-01'), to: day('2027-12-31') }
const LEG: LegText = {
  carrier: 'QF',
  number: 9,
  variation: 1,
  sequence: 1,
  from: day('2027-03-01'),
  to: day('2027-03-28'),
  weekdays: 127,
  origin: 'PER',
  departure: 18 * 60 + 45,
  departureOffset: 480,
  departureTerminal: '3',
  destination: 'LHR',
  arrival: 5 * 60 + 5,
  arrivalOffset: 0,
  arrivalTerminal: '3',
  aircraft: '789',
  configuration: 'C042W028Y166',
  departureDays: 0,
  arrivalDays: 1,
}

function read(text: string | Uint8Array, chunk = 65_536): Schedule {
  const bytes = typeof text === 'string' ? Buffer.from(text, 'latin1') : text
  const reader = ssimReader()
  for (let i = 0; i < bytes.length; i += chunk) reader.push(bytes.subarray(i, i + chunk))
  return reader.end()
}

function file(...legs: LegText[]): string {
  const writer = ssimWriter()
  writer.carrier(CARRIER)
  for (const leg of legs) writer.leg(leg)
  return writer.end()
}

/** The text with one record's bytes (from 1) overwritten; records are found by their type and order. */
function overwrite(text: string, type: string, nth: number, position: number, value: string): string {
  const lines = text.split('\n')
  const index = lines.flatMap((line, i) => (line.startsWith(type) ? [i] : []))[nth]!
  const line = lines[index]!
  lines[index] = line.slice(0, position - 1) + value + line.slice(position - 1 + value.length)
  return lines.join('\n')
}

function faultsOf(text: string): { line: number; bytes: readonly [number, number]; reason: string }[] {
  try {
    read(text)
  } catch (error) {
    if (error instanceof SsimRefused) return [...error.faults]
    throw error
  }
  return []
}

const count = (schedule: Schedule, kind: string) => schedule.warnings.find(w => w.kind === kind)?.count ?? 0
const columns = (schedule: Schedule) =>
  Object.entries(schedule.legs).map(([name, column]) => [name, [...column.slice(0, schedule.legCount)]])

test('a real file with all its oddities', () => {
  const sample = read(SAMPLE)
  assert.equal(sample.lines, 547)
  assert.equal(sample.records, 519)
  assert.equal(sample.legCount, 514)
  assert.deepEqual(
    sample.blocks.map(b => [b.carrier, b.timeMode, b.endLeg - b.firstLeg, b.line]),
    [
      ['XX', 'L', 513, 6],
      ['XX', 'L', 1, 530],
    ],
  )
  assert.deepEqual(
    sample.warnings.map(w => [w.kind, w.count]),
    [
      ['validity', 507],
      ['chain', 22],
      ['serial', 1],
      ['after end', 1],
    ],
  )
  assert.deepEqual(sample.warnings.find(w => w.kind === 'serial')!.examples, [
    { line: 530, text: '000516 follows 516' },
  ])
  const suffixes = new Set([...sample.legs.suffix.slice(0, 514)].map(c => String.fromCharCode(c)))
  assert.deepEqual([...suffixes].sort(), ['\0', 'A', 'B', 'Z'])
  assert.ok(sample.legs.arrivalDays.slice(0, 514).every(n => n === BLANK_VARIATION))
})

test('the same legs whatever the line ends, the padding and the chunks', () => {
  const text = SAMPLE.toString('latin1')
  const lines = text.split(/\r?\n/)
  const bare = lines.filter(line => !/^0*$/.test(line))
  const expected = columns(read(SAMPLE))
  const withoutLine = (list: ReturnType<typeof columns>) => list.filter(([name]) => name !== 'line')
  const forms: Record<string, string> = {
    'line feeds': lines.join('\n'),
    'carriage returns and line feeds': lines.join('\r\n'),
    'no line ends': lines.join(''),
    'no padding': bare.join('\n'),
    'no padding, no line ends': bare.join(''),
    'padding cut short': lines.map(line => (/^0+$/.test(line) ? line.slice(0, 77) : line)).join('\n'),
    'padding cut short, no line ends': lines.map(l => (/^0+$/.test(l) ? l.slice(0, 77) : l)).join(''),
    'an end-of-file mark': `${lines.join('\r\n')}\x1a`,
  }
  for (const [name, form] of Object.entries(forms)) {
    for (const chunk of [65_536, 1000, 199, 7]) {
      const got = read(form, chunk)
      assert.equal(got.records, 519, `${name}, chunks of ${chunk}`)
      assert.deepEqual(withoutLine(columns(got)), withoutLine(expected), `${name}, chunks of ${chunk}`)
    }
  }
  assert.equal(read(forms['no line ends']!).lines, 547)
  assert.equal(read(forms['line feeds']!.trimEnd()).lines, 547)
  assert.deepEqual(columns(read(forms['no line ends']!)), expected)
})

test('every field of a leg comes back as it was written', () => {
  const leg: LegText = {
    ...LEG,
    suffix: 'Z',
    number: 7,
    variation: 203,
    service: 'G',
    weekdays: 0b1000101,
    fortnightly: true,
    aircraftDeparture: 18 * 60 + 50,
    aircraftArrival: 5 * 60,
    arrival: 1440,
    departureDays: 0,
    arrivalDays: -1,
    classes: 'JCDYBH',
    restriction: ' K',
    disclosure: 'L',
    owner: 'BA',
  }
  const schedule = read(file(leg))
  const { legs } = schedule
  const codes = [
    'carrier',
    'origin',
    'destination',
    'departureTerminal',
    'arrivalTerminal',
    'aircraft',
    'owner',
  ] as const
  const written = { ...leg, departureTerminal: '3', carrier: 'QF' }
  for (const name of codes) assert.equal(unpacked(legs[name][0]!), written[name], name)
  for (const name of [
    'number',
    'variation',
    'sequence',
    'from',
    'to',
    'weekdays',
    'departure',
    'aircraftDeparture',
    'arrival',
    'aircraftArrival',
    'departureOffset',
    'arrivalOffset',
    'departureDays',
    'arrivalDays',
  ] as const) {
    assert.equal(legs[name][0], leg[name], name)
  }
  assert.equal(legs.fortnightly[0], 1)
  assert.equal(String.fromCharCode(legs.suffix[0]!, legs.service[0]!, legs.disclosure[0]!), 'ZGL')
  assert.equal(schedule.texts[legs.classes[0]!], 'JCDYBH')
  assert.equal(schedule.texts[legs.configuration[0]!], 'C042W028Y166')
  assert.equal(schedule.texts[legs.restriction[0]!], ' K')
  assert.deepEqual(schedule.warnings, [])
})

test('open ends, and variation 100 as 00 with overflow 1', () => {
  const schedule = read(overwrite(file({ ...LEG, variation: 100 }), '3', 0, 22, '00XXX00'))
  assert.equal(schedule.legs.to[0], OPEN_DAY)
  assert.equal(schedule.legs.variation[0], 100)
})

test('a wrong field is refused with its line and bytes', () => {
  const sound = file(LEG)
  const cases: [string, string, number, string, [number, number]][] = [
    ['an unknown record type', '3', 1, '7', [1, 1]],
    ['a time mode', '2', 2, 'X', [2, 2]],
    ['a validity', '2', 15, '31FEB27', [15, 21]],
    ['another airline than the block', '3', 3, 'BA ', [3, 5]],
    ['a flight number of letters', '3', 6, ' 1X9', [6, 9]],
    ['flight number 0', '3', 6, '0000', [6, 9]],
    ['variation 00', '3', 10, '00', [10, 11]],
    ['leg 00', '3', 12, '00', [12, 13]],
    ['30 February', '3', 15, '30FEB27', [15, 21]],
    ['a month without name', '3', 22, '28XYZ27', [22, 28]],
    ['a period backwards', '3', 15, '29MAR27', [15, 28]],
    ['a day in the wrong place', '3', 29, '2', [29, 35]],
    ['no day at all', '3', 29, '       ', [29, 35]],
    ['a frequency', '3', 36, '3', [36, 36]],
    ['a station of two letters', '3', 37, 'PE ', [37, 39]],
    ['departure at 2400', '3', 40, '2400', [40, 43]],
    ['minute 60', '3', 44, '1860', [44, 47]],
    ['an offset without sign', '3', 48, ' 0800', [48, 52]],
    ['arrival at 2401', '3', 58, '2401', [58, 61]],
    ['a blank time', '3', 62, '    ', [62, 65]],
    ['an offset of 16 hours', '3', 66, '+1600', [66, 70]],
    ['a date variation', '3', 194, '9', [194, 194]],
    ['a trailer of another airline', '5', 3, 'BA ', [3, 5]],
  ]
  for (const [name, type, position, value, bytes] of cases) {
    const faults = faultsOf(overwrite(sound, type, 0, position, value))
    const line = type === '2' ? 6 : type === '3' ? 11 : 16
    assert.ok(
      faults.some(f => f.line === line && f.bytes[0] === bytes[0] && f.bytes[1] === bytes[1]),
      `${name}: ${JSON.stringify(faults)}`,
    )
  }
})

test('a wrong structure is refused', () => {
  const sound = file(LEG, { ...LEG, sequence: 2, origin: 'LHR', destination: 'PER' })
  const lines = sound.split('\n')
  const drop = (type: string, nth = 0) => {
    const index = lines.flatMap((line, i) => (line.startsWith(type) ? [i] : []))[nth]!
    return lines.toSpliced(index, 1).join('\n')
  }
  const reason = (text: string) => faultsOf(text)[0]?.reason ?? 'accepted'
  assert.equal(reason(sound), 'accepted')
  assert.match(reason(drop('1')), /accepted/)
  assert.match(reason(drop('2')), /outside of a carrier block/)
  assert.match(reason(drop('5')), /no trailer record/)
  assert.match(reason(drop('3')), /does not follow leg 1/)
  assert.match(reason(file(LEG, { ...LEG, sequence: 3 })), /does not follow leg 2/)
  assert.match(reason(file(LEG, LEG)), /filed before in this block/)
  assert.equal(reason(file(LEG, { ...LEG, suffix: 'A' })), 'accepted')
  assert.match(reason(lines.toSpliced(10, 0, lines[0]!).join('\n')), /header record must be the first/)
  assert.match(reason(lines.with(10, lines[10]!.slice(0, 199)).join('\n')), /199 bytes instead of 200/)
  assert.match(reason(lines.with(10, `${lines[10]} `).join('\n')), /201 bytes instead of 200/)
  assert.match(reason(''), /no carrier record/)
  assert.match(reason('hello\n'), /5 bytes instead of 200/)
  assert.equal(reason(overwrite(sound, '5', 0, 188, '000001')), 'accepted')
})

test('at most twenty faults are listed, and the message names the first', () => {
  const bad = Array.from({ length: 30 }, (_, i) => ({ ...LEG, number: i + 1 }))
  let text = file(...bad)
  for (let i = 0; i < 30; i++) text = overwrite(text, '3', i, 40, '9999')
  assert.equal(faultsOf(text).length, 20)
  assert.throws(() => read(text), { message: /^line 11, bytes 40–43: no departure time: "9999"$/ })
})

test('several carriers in one file, and each of them alone', () => {
  const writer = ssimWriter()
  for (const carrier of ['BA', 'QF', '3K']) {
    writer.carrier({ ...CARRIER, carrier })
    writer.leg({ ...LEG, carrier })
    writer.data({ segment: 'AB', element: 127, board: 'PER', off: 'LHR', text: `/${carrier} EXPRESS` })
    writer.leg({ ...LEG, carrier, number: 10 })
  }
  for (const text of [writer.end(), writer.end().replaceAll('\n', '')]) {
    const bytes = Buffer.from(text, 'latin1')
    const all = read(bytes)
    assert.deepEqual(all.warnings, [])
    assert.deepEqual(
      all.blocks.map(b => [b.carrier, b.firstLeg, b.endLeg]),
      [
        ['BA', 0, 2],
        ['QF', 2, 4],
        ['3K', 4, 6],
      ],
    )
    const alone = read(carrierText(bytes, all, 'QF'))
    assert.deepEqual(alone.warnings, [])
    assert.deepEqual(
      alone.blocks.map(b => b.carrier),
      ['QF'],
    )
    assert.deepEqual([...alone.legs.number.slice(0, alone.legCount)], [9, 10])
    assert.deepEqual(alone.elements, [{ leg: 0, legs: 1, element: 127, text: '/QF EXPRESS' }])
  }
})

test('both blocks of one carrier are read again alone', () => {
  const sample = read(SAMPLE)
  const again = read(carrierText(SAMPLE, sample, 'XX'))
  assert.equal(again.legCount, 514)
  assert.equal(again.blocks.length, 2)
})

test('data elements belong to their segment; the unneeded are passed over', () => {
  const writer = ssimWriter()
  writer.carrier(CARRIER)
  writer.leg({ ...LEG, variation: 101 })
  writer.data({ segment: 'AC', element: 170, board: 'PER', off: 'MAN', text: 'K' })
  writer.data({ segment: 'AB', element: 501, board: 'PER', off: 'LHR', text: '9' })
  writer.leg({ ...LEG, variation: 101, sequence: 2, origin: 'LHR', destination: 'MAN' })
  writer.data({ segment: 'BC', element: 50, board: 'LHR', off: 'MAN', text: 'BA 1390' })
  const text = writer.end()
  assert.deepEqual(read(text).elements, [
    { leg: 0, legs: 2, element: 170, text: 'K' },
    { leg: 1, legs: 1, element: 50, text: 'BA 1390' },
  ])
  assert.match(faultsOf(overwrite(text, '4', 0, 6, '  10'))[0]!.reason, /does not belong/)
  assert.match(faultsOf(overwrite(text, '4', 0, 29, 'BA'))[0]!.reason, /no board and off point/)
  assert.match(faultsOf(overwrite(text, '4', 0, 31, 'X70'))[0]!.reason, /no data element identifier/)
})

test('serials go on with 2 after 999999', () => {
  let text = file(LEG)
  text = overwrite(
    overwrite(overwrite(text, '1', 0, 195, '999998'), '2', 0, 195, '999999'),
    '3',
    0,
    195,
    '000002',
  )
  text = overwrite(overwrite(text, '5', 0, 195, '000003'), '5', 0, 188, '000002')
  assert.deepEqual(read(text).warnings, [])
  assert.equal(count(read(overwrite(text, '3', 0, 195, '000005')), 'serial'), 2)
})

test('a leg after midnight may lie a day outside the validity', () => {
  const first = { ...LEG, from: day('2027-12-31'), to: day('2027-12-31'), weekdays: 1 << 4 }
  const second = {
    ...first,
    sequence: 2,
    origin: 'LHR',
    destination: 'MAN',
    from: first.from + 1,
    to: first.to + 1,
    weekdays: 1 << 5,
  }
  assert.equal(count(read(file(first, { ...second, departureDays: 1, arrivalDays: 1 })), 'validity'), 0)
  assert.equal(count(read(file({ ...first, to: first.to + 1 })), 'validity'), 1)
})
