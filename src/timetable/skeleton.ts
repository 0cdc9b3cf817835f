/**
 * Skeletons: the routes a journey could take, with bounds, before any flight is looked at. A skeleton's bounds are at most the score and the
 * price of every journey that flies it, whatever the day, the party and the seats.
 */
import { score } from '../travel/score.ts'
import type { Timetable } from './image.ts'
import type { Market } from './market.ts'
import { defaultConnection, type Rules } from './rules.ts'

/** Skeletons in columns, which grow as needed and are used again by the next search. A missing segment is -1. */
export type Skeletons = {
  count: number
  readonly first: number[]
  readonly middle: number[]
  readonly last: number[]
  readonly score: number[]
  readonly price: number[]
}

/** The network as one search sees it. */
export type Network = {
  timetable: Timetable
  market: Market
  rules: Rules
  /** Where the cabin's bounds begin in the market's route columns. */
  bounds: number
  origins: readonly number[]
  destinations: readonly number[]
}

/** Whether figures that can only grow leave a journey no chance to be listed. */
export type Hopeless = (score: number, price: number) => boolean

/** Of an airport, between calls all zero: 1 at an end of the search, and 1 + the first of `next`'s chain of routes. */
let atEnd = new Uint8Array(0)
let head = new Int32Array(0)
const next: number[] = []

/** Columns without a skeleton. */
export function noSkeletons(): Skeletons {
  return { count: 0, first: [], middle: [], last: [], score: [], price: [] }
}

/** Least minutes that any two flights need to connect from one route to another. */
export function leastConnection({ timetable, rules }: Network, arriving: number, departing: number): number {
  const { routeInternational, routeTo } = timetable
  const usual = defaultConnection(rules, routeInternational[arriving]!, routeInternational[departing]!)
  const exception = rules.exceptions?.least(routeTo[arriving]!)
  return exception === undefined ? usual : Math.min(usual, exception)
}

/** Routes from an origin straight to a destination. */
export function directRoutes(network: Network): number[] {
  return routesOut(network).filter(route => network.destinations.includes(network.timetable.routeTo[route]!))
}

/** Finds the skeletons with one connection, or with two, leaving out the hopeless. */
export function findSkeletons(
  network: Network,
  connections: 1 | 2,
  hopeless: Hopeless,
  found: Skeletons,
): void {
  const { timetable, market, bounds } = network
  const { routeFrom, routeTo, outStart, inStart, inRoute } = timetable
  const { routePrice } = market
  found.count = 0
  markEnds(network, 1)
  const firsts = routesOut(network).filter(route => atEnd[routeTo[route]!] === 0)
  const lasts = routesIn(network).filter(route => atEnd[routeFrom[route]!] === 0)
  const add = (first: number, middle: number, last: number) =>
    addSkeleton(network, first, middle, last, hopeless, found)

  if (connections === 1) {
    chain(lasts, routeFrom)
    for (const first of firsts) {
      for (let link = head[routeTo[first]!]!; link > 0; link = next[link - 1]!)
        add(first, -1, lasts[link - 1]!)
    }
    unchain(lasts, routeFrom)
  } else if (degrees(firsts, routeTo, outStart) <= degrees(lasts, routeFrom, inStart)) {
    chain(lasts, routeFrom)
    for (const first of firsts) {
      const hub = routeTo[first]!
      for (let middle = outStart[hub]!; middle < outStart[hub + 1]!; middle++) {
        let link = head[routeTo[middle]!]!
        if (link === 0 || routePrice[bounds + middle] === Infinity || routeTo[middle] === hub) continue
        for (; link > 0; link = next[link - 1]!) add(first, middle, lasts[link - 1]!)
      }
    }
    unchain(lasts, routeFrom)
  } else {
    chain(firsts, routeTo)
    for (const last of lasts) {
      const hub = routeFrom[last]!
      for (let at = inStart[hub]!; at < inStart[hub + 1]!; at++) {
        const middle = inRoute[at]!
        let link = head[routeFrom[middle]!]!
        if (link === 0 || routePrice[bounds + middle] === Infinity || routeFrom[middle] === hub) continue
        for (; link > 0; link = next[link - 1]!) add(firsts[link - 1]!, middle, last)
      }
    }
    unchain(firsts, routeTo)
  }
  markEnds(network, 0)
}

function addSkeleton(
  network: Network,
  first: number,
  middle: number,
  last: number,
  hopeless: Hopeless,
  found: Skeletons,
): void {
  const { market, bounds } = network
  let least = market.routeScore[bounds + first]! + market.routeScore[bounds + last]!
  let price = market.routePrice[bounds + first]! + market.routePrice[bounds + last]!
  if (middle < 0) least += connectionScore(network, first, last)
  else {
    least += connectionScore(network, first, middle) + connectionScore(network, middle, last)
    least += market.routeScore[bounds + middle]!
    price += market.routePrice[bounds + middle]!
  }
  if (hopeless(least, price)) return
  const at = found.count++
  found.first[at] = first
  found.middle[at] = middle
  found.last[at] = last
  found.score[at] = least
  found.price[at] = price
}

/** Least score that a connection between two routes adds. */
export function connectionScore(network: Network, arriving: number, departing: number): number {
  return score(0, leastConnection(network, arriving, departing), 1)
}

function markEnds({ timetable, origins, destinations }: Network, mark: 0 | 1): void {
  if (atEnd.length < timetable.counts.airports) {
    atEnd = new Uint8Array(timetable.counts.airports)
    head = new Int32Array(timetable.counts.airports)
  }
  for (const airport of origins) atEnd[airport] = mark
  for (const airport of destinations) atEnd[airport] = mark
}

/** Routes on which the cabin is sold, out of the origins and into the destinations. */
function routesOut({ timetable, market, bounds, origins }: Network): number[] {
  const routes: number[] = []
  for (const origin of origins) {
    for (let route = timetable.outStart[origin]!; route < timetable.outStart[origin + 1]!; route++) {
      if (market.routePrice[bounds + route]! < Infinity) routes.push(route)
    }
  }
  return routes
}

function routesIn({ timetable, market, bounds, destinations }: Network): number[] {
  const routes: number[] = []
  for (const destination of destinations) {
    for (let at = timetable.inStart[destination]!; at < timetable.inStart[destination + 1]!; at++) {
      const route = timetable.inRoute[at]!
      if (market.routePrice[bounds + route]! < Infinity) routes.push(route)
    }
  }
  return routes
}

/** Strings routes together by the airport at one of their ends; a city search can have several at one airport. */
function chain(routes: readonly number[], end: Uint16Array): void {
  routes.forEach((route, i) => {
    next[i] = head[end[route]!]!
    head[end[route]!] = i + 1
  })
}

function unchain(routes: readonly number[], end: Uint16Array): void {
  for (const route of routes) head[end[route]!] = 0
}

function degrees(routes: readonly number[], end: Uint16Array, start: Uint32Array): number {
  let total = 0
  for (const route of routes) total += start[end[route]! + 1]! - start[end[route]!]!
  return total
}

/** About how many skeletons share a bucket when they are put in order. */
const BUCKET = 8

/** Writes into `order` the skeletons by rising score bound, roughly: exact between buckets, any order within one. */
export function bucketOrder(skeletons: Skeletons, order: number[]): void {
  const { count, score } = skeletons
  let low = Infinity
  let high = -Infinity
  for (let i = 0; i < count; i++) {
    if (score[i]! < low) low = score[i]!
    if (score[i]! > high) high = score[i]!
  }
  const buckets = Math.ceil(count / BUCKET)
  const start = new Uint32Array(buckets + 1)
  const scale = high > low ? (buckets - 1) / (high - low) : 0
  for (let i = 0; i < count; i++) start[Math.floor((score[i]! - low) * scale) + 1]!++
  for (let bucket = 0; bucket < buckets; bucket++) start[bucket + 1]! += start[bucket]!
  for (let i = 0; i < count; i++) order[start[Math.floor((score[i]! - low) * scale)]!++] = i
}
