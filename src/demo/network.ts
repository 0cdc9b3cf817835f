/**
 * The demo network: the invented carriers' plans (routes.ts) become a year of schedule in SSIM chapter 7, the same file an operator would
 * import, so that a fresh installation has something to sell and every rule of the import is walked through.
 */
import { type LegText, ssimWriter } from '../timetable/ssim-writer.ts'
import { blockMinutes } from './block-time.ts'
import { bookingClasses, configuration, terminal } from './fleet.ts'
import { demoAirport, type PlannedFlight, plannedFlights } from './plan.ts'
import { CODESHARES, DEMO_CARRIERS } from './routes.ts'
import { clocks, laterWeekdays, type PlannedLeg, variations } from './variation.ts'

/** Offers reach 361 days ahead, a return some days further, and a day more covers the zones east of here. */
const DAYS_AHEAD = 370

/** A flight under one of the numbers it is sold by, its operator's or a codeshare partner's. */
type Sold = { carrier: string; number: number; flight: PlannedFlight }

/**
 * The demo schedule as SSIM text, valid from the day before `today` (a day number of travel/time) until nine days after the last day that
 * can be searched. The same day gives the same bytes.
 */
export function demoSchedule(today: number): Uint8Array {
  const from = today - 1
  const to = today + DAYS_AHEAD
  const clockOf = clocks(from, to)
  const carriers = DEMO_CARRIERS.map(carrier => ({ ...carrier, flights: plannedFlights(carrier) }))
  const shared = carriers.flatMap(({ flights }) => flights.flatMap(sharedNumbers))
  const writer = ssimWriter()
  for (const { code, name, flights } of carriers) {
    writer.carrier({ carrier: code, from, to, title: name.toUpperCase() })
    const own = flights.map(flight => ({ carrier: code, number: flight.number, flight }))
    const all = [...own, ...shared.filter(other => other.carrier === code)]
    for (const sold of all.sort((a, b) => a.number - b.number)) writeFlight(sold)
  }
  return new TextEncoder().encode(writer.end())

  function writeFlight(sold: Sold): void {
    const { flight } = sold
    const airports = flight.airports.map(demoAirport)
    const legs = flight.departures.map((departure, i): PlannedLeg => {
      const origin = airports[i]!
      const destination = airports[i + 1]!
      return {
        originZone: origin.zone,
        destinationZone: destination.zone,
        departure,
        blockMinutes: blockMinutes(origin, destination),
      }
    })
    const others = shared.filter(other => other.flight === flight)
    variations(legs, from, to, flight.weekdays, clockOf).forEach((variation, v) => {
      variation.legs.forEach((times, i) => {
        const [origin, destination] = [airports[i]!.code, airports[i + 1]!.code]
        const seats = configuration(flight.carrier, flight.aircraft)
        const leg: LegText = {
          carrier: sold.carrier,
          number: sold.number,
          variation: v + 1,
          sequence: i + 1,
          from: variation.from + times.departureDays,
          to: variation.to + times.departureDays,
          weekdays: laterWeekdays(variation.weekdays, times.departureDays),
          origin,
          departure: legs[i]!.departure,
          departureOffset: times.departureOffset,
          departureTerminal: terminal(flight.carrier, origin),
          destination,
          arrival: times.arrival,
          arrivalOffset: times.arrivalOffset,
          arrivalTerminal: terminal(flight.carrier, destination),
          aircraft: flight.aircraft,
          classes: bookingClasses(seats),
          configuration: seats,
          departureDays: times.departureDays,
          arrivalDays: times.arrivalDays,
        }
        const segment = 'ABCDEFGHIJKL'.slice(i, i + 2)
        const names = { segment, board: origin, off: destination }
        if (sold.carrier !== flight.carrier) {
          writer.leg({ ...leg, disclosure: 'L', owner: flight.carrier })
          writer.data({ ...names, element: 50, text: designator(flight.carrier, flight.number) })
        } else {
          writer.leg(leg)
          const text = others.map(other => designator(other.carrier, other.number)).join(' /')
          if (text !== '') writer.data({ ...names, element: 10, text })
        }
      })
    })
  }
}

function sharedNumbers(flight: PlannedFlight): Sold[] {
  return CODESHARES.filter(
    c => c.operating === flight.carrier && flight.number >= c.from && flight.number <= c.to,
  ).map(c => ({ carrier: c.marketing, number: c.first + flight.number - c.from, flight }))
}

/** A flight designator in its fixed width: airline left, number right. */
function designator(carrier: string, number: number): string {
  return carrier.padEnd(3) + String(number).padStart(3, '0').padStart(4)
}
