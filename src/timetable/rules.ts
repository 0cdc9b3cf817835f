/** What makes flights a journey, apart from the timetable: settings of the operator. */

/** Minutes between arrival and departure by status of the two flights, domestic or international: `DI` leaves a domestic for an international. */
export type MinimumConnection = { DD: number; DI: number; ID: number; II: number }

/** Connecting times that differ from the default at a station, for carriers, flights or terminals. */
export type ConnectionExceptions = {
  /** The least that `minutes` gives for any two flights at an airport; undefined where there is no exception. */
  least(airport: number): number | undefined
  /** Minimum connecting time between two flights, or undefined when the default holds. */
  minutes(arriving: number, departing: number): number | undefined
}

export type Rules = {
  minimumConnection: MinimumConnection
  /** Minutes one waits at a connection at most. */
  longestConnection: number
  /** Connections of a journey at most: 0, 1 or 2. */
  mostConnections: number
  /** Options in an answer at most; two or more, so that the cheapest and the fastest non-stop have room. */
  offers: number
  exceptions?: ConnectionExceptions
}

export const DEFAULT_RULES: Rules = {
  minimumConnection: { DD: 30, DI: 60, ID: 90, II: 90 },
  longestConnection: 480,
  mostConnections: 2,
  offers: 50,
}

/** Default minimum connecting time by the two flights' status, 1 for international. */
export function defaultConnection(rules: Rules, arriving: number, departing: number): number {
  const { DD, DI, ID, II } = rules.minimumConnection
  if (arriving === 0) return departing === 0 ? DD : DI
  return departing === 0 ? ID : II
}
