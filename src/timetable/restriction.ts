import { RESTRICTION, type Timetable } from './image.ts'

/**
 * Whether traffic rights allow the flights to be sold together as one journey. "In connection with" is met by any other segment of the
 * journey where a right demands one ("only in connection with …"), and must be met by all of them where it allows none but such.
 */
export function mayCombine(
  timetable: Timetable,
  flights: readonly number[],
  routes: readonly number[],
): boolean {
  return flights.every((flight, i) => {
    const restriction = timetable.restriction[flight]!
    if (restriction === RESTRICTION.none) return true
    const others = flights.map((_, k) => k).filter(k => k !== i)
    const international = (k: number) => timetable.routeInternational[routes[k]!] === 1
    const online = (k: number) => timetable.carrier[flights[k]!] === timetable.carrier[flight]
    switch (restriction) {
      case RESTRICTION.connectingOnly:
        return others.length > 0
      case RESTRICTION.internationalConnectingOnly:
        return others.some(international)
      case RESTRICTION.onlineConnectingOnly:
        return others.some(online)
      case RESTRICTION.internationalOnlineConnectingOnly:
        return others.some(k => international(k) && online(k))
      case RESTRICTION.localOnly:
        return others.length === 0
      case RESTRICTION.localOrDomestic:
        return !others.some(international)
      case RESTRICTION.localOrOnline:
        return others.every(online)
      default:
        throw new Error(`Unknown traffic restriction ${restriction}`)
    }
  })
}
