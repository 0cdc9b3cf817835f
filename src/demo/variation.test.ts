import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dateOf, dayNumber } from '../travel/time.ts'
import { clocks, laterWeekdays, type PlannedLeg, variations } from './variation.ts'

const DAILY = 0b1111111

function year(legs: PlannedLeg[], fromDate: string, toDate: string, weekdays = DAILY) {
  const [from, to] = [dayNumber(fromDate)!, dayNumber(toDate)!]
  return variations(legs, from, to, weekdays, clocks(from, to))
}

const leg = (
  originZone: string,
  destinationZone: string,
  departure: number,
  blockMinutes: number,
): PlannedLeg => ({
  originZone,
  destinationZone,
  departure,
  blockMinutes,
})

test('a year is cut where either end changes its clock, and the arrival moves', () => {
  const runs = year([leg('Europe/London', 'America/New_York', 600, 480)], '2026-10-01', '2027-04-10')
  assert.deepEqual(
    runs.map(run => [dateOf(run.from), dateOf(run.to), run.legs[0]!.arrival]),
    [
      ['2026-10-01', '2026-10-24', 780],
      ['2026-10-25', '2026-10-31', 840],
      ['2026-11-01', '2027-03-13', 780],
      ['2027-03-14', '2027-03-27', 840],
      ['2027-03-28', '2027-04-10', 780],
    ],
  )
})

test('a change during the flight counts at its arrival only', () => {
  const runs = year([leg('Asia/Singapore', 'Europe/London', 1430, 840)], '2026-10-22', '2026-10-27')
  assert.deepEqual(
    runs.map(run => [dateOf(run.from), dateOf(run.to), run.legs[0]!.arrivalOffset]),
    [
      ['2026-10-22', '2026-10-23', 60],
      ['2026-10-24', '2026-10-27', 0],
    ],
  )
})

test('a date whose departure the clocks jump over is left out; a time that comes twice is the first', () => {
  const departures = (date: string, minute: number) =>
    year([leg('Europe/Paris', 'Africa/Algiers', minute, 120)], date, date).map(
      run => run.legs[0]!.departureOffset,
    )
  assert.deepEqual(departures('2027-03-28', 150), [])
  assert.deepEqual(departures('2027-03-28', 180), [120])
  assert.deepEqual(departures('2026-10-25', 150), [120])
  assert.deepEqual(departures('2026-10-25', 180), [60])
})

test('midnight belongs to the day that ends, and the date line may turn the day back', () => {
  const [midnight] = year([leg('Asia/Dubai', 'Asia/Dubai', 1380, 60)], '2026-11-21', '2026-11-21')
  assert.deepEqual([midnight!.legs[0]!.arrival, midnight!.legs[0]!.arrivalDays], [1440, 0])
  const [back] = year([leg('Pacific/Auckland', 'Pacific/Honolulu', 585, 525)], '2026-11-21', '2026-11-21')
  assert.deepEqual([back!.legs[0]!.arrival, back!.legs[0]!.arrivalDays], [1170, -1])
})

test('a second leg leaves on the first day on which the aircraft is there', () => {
  const runs = year(
    [leg('Europe/London', 'Asia/Singapore', 1260, 770), leg('Asia/Singapore', 'Australia/Sydney', 1180, 480)],
    '2026-11-21',
    '2026-11-21',
  )
  assert.deepEqual(
    runs[0]!.legs.map(times => [times.departureDays, times.arrivalDays]),
    [
      [0, 1],
      [1, 2],
    ],
  )
})

test('weekdays are those that really operate, and move with the date', () => {
  const [run, ...more] = year(
    [leg('Asia/Dubai', 'Asia/Dubai', 600, 60)],
    '2026-11-21',
    '2026-12-10',
    0b0010101,
  )
  assert.equal(more.length, 0)
  assert.deepEqual(
    [dateOf(run!.from), dateOf(run!.to), run!.weekdays],
    ['2026-11-23', '2026-12-09', 0b0010101],
  )
  assert.equal(laterWeekdays(0b1000001, 1), 0b0000011)
  assert.equal(laterWeekdays(0b0000001, -1), 0b1000000)
  assert.equal(laterWeekdays(DAILY, 2), DAILY)
})
