import currencies from 'currency-codes'
import type { Table } from './make.ts'

/** In force since the package's edition of ISO 4217. */
const ADDED = [['XCG', 2, 'Caribbean Guilder']] as const

/** Ended: Antillean guilder (XCG since 2025), lev (euro since 2026), convertible peso (2021), Sierra Leone's and Zimbabwe's old ones. */
const ENDED = ['ANG', 'BGN', 'CUC', 'HRK', 'SLL', 'ZWL']

/** In the standard, yet no fare is paid in them: funds and units of account, metals, the test code and "no currency". */
const NOT_MONEY = [
  ...['BOV', 'CHE', 'CHW', 'CLF', 'COU', 'MXV', 'USN', 'UYI', 'UYW'],
  ...['XAG', 'XAU', 'XPD', 'XPT', 'XBA', 'XBB', 'XBC', 'XBD', 'XDR', 'XSU', 'XUA', 'XTS', 'XXX'],
]

/** Names as people know them, where the standard's is only the unit's or is out of date. */
const NAMES: Readonly<Record<string, string>> = {
  CNY: 'Chinese Yuan',
  GBP: 'British Pound',
  JPY: 'Japanese Yen',
  KRW: 'South Korean Won',
  VED: 'Digital Bolívar',
  VES: 'Venezuelan Bolívar',
}

/** The currencies that fares can be in, with the exponent of ISO 4217; display libraries round some of them to whole units, banks do not. */
export function makeCurrencies(): Table {
  const refused = new Set([...ENDED, ...NOT_MONEY, ...ADDED.map(([code]) => code)])
  const rows = currencies.data
    .filter(({ code }) => !refused.has(code))
    .map(({ code, digits, currency }) => [code, digits, NAMES[code] ?? currency.trim()])
  return { columns: ['code', 'exponent', 'name'], rows: [...rows, ...ADDED] }
}
