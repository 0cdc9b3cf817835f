import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFares } from '../supplier/inventory/fares.ts'
import { fareLadders, farePrice } from '../timetable/fares.ts'
import { airport, greatCircleKm } from '../travel/airport.ts'
import { CABINS, type Cabin } from '../travel/itinerary.ts'
import { demoFares } from './fares.ts'
import { CLASSES } from './fleet.ts'
import { DEMO_CARRIERS } from './routes.ts'

const rows = parseFares(demoFares())
const ladder = fareLadders(rows)

function prices(carrier: string, origin: string, destination: string, cabin: Cabin): number[] {
  const [a, b] = [airport(origin)!, airport(destination)!]
  const km = greatCircleKm(a.latitude, a.longitude, b.latitude, b.longitude)
  return ladder(carrier, origin, destination, cabin).map(row => farePrice(row, km) / 100)
}

test('every carrier sells every cabin, with classes that its schedule files', () => {
  for (const { code } of DEMO_CARRIERS) {
    for (const cabin of CABINS) {
      const classes = ladder(code, 'LHR', 'SIN', cabin).map(row => row.bookingClass)
      assert.ok(classes.length > 1, `${code} ${cabin}`)
      const filed = CLASSES[cabin === 'first' ? 'F' : cabin === 'business' ? 'J' : 'Y']
      for (const letter of classes) assert.ok(filed.includes(letter), `${code} ${cabin} ${letter}`)
    }
  }
})

test('no two classes of a cabin cost the same, and the cheaper has fewer seats', () => {
  for (const cabin of CABINS) {
    const rungs = ladder('QA', 'LHR', 'JFK', cabin)
    const costs = prices('QA', 'LHR', 'JFK', cabin)
    for (let i = 1; i < rungs.length; i++) {
      assert.ok(costs[i]! < costs[i - 1]!)
      assert.ok(rungs[i]!.seats < rungs[i - 1]!.seats)
    }
  }
})

test('prices are what a traveller would believe', () => {
  const [economy, business, first] = CABINS.map(cabin => Math.min(...prices('QA', 'LHR', 'JFK', cabin)))
  assert.ok(economy! > 300 && economy! < 340, `${economy}`)
  assert.ok(business! > 4 * economy! && business! < 6 * economy!, `${business}`)
  assert.ok(first! > 2 * business!, `${first}`)
  assert.ok(Math.min(...prices('QA', 'LHR', 'CDG', 'economy')) < 80)
})

test('one carrier sells in euro, the others in dollars, and special sets win over the general one', () => {
  const currencies = new Set(
    DEMO_CARRIERS.map(({ code }) => `${code} ${ladder(code, 'CPH', 'LHR', 'economy')[0]!.currency}`),
  )
  assert.deepEqual(
    [...currencies].filter(text => text.endsWith('EUR')),
    ['N1 EUR'],
  )
  assert.equal(currencies.size, DEMO_CARRIERS.length)
  assert.ok(prices('E1', 'JFK', 'LHR', 'economy')[0]! < prices('QA', 'JFK', 'LHR', 'economy')[0]!)
  assert.ok(prices('M1', 'APW', 'AKL', 'economy')[0]! > prices('M1', 'SYD', 'AKL', 'economy')[0]!)
})
