/**
 * The compiler against a plain reading of the rules: every itinerary expanded date by date with Temporal, no periods, no masks, no cuts. It
 * shares nothing with the compiler but the airports and the distance.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { airport, airports, greatCircleKm } from '../travel/airport.ts'
import { compile } from './compile.ts'
import { openImage, operates } from './image.ts'
import { ssimReader } from './ssim.ts'
import { type LegText, ssimWriter } from './ssim-writer.ts'

const EPOCH = Temporal.PlainDate.from('2000-01-01')
const dateOf = (day: number) => EPOCH.add({ days: day })
const dayOf = (date: string) => EPOCH.until(date).days
const zoneOf = (station: string) => airport(station)!.zone
const minutes = (instant: Temporal.Instant) => instant.epochMilliseconds / 60_000
const offsetOf = (moment: Temporal.ZonedDateTime) => moment.offsetNanoseconds / 60e9

/** Northern, southern, half-hour (LDH), midnight (CAI, SCL) and no clock changes, and both sides of the date line. */
const STATIONS = ['LHR', 'JFK', 'SYD', 'LDH', 'AKL', 'HNL', 'APW', 'CAI', 'SCL', 'SIN']
/** Nights on which clocks change there, with the local minute at which the hour begins that is skipped or comes twice; and a quiet day. */
const NIGHTS: readonly [station: string, date: string, minute: number][] = [
  ['JFK', '2027-03-14', 120],
  ['LHR', '2027-03-28', 60],
  ['SYD', '2027-04-04', 120],
  ['LDH', '2027-04-04', 90],
  ['SCL', '2027-04-03', 1380],
  ['CAI', '2027-04-30', 0],
  ['SIN', '2027-07-01', 60],
  ['SCL', '2027-09-05', 0],
  ['AKL', '2027-09-26', 120],
  ['LDH', '2027-10-03', 120],
  ['CAI', '2027-10-28', 1380],
  ['LHR', '2027-10-31', 60],
  ['JFK', '2027-11-07', 60],
]

type Case = {
  utc: boolean
  night: (typeof NIGHTS)[number]
  /** Whether it leaves from the station of that night, about when its clock changes. */
  there: boolean
  daysBefore: number
  length: number
  weekdays: number
  fortnightly: boolean
  departure: number
  blank: boolean
  /** Added to the filed offset of the last arrival: now and then nobody's. */
  wrong: number
  stations: string[]
  slack: number[]
  ground: number[]
  early: number
}

const cases: fc.Arbitrary<Case> = fc.record({
  utc: fc.boolean(),
  night: fc.constantFrom(...NIGHTS),
  there: fc.boolean(),
  daysBefore: fc.oneof(fc.constant(0), fc.nat(9)),
  length: fc.nat(20),
  weekdays: fc.integer({ min: 1, max: 127 }),
  fortnightly: fc.integer({ min: 0, max: 4 }).map(n => n === 0),
  departure: fc.nat(1439),
  blank: fc.boolean(),
  wrong: fc.constantFrom(0, 0, 0, 0, 45),
  stations: fc.uniqueArray(fc.constantFrom(...STATIONS), { minLength: 2, maxLength: 4 }),
  slack: fc.array(fc.nat(240), { minLength: 4, maxLength: 4 }),
  ground: fc.array(fc.integer({ min: 125, max: 600 }), { minLength: 4, maxLength: 4 }),
  early: fc.constantFrom(0, 0, 5, 40),
})

const mod = (n: number, m: number) => ((n % m) + m) % m
const turn = (mask: number, by: number) => {
  const k = mod(by, 7)
  return ((mask << k) | (mask >> (7 - k))) & 127
}
const kmBetween = (a: string, b: string) => {
  const [from, to] = [airport(a)!, airport(b)!]
  return greatCircleKm(from.latitude, from.longitude, to.latitude, to.longitude)
}

/** Legs of an itinerary with the offsets that hold at its first date, as a carrier would file them. */
function file(c: Case, number: number): LegText[] {
  const [station, date, minute] = c.night
  const firstDay = dayOf(date) - c.daysBefore
  const stations = c.there ? [station, ...c.stations.filter(other => other !== station)] : c.stations
  const departure = c.there ? mod(minute - 15 + (c.departure % 90), 1440) : c.departure
  const offsetAt = (station: string, minute: number) =>
    offsetOf(dateOf(firstDay).toZonedDateTime('UTC').add({ minutes: minute }).withTimeZone(zoneOf(station)))
  const legs: LegText[] = []
  const base = c.utc ? departure : departure - offsetAt(stations[0]!, departure)
  let departs = base
  for (let i = 0; i + 1 < stations.length; i++) {
    const [origin, destination] = [stations[i]!, stations[i + 1]!]
    const arrives = departs + 60 + Math.round((kmBetween(origin, destination) / 850) * 60) + c.slack[i]!
    const last = i + 2 === stations.length
    const departureOffset = offsetAt(origin, departs)
    const arrivalOffset = offsetAt(destination, arrives) + (last ? c.wrong : 0)
    const clock = (utc: number, offset: number) => (c.utc ? utc : utc + offset)
    const departureClock = clock(departs, departureOffset)
    const arrivalClock = clock(arrives, arrivalOffset)
    const departureDays = Math.floor(departureClock / 1440)
    // Midnight belongs to the day that ends.
    const arrivalDays = Math.ceil(arrivalClock / 1440) - 1
    legs.push({
      carrier: 'ZZ',
      number,
      variation: 1,
      sequence: i + 1,
      from: firstDay + departureDays,
      to: firstDay + departureDays + c.length,
      weekdays: turn(c.weekdays, departureDays),
      fortnightly: c.fortnightly,
      origin,
      departure: mod(departureClock - c.early, 1440),
      aircraftDeparture: mod(departureClock, 1440),
      departureOffset,
      destination,
      aircraftArrival: arrivalClock - arrivalDays * 1440,
      arrival: arrivalClock - arrivalDays * 1440,
      arrivalOffset,
      aircraft: '333',
      configuration: 'Y300',
      ...(c.blank ? {} : { departureDays, arrivalDays }),
    })
    departs = arrives + c.ground[i]!
  }
  return legs
}

/** Where a time of day on a date is in time: on the zone's clock, or at a fixed offset where the filed one is never the zone's. */
function moment(
  utc: boolean,
  date: Temporal.PlainDate,
  minute: number,
  zone: string,
  filed: number,
  trust: boolean,
) {
  const local = date.toPlainDateTime().add({ minutes: minute })
  if (utc) {
    const instant = local.toZonedDateTime('UTC').toInstant()
    return { minute: minutes(instant), offset: trust ? offsetOf(instant.toZonedDateTimeISO(zone)) : filed }
  }
  if (!trust) return { minute: minutes(local.toZonedDateTime('UTC').toInstant()) - filed, offset: filed }
  const both = (['earlier', 'later'] as const).map(disambiguation =>
    local.toZonedDateTime(zone, { disambiguation }),
  )
  const twice = both.every(m => m.toPlainDateTime().equals(local))
  const chosen =
    (twice && both.find(m => offsetOf(m) === filed)) ||
    local.toZonedDateTime(zone, { disambiguation: 'compatible' })
  return { minute: minutes(chosen.toInstant()), offset: offsetOf(chosen) }
}

/** Every departure of every segment, one date after the other. */
function expand(utc: boolean, legs: readonly LegText[]): string[] {
  const relative: { departureDay: number; arrivalDay: number }[] = []
  for (const leg of legs) {
    const previous = relative.at(-1)
    const before = legs[relative.length - 1]
    const asUtc = (day: number, minute: number, offset: number) => day * 1440 + minute - (utc ? 0 : offset)
    let departureDay = leg.departureDays ?? 0
    if (leg.departureDays === undefined && before && previous) {
      departureDay = -9
      const arrived = asUtc(previous.arrivalDay, before.aircraftArrival!, before.arrivalOffset)
      while (asUtc(departureDay, leg.aircraftDeparture!, leg.departureOffset) < arrived) departureDay++
    }
    let arrivalDay = leg.arrivalDays ?? -9
    const departed = asUtc(departureDay, leg.aircraftDeparture!, leg.departureOffset)
    while (
      leg.arrivalDays === undefined &&
      asUtc(arrivalDay, leg.aircraftArrival!, leg.arrivalOffset) <= departed
    )
      arrivalDay++
    relative.push({ departureDay, arrivalDay })
  }
  const passenger = (aircraft: number, shown: number) =>
    [shown - 1440, shown, shown + 1440].reduce((a, b) =>
      Math.abs(b - aircraft) < Math.abs(a - aircraft) ? b : a,
    )
  const departs = (i: number, day: number, trust: boolean, which: 'passenger' | 'aircraft') => {
    const leg = legs[i]!
    const minute =
      which === 'aircraft' ? leg.aircraftDeparture! : passenger(leg.aircraftDeparture!, leg.departure)
    return moment(utc, dateOf(day), minute, zoneOf(leg.origin), leg.departureOffset, trust)
  }
  const arrives = (i: number, day: number, trust: boolean) => {
    const leg = legs[i]!
    const later = relative[i]!.arrivalDay - relative[i]!.departureDay
    return moment(
      utc,
      dateOf(day + later),
      leg.aircraftArrival!,
      zoneOf(leg.destination),
      leg.arrivalOffset,
      trust,
    )
  }
  const daysOf = (leg: LegText) => Array.from({ length: leg.to - leg.from + 1 }, (_, i) => leg.from + i)
  const trustDeparture = legs.map((leg, i) =>
    daysOf(leg).some(day => departs(i, day, true, 'passenger').offset === leg.departureOffset),
  )
  const trustArrival = legs.map((leg, i) =>
    daysOf(leg).some(day => arrives(i, day, true).offset === leg.arrivalOffset),
  )
  const flies = (leg: LegText, day: number) =>
    day >= leg.from &&
    day <= leg.to &&
    ((leg.weekdays >> (dateOf(day).dayOfWeek - 1)) & 1) === 1 &&
    (!leg.fortnightly || Math.floor((day - leg.from) / 7) % 2 === 0)
  const out: string[] = []
  for (let board = 0; board < legs.length; board++) {
    for (let off = board; off < legs.length; off++) {
      const flown = legs.slice(board, off + 1)
      for (const day of daysOf(legs[board]!)) {
        const dayOfLeg = (i: number) => day + relative[i]!.departureDay - relative[board]!.departureDay
        if (!flown.every((leg, k) => flies(leg, dayOfLeg(board + k)))) continue
        const departure = departs(board, day, trustDeparture[board]!, 'passenger')
        const arrival = arrives(off, dayOfLeg(off), trustArrival[off]!)
        const elapsed = arrival.minute - departure.minute
        const km = kmBetween(legs[board]!.origin, legs[off]!.destination)
        if (elapsed <= 0 || (board === off && km > 300 && (km / elapsed) * 60 > 1100)) continue
        const names = flown.map((leg, k) => {
          const own = departs(board + k, dayOfLeg(board + k), trustDeparture[board + k]!, 'aircraft')
          const local = utc
            ? Math.floor(
                (own.minute + own.offset - dateOf(0).toZonedDateTime('UTC').epochMilliseconds / 60_000) /
                  1440,
              )
            : dayOfLeg(board + k)
          return `ZZ${leg.number}/${leg.origin} ${dateOf(local)}`
        })
        out.push(
          line(legs[board]!.number, legs[board]!.origin, departure, legs[off]!.destination, arrival, names),
        )
      }
    }
  }
  return out
}

type Moment = { minute: number; offset: number }

function line(
  number: number,
  origin: string,
  departure: Moment,
  destination: string,
  arrival: Moment,
  legs: readonly string[],
): string {
  const local = (m: Moment) =>
    new Date((m.minute + m.offset) * 60_000).toISOString().slice(0, 16) + (m.offset < 0 ? '' : '+') + m.offset
  return `ZZ${number} ${origin} ${local(departure)} ${destination} ${local(arrival)} ${legs.join(' ')}`
}

function compiled(utc: boolean, itineraries: readonly LegText[][]): string[] {
  const writer = ssimWriter()
  writer.carrier({ carrier: 'ZZ', timeMode: utc ? 'U' : 'L', from: dayOf('2027-01-01'), to: undefined })
  for (const leg of itineraries.flat()) writer.leg(leg)
  const reader = ssimReader()
  reader.push(Buffer.from(writer.end(), 'latin1'))
  const t = openImage(compile([reader.end()], airports()).buffer)
  const out: string[] = []
  const epoch = Date.UTC(2000, 0, 1) / 60_000
  const code = (a: number) => t.text(t.airportCode[a]!)
  for (let r = 0; r < t.counts.routes; r++) {
    for (let f = t.flightStart[r]!; f < t.flightStart[r + 1]!; f++) {
      for (let day = t.firstDay[f]!; day < t.endDay[f]!; day++) {
        if (!operates(t, f, day)) continue
        const departure = {
          minute: epoch + day * 1440 + t.departureMinute[f]!,
          offset: t.departureOffset[f]!,
        }
        const arrival = { minute: departure.minute + t.elapsed[f]!, offset: t.arrivalOffset[f]! }
        const localDay = Math.floor((departure.minute - epoch + departure.offset) / 1440)
        assert.equal(day - t.dayShift[f]!, localDay)
        const legs: string[] = []
        for (let i = t.legStart[f]!; i < t.legStart[f + 1]!; i++) {
          legs.push(`${t.text(t.legName[t.flightLeg[i]!]!)} ${dateOf(day + t.flightLegShift[i]!)}`)
        }
        out.push(line(t.number[f]!, code(t.routeFrom[r]!), departure, code(t.routeTo[r]!), arrival, legs))
      }
    }
  }
  return out
}

test('compiled flights are those of a date by date expansion', () => {
  let departures = 0
  let moved = 0
  fc.assert(
    fc.property(fc.array(cases, { minLength: 1, maxLength: 4 }), fc.boolean(), (list, utc) => {
      const itineraries = list.map((c, i) => file({ ...c, utc }, i + 1)).filter(legs => legs.every(plausible))
      const expected = itineraries.flatMap(legs => expand(utc, legs)).sort()
      assert.deepEqual(compiled(utc, itineraries).sort(), expected)
      departures += expected.length
      moved += itineraries.filter(legs => legs.length > 1).length
    }),
    { numRuns: 400, seed: 20271031 },
  )
  assert.ok(
    departures > 5000 && moved > 200,
    `${departures} departures, ${moved} itineraries of several legs`,
  )
})

/** Whether a leg lasts so long that a blank date variation would mean another day. */
function plausible(leg: LegText): boolean {
  return kmBetween(leg.origin, leg.destination) < 12_500
}
