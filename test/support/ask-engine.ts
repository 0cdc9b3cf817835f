/** The engine behind the oracle's plain words: the same world, the same question, an answer that compares. */
import { search } from '../../src/timetable/connect.ts'
import { buildMarket } from '../../src/timetable/market.ts'
import type { Stall } from '../../src/timetable/quote.ts'
import type { Rules } from '../../src/timetable/rules.ts'
import { createSold, growSold, type Mode, setClosed, setSold } from '../../src/timetable/sold.ts'
import { buildImage } from './network.ts'
import { type PlainCabin, type PlainOption, type PlainQuery, type PlainWorld, segmentText } from './oracle.ts'

export type Engine = Stall & { rules: Rules }

/** Builds image, market and seats of a plain world. */
export function engineOf(world: PlainWorld): Engine {
  const timetable = buildImage(world.network)
  const fares = world.fares.map(fare => {
    const [units = '', decimals = ''] = fare.perKm.split('.')
    return { ...fare, perKm: { digits: BigInt(units + decimals), scale: decimals.length } }
  })
  const market = buildMarket(timetable, fares, ({ minor, currency }) => {
    const parts = world.rates[currency]!.parts
    return parts === undefined ? undefined : minor * parts
  })
  const legs = new Map(Array.from(timetable.legName, (name, leg) => [timetable.text(name), leg]))
  // Small on purpose, so that the table grows on the way.
  let sold = createSold(4)
  for (const [key, classes] of world.sold) {
    const [mode, leg, day, cabin] = key.split('|') as [Mode, string, string, PlainCabin]
    const at = { mode, leg: legs.get(leg)!, day: Number(day), cabin }
    for (const [bookingClass, seats] of classes) {
      const write = () =>
        bookingClass === 'closed' ? setClosed(sold, at, true) : setSold(sold, at, bookingClass, seats)
      while (!write()) sold = growSold(sold)
    }
  }
  const { minimum, longest, connections, offers, exceptions } = world.rules
  const carrierOf = (flight: number) => timetable.text(timetable.carrier[flight]!)
  const rules: Rules = {
    minimumConnection: minimum,
    longestConnection: longest,
    mostConnections: connections,
    offers,
    exceptions: {
      least(airport) {
        const code = timetable.text(timetable.airportCode[airport]!)
        const here = exceptions.filter(e => e.airport === code)
        return here.length === 0 ? undefined : Math.min(...here.map(e => e.minutes))
      },
      minutes(arriving, departing) {
        const route = timetable.flightStart.findLastIndex(start => start <= arriving)
        const code = timetable.text(timetable.airportCode[timetable.routeTo[route]!]!)
        return exceptions.find(
          e =>
            e.airport === code &&
            (e.arriving === '*' || e.arriving === carrierOf(arriving)) &&
            (e.departing === '*' || e.departing === carrierOf(departing)),
        )?.minutes
      },
    },
  }
  if (exceptions.length === 0) delete rules.exceptions
  return { timetable, market, sold, rules }
}

/** The engine's answer in the oracle's words. */
export function ask(engine: Engine, query: PlainQuery): PlainOption[] {
  const { timetable, market } = engine
  const index = (code: string) => timetable.airportIndex.get(code)!
  const options = search(engine, {
    ...query,
    origins: query.origins.map(index),
    destinations: query.destinations.map(index),
  })
  const code = (airport: number) => timetable.text(timetable.airportCode[airport]!)
  return options.map(({ journeys, referencePrice, minutes, score, seatsLeft }) => ({
    slices: journeys.map(journey =>
      journey.flights
        .map((flight, i) => {
          const suffix = timetable.suffix[flight]!
          const named = {
            carrier: timetable.text(timetable.carrier[flight]!),
            number: timetable.number[flight]!,
            suffix: suffix === 0 ? '' : String.fromCharCode(suffix),
            from: code(timetable.routeFrom[journey.routes[i]!]!),
            to: code(timetable.routeTo[journey.routes[i]!]!),
          }
          const departs = journey.days[i]! * 1440 + timetable.departureMinute[flight]!
          return segmentText(named, departs, String.fromCharCode(market.classLetter[journey.classes[i]!]!))
        })
        .join(' '),
    ),
    referencePrice,
    minutes,
    score,
    seatsLeft,
  }))
}
