import table from './reference/aircraft.json' with { type: 'json' }

/** An aircraft type as passengers know it; wide bodies have two aisles. */
export type AircraftType = { name: string; body: 'W' | 'N' }

/** The type with this IATA code (`320`, `77W`), or undefined. */
export function aircraftType(code: string): AircraftType | undefined {
  byCode ??= new Map(
    (table.rows as [string, string, 'W' | 'N'][]).map(([code, name, body]) => [code, { name, body }]),
  )
  return byCode.get(code)
}

let byCode: ReadonlyMap<string, AircraftType> | undefined
