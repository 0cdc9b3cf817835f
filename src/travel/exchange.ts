import { currencyExponent, isCurrency, MINOR_MAX, type Money } from './money.ts'
import { REFERENCE_CURRENCY, REFERENCE_SCALE } from './score.ts'
import { dayNumber } from './time.ts'

/** Characters of a file of reference rates, at most; ninety days are about 150 thousand. */
export const ECB_LENGTH_MAX = 4 * 1024 * 1024

/** Rates invented for a demonstration carry this provider's name; the first real import drives them out. */
export const DEMO_PROVIDER = 'demo'

/** An exact decimal: digits ÷ 10^scale. */
export type Decimal = { digits: bigint; scale: number }

/** Reference rates of one day: units of each currency for one euro. The euro itself is not listed. */
export type Rates = {
  /** Who published them. */
  provider: string
  /** The day they are of, YYYY-MM-DD. */
  asOf: string
  perEuro: ReadonlyMap<string, Decimal>
}

/**
 * The sum of the parts in a currency: each part crosses through the euro exactly, and only the sum is rounded, once, half up. Parts that are
 * all in that currency already need no rates.
 * @returns undefined when a rate is missing or a currency unknown
 * @throws RangeError when the sum leaves the range of amounts
 */
export function convert(
  parts: readonly Money[],
  currency: string,
  rates: Rates | undefined,
): Money | undefined {
  const exponent = currencyExponent(currency)
  if (exponent === undefined) return undefined
  if (parts.every(part => part.currency === currency)) {
    return { minor: inRange(parts.reduce((sum, part) => sum + part.minor, 0)), currency }
  }
  let sum: Fraction = { over: 0n, under: 1n }
  for (const part of parts) {
    const value = inCurrency(part, currency, rates)
    if (value === undefined) return undefined
    sum = add(sum, value)
  }
  return { minor: inRange(Number(halfUp({ over: sum.over * power(exponent), under: sum.under }))), currency }
}

/**
 * A price in ten-thousandths of the reference currency, by which offers in all currencies are ranked; a whole number, half up.
 * @returns undefined when a rate is missing or the currency unknown
 * @throws RangeError when the price leaves the range of amounts
 */
export function referencePrice(money: Money, rates: Rates | undefined): number | undefined {
  const value = inCurrency(money, REFERENCE_CURRENCY, rates)
  return value && inRange(Number(halfUp({ over: value.over * BigInt(REFERENCE_SCALE), under: value.under })))
}

/** Reads a rate from decimal text, exactly; undefined unless it is a positive decimal of at most 12 digits on either side of the point. */
export function parseRate(text: string): Decimal | undefined {
  const match = /^(\d{1,12})(?:\.(\d{1,12}))?$/.exec(text)
  if (match === null) return undefined
  const [, units = '', decimals = ''] = match
  const digits = BigInt(units + decimals)
  return digits > 0n ? { digits, scale: decimals.length } : undefined
}

/** The rate as decimal text, with the decimals it was published with: `1.0850`. */
export function formatRate({ digits, scale }: Decimal): string {
  const text = digits.toString().padStart(scale + 1, '0')
  return scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`
}

/**
 * Reads euro reference rates in the European Central Bank's format, of one day or many. Currencies that no fare can be in are left out.
 * The file is parsed as the plain XML it is: no document types, no entities, nothing fetched.
 * @returns one entry a day, newest first
 * @throws SyntaxError saying what is wrong and in which line; nothing is read from half a file
 */
export function parseEcb(xml: string): Rates[] {
  if (xml.length > ECB_LENGTH_MAX)
    throw new SyntaxError(`rates file: longer than ${ECB_LENGTH_MAX} characters`)
  const days = new Map<string, Map<string, Decimal>>()
  const open: string[] = []
  let day: { perEuro: Map<string, Decimal>; depth: number } | undefined

  for (const { name, attributes, closes, opens, fail } of tags(xml)) {
    if (opens) open.push(name)
    if (opens && name.endsWith('Cube')) {
      const asOf = attributes.get('time')
      const currency = attributes.get('currency')
      if (asOf !== undefined) {
        if (day !== undefined) fail('a day inside another day')
        if (dayNumber(asOf) === undefined) fail(`"${asOf}" is not a date`)
        if (days.has(asOf)) fail(`${asOf} is given twice`)
        day = { perEuro: new Map(), depth: open.length }
        days.set(asOf, day.perEuro)
      } else if (currency !== undefined) {
        const rate = parseRate(attributes.get('rate') ?? '')
        if (day === undefined) return fail('a rate outside of any day')
        if (!/^[A-Z]{3}$/.test(currency) || currency === 'EUR')
          fail(`"${currency}" is not a currency to quote against the euro`)
        if (rate === undefined) return fail(`the rate of ${currency} is not a positive decimal`)
        if (day.perEuro.has(currency)) fail(`${currency} is given twice on one day`)
        if (isCurrency(currency)) day.perEuro.set(currency, rate)
      }
    }
    if (closes) {
      if (open.at(-1) !== name) fail(`</${name}> closes nothing`)
      if (day !== undefined && open.length === day.depth) {
        if (day.perEuro.size === 0) fail('a day without rates')
        day = undefined
      }
      open.pop()
    }
  }
  if (open.length > 0) throw new SyntaxError(`rates file: ends inside <${open.at(-1)}>; it is incomplete`)
  if (days.size === 0) throw new SyntaxError('rates file: no rates in it')
  return [...days]
    .map(([asOf, perEuro]) => ({ provider: 'ECB', asOf, perEuro }))
    .toSorted((a, b) => (a.asOf < b.asOf ? 1 : -1))
}

type Tag = {
  name: string
  attributes: ReadonlyMap<string, string>
  opens: boolean
  closes: boolean
  fail: (reason: string) => never
}

const TAG = /<(\/?)([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const PROLOGUE_OR_COMMENT = /<\?xml\s[^>]*\?>|<!--[\s\S]*?-->/y

/** The tags of a file, in order; the text between them says nothing that is needed. */
function* tags(xml: string): Generator<Tag> {
  for (let at = xml.indexOf('<'); at !== -1; at = xml.indexOf('<', at)) {
    const here = at
    const fail = (reason: string): never => {
      throw new SyntaxError(`rates file, line ${xml.slice(0, here).split('\n').length}: ${reason}`)
    }
    PROLOGUE_OR_COMMENT.lastIndex = TAG.lastIndex = at
    const skipped = PROLOGUE_OR_COMMENT.exec(xml)
    if (skipped !== null) {
      at = PROLOGUE_OR_COMMENT.lastIndex
      continue
    }
    const match = TAG.exec(xml)
    if (match === null) return fail('document types, entities and broken tags are refused')
    const [, slash, name = '', text = '', empty] = match
    const attributes = new Map<string, string>()
    for (const [, key = '', double, single] of text.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
      attributes.set(key, double ?? single ?? '')
    }
    yield { name, attributes, opens: slash === '', closes: slash !== '' || empty !== '', fail }
    at = TAG.lastIndex
  }
}

type Fraction = { over: bigint; under: bigint }

/** The amount in whole units of another currency, exactly. The unit needs no exponent; the caller scales before rounding. */
function inCurrency(
  { minor, currency }: Money,
  target: string,
  rates: Rates | undefined,
): Fraction | undefined {
  const exponent = currencyExponent(currency)
  if (exponent === undefined) return undefined
  const amount = { over: BigInt(minor), under: power(exponent) }
  if (currency === target) return amount
  const from = perEuro(currency, rates)
  const to = perEuro(target, rates)
  if (from === undefined || to === undefined) return undefined
  return {
    over: amount.over * to.digits * power(from.scale),
    under: amount.under * from.digits * power(to.scale),
  }
}

const ONE: Decimal = { digits: 1n, scale: 0 }

function perEuro(currency: string, rates: Rates | undefined): Decimal | undefined {
  return rates && (currency === 'EUR' ? ONE : rates.perEuro.get(currency))
}

const power = (exponent: number): bigint => 10n ** BigInt(exponent)

function add(a: Fraction, b: Fraction): Fraction {
  if (a.under === b.under) return { over: a.over + b.over, under: a.under }
  return { over: a.over * b.under + b.over * a.under, under: a.under * b.under }
}

/** The nearest whole number; of two equally near ones the larger. */
function halfUp({ over, under }: Fraction): bigint {
  const twice = 2n * over + under
  const quotient = twice / (2n * under)
  // BigInt division cuts towards zero; below zero that is one too high unless it came out even.
  return twice < 0n && quotient * 2n * under !== twice ? quotient - 1n : quotient
}

function inRange(value: number): number {
  if (Math.abs(value) > MINOR_MAX) throw new RangeError(`an amount of ${value} is out of range`)
  return value
}
