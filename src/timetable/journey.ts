/** What a search finds, and the one order in which it is listed. */
import { MINUTES_A_DAY } from '../travel/time.ts'
import type { Timetable } from './image.ts'

/** One direction of travel with its price: flights of the timetable on days, each with the booking class taken. */
export type Journey = {
  readonly flights: readonly number[]
  /** Route of each flight. */
  readonly routes: readonly number[]
  /** UTC departure day of each flight. */
  readonly days: readonly number[]
  /** Booking class of each flight, an index into the market's classes. */
  readonly classes: readonly number[]
  /** For one person, in parts of the reference currency. */
  readonly referencePrice: number
  /** Elapsed from first departure to last arrival. */
  readonly minutes: number
  /** Landings in between. */
  readonly stops: number
  readonly score: number
  /** First departure, UTC, see travel/time. */
  readonly departure: number
}

/** What is offered: one journey, or one out and one back. Figures are sums over the journeys. */
export type Option = {
  readonly journeys: readonly Journey[]
  readonly referencePrice: number
  readonly minutes: number
  readonly score: number
  /** Seats left in the classes taken, the least over all flights. */
  readonly seatsLeft: number
}

/** The figures by which one thing is better than another. Lower is better in each. */
export type Figures = { readonly score: number; readonly referencePrice: number; readonly minutes: number }

/** Which figure counts first: score for the list, price for the cheapest, minutes for the fastest. */
export type Foremost = keyof Figures

/** A journey as the order sees it. */
export type Ranked = Figures & { readonly departure: number }

/** Negative when `a` comes first. */
export type Order<T> = (a: T, b: T) => number

/**
 * The total order of journeys: the foremost figure, then score, price, elapsed time, departure and at last the name.
 * @param nameOf asked only when all figures are equal, see `journeyName`
 */
export function journeyOrder<T extends Ranked>(foremost: Foremost, nameOf: (journey: T) => string): Order<T> {
  return (a, b) =>
    compareFigures(foremost, a, b) || a.departure - b.departure || compareText(nameOf(a), nameOf(b))
}

/**
 * The total order of round trips: the figures summed over both directions, then both departures, then both names. Either direction replaced
 * by a better one makes a better pair, which is what lets pairs be found from two sorted lists.
 */
export function pairOrder<T extends Ranked>(
  foremost: Foremost,
  nameOf: (journey: T) => string,
): Order<readonly [T, T]> {
  return ([a, aBack], [b, bBack]) =>
    compareFigures(foremost, sum(a, aBack), sum(b, bBack)) ||
    a.departure - b.departure ||
    aBack.departure - bBack.departure ||
    compareText(nameOf(a), nameOf(b)) ||
    compareText(nameOf(aBack), nameOf(bBack))
}

/** The figures of two directions together. */
export function sum(a: Figures, b: Figures): Figures {
  return {
    score: a.score + b.score,
    referencePrice: a.referencePrice + b.referencePrice,
    minutes: a.minutes + b.minutes,
  }
}

function compareFigures(foremost: Foremost, a: Figures, b: Figures): number {
  return (
    a[foremost] - b[foremost] ||
    a.score - b.score ||
    a.referencePrice - b.referencePrice ||
    a.minutes - b.minutes
  )
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** What the name of a journey is made of. */
export type NamedSegment = {
  carrier: string
  number: number
  /** Empty for none. */
  suffix: string
  /** Airport codes of board and off point. */
  from: string
  to: string
  /** UTC minute of departure. */
  departure: number
}

/** The designators of a journey's segments, then when and where each goes: text that sorts the same whatever the image. */
export function journeyName(segments: readonly NamedSegment[]): string {
  const designators = segments.map(
    s => `${s.carrier.padEnd(3)}${`${s.number}`.padStart(5, '0')}${s.suffix.padEnd(1)}`,
  )
  const carriages = segments.map(s => `${`${s.departure}`.padStart(9, '0')}${s.from}${s.to}`)
  return `${designators.join(' ')}|${carriages.join(' ')}`
}

/** Name of a journey that was found in a timetable. */
export function nameIn(timetable: Timetable, journey: Journey): string {
  const code = (airport: number) => timetable.text(timetable.airportCode[airport]!)
  return journeyName(
    journey.flights.map((flight, i) => ({
      carrier: timetable.text(timetable.carrier[flight]!),
      number: timetable.number[flight]!,
      suffix: timetable.suffix[flight] === 0 ? '' : String.fromCharCode(timetable.suffix[flight]!),
      from: code(timetable.routeFrom[journey.routes[i]!]!),
      to: code(timetable.routeTo[journey.routes[i]!]!),
      departure: journey.days[i]! * MINUTES_A_DAY + timetable.departureMinute[flight]!,
    })),
  )
}
