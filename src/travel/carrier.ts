import table from './reference/carriers.json' with { type: 'json' }

export type Carrier = {
  /** IATA designator. */
  code: string
  name: string
  /** ISO 3166 alpha-2 of its home. */
  country: string
  /** A carrier of the demo network, which exists nowhere else; a real one may hold its designator. */
  demo: boolean
}

/** The carrier's name; its code where the table does not know it, for a name is never guessed. */
export function carrierName(code: string): string {
  return carrier(code)?.name ?? code
}

/** The carrier with this IATA designator (upper case), or undefined. */
export function carrier(code: string): Carrier | undefined {
  byCode ??= new Map(
    (table.rows as [string, string, string, number][]).map(([code, name, country, demo]) => [
      code,
      { code, name, country, demo: demo === 1 },
    ]),
  )
  return byCode.get(code)
}

let byCode: ReadonlyMap<string, Carrier> | undefined
