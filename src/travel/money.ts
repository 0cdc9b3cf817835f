import table from './reference/currencies.json' with { type: 'json' }

/** An amount in the currency's minor unit, a whole number: 12.34 USD is 1234, 500 JPY is 500, 1.234 KWD is 1234. */
export type Money = { minor: number; currency: string }

/** Largest amount either way, in minor units: fifteen digits are the most that a JSON number carries exactly with a decimal point in it. */
export const MINOR_MAX = 999_999_999_999_999

/**
 * Reads decimal text (`1234.5`, `-3`) exactly. Undefined for anything else, for an unknown currency, for more decimals than the currency
 * has (zeros at the end are no decimals) and beyond MINOR_MAX.
 */
export function parseAmount(text: string, currency: string): number | undefined {
  const exponent = currencyExponent(currency)
  const match = /^(-?)(\d{1,20})(?:\.(\d{1,20}))?$/.exec(text)
  if (exponent === undefined || match === null) return undefined
  const [, sign, units = '', decimals = ''] = match
  if (/[1-9]/.test(decimals.slice(exponent))) return undefined
  const size = Number(units + decimals.slice(0, exponent).padEnd(exponent, '0'))
  if (size > MINOR_MAX) return undefined
  return sign === '-' && size > 0 ? -size : size
}

/** The amount as the number that JSON shows: 1234 minor units of USD are 12.34. @throws RangeError for an unknown currency. */
export function toAmount({ minor, currency }: Money): number {
  const exponent = currencyExponent(currency)
  if (exponent === undefined) throw new RangeError(`${currency} is not a currency`)
  return minor / 10 ** exponent
}

/** Decimals of the currency by ISO 4217, or undefined for an unknown one. ISO's, not those of display libraries: HUF and IDR have two. */
export function currencyExponent(code: string): number | undefined {
  return currencies().get(code)?.exponent
}

/** Whether fares can be in this currency. Metals, funds, test codes and ended currencies are none. */
export function isCurrency(code: string): boolean {
  return currencies().has(code)
}

/** English name, or the code itself for an unknown currency. */
export function currencyName(code: string): string {
  return currencies().get(code)?.name ?? code
}

let byCode: ReadonlyMap<string, { exponent: number; name: string }> | undefined

function currencies(): ReadonlyMap<string, { exponent: number; name: string }> {
  byCode ??= new Map(
    (table.rows as [string, number, string][]).map(([code, exponent, name]) => [code, { exponent, name }]),
  )
  return byCode
}
