/** What may be sold: service types and traffic restriction codes. */
import { RESTRICTION } from './image.ts'

const SOLD_SERVICES: ReadonlySet<string> = new Set(['J', 'S', 'G', 'B', 'Q', 'R'])

/** Whether a service type carries passengers who buy single seats; cargo, charter, surface, positioning and the like do not. */
export function soldService(service: string): boolean {
  return SOLD_SERVICES.has(service)
}

/**
 * Restriction codes that leave something to a search without stopovers. The others forbid all (A H I), need a stopover (M Q T), or depend on
 * the rest of the journey in a way nobody files consistently (D E G): such segments are not sold.
 */
const RESTRICTIONS: Readonly<Record<string, number>> = {
  '': RESTRICTION.none,
  ' ': RESTRICTION.none,
  B: RESTRICTION.localOnly,
  C: RESTRICTION.localOrDomestic,
  F: RESTRICTION.localOrOnline,
  K: RESTRICTION.connectingOnly,
  V: RESTRICTION.connectingOnly,
  N: RESTRICTION.internationalConnectingOnly,
  W: RESTRICTION.internationalConnectingOnly,
  O: RESTRICTION.internationalOnlineConnectingOnly,
  Y: RESTRICTION.onlineConnectingOnly,
  X: RESTRICTION.onlineConnectingOnly,
}

/** A value of `RESTRICTION` for a code, or undefined when a segment with it is not sold. */
export function restrictionOf(code: string): number | undefined {
  return RESTRICTIONS[code]
}
