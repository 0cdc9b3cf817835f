import table from './reference/countries.json' with { type: 'json' }

export type Country = { alpha2: string; alpha3: string; name: string }

/** The country with this ISO 3166 alpha-2 code (upper case), or undefined. */
export function country(alpha2: string): Country | undefined {
  byCode ??= new Map(
    (table.rows as [string, string, string][]).map(([alpha2, alpha3, name]) => [
      alpha2,
      { alpha2, alpha3, name },
    ]),
  )
  return byCode.get(alpha2)
}

let byCode: ReadonlyMap<string, Country> | undefined
