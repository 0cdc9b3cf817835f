/**
 * Writes src/travel/reference/{airports,countries,currencies}.json from public data packages. Same packages, same Node: same bytes.
 * Run by `npm run reference`; what it prints is worth reading beside the difference it makes.
 */
import { writeFileSync } from 'node:fs'
import { makeAirports } from './airports.ts'
import { makeCountries } from './countries.ts'
import { makeCurrencies } from './currencies.ts'

/** A table as it is stored: the names of the columns, then one row a line, sorted by its first column. */
export type Table = { columns: readonly string[]; rows: readonly (readonly (string | number)[])[] }

const TARGET = new URL('../../src/travel/reference/', import.meta.url)

function write(name: string, { columns, rows }: Table): void {
  const sorted = rows.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1))
  const lines = sorted.map(row => `    ${JSON.stringify(row)}`)
  const text = `{\n  "columns": ${JSON.stringify(columns)},\n  "rows": [\n${lines.join(',\n')}\n  ]\n}\n`
  writeFileSync(new URL(name, TARGET), text)
  console.log(`${name}: ${rows.length} rows, ${text.length} characters`)
}

console.log(`time zones as of tz ${process.versions.tz}`)
const { table, report } = await makeAirports()
for (const line of report) console.log(line)
write('airports.json', table)
write('countries.json', makeCountries())
write('currencies.json', makeCurrencies())
