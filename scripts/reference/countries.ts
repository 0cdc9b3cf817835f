import countries from 'i18n-iso-countries'
import type { Table } from './make.ts'

/** Everyday names where the standard's own is for lists and letters. */
const EVERYDAY: Readonly<Record<string, string>> = {
  BN: 'Brunei',
  CD: 'DR Congo',
  CG: 'Congo',
  CI: 'Côte d’Ivoire',
  CN: 'China',
  CZ: 'Czechia',
  FK: 'Falkland Islands',
  FM: 'Micronesia',
  GM: 'Gambia',
  IR: 'Iran',
  LA: 'Laos',
  MD: 'Moldova',
  MK: 'North Macedonia',
  RE: 'Réunion',
  RU: 'Russia',
  ST: 'São Tomé and Príncipe',
  SY: 'Syria',
  TZ: 'Tanzania',
  US: 'United States',
  VA: 'Vatican City',
  VG: 'British Virgin Islands',
  VI: 'US Virgin Islands',
}

/** ISO 3166-1, with XK for Kosovo as travel documents use it. */
export function makeCountries(): Table {
  const names = countries.getNames('en')
  const rows = Object.entries(countries.getAlpha2Codes()).map(([alpha2, alpha3]) => {
    const name = EVERYDAY[alpha2] ?? names[alpha2]
    if (name === undefined) throw new Error(`no English name for ${alpha2}`)
    return [alpha2, alpha3, name]
  })
  return { columns: ['alpha2', 'alpha3', 'name'], rows }
}
