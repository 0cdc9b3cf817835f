/**
 * Fields of a 200-byte SSIM record, read straight from its bytes. Positions are bytes counted from 1, as the standard counts them. A reader
 * answers `BAD` for what the field may not hold.
 */
import { dayNumber } from '../travel/time.ts'
import { BLANK_VARIATION, OPEN_DAY } from './schedule.ts'

export const BAD = -9999

const BLANK = 0x20
const ZERO = 0x30

const isDigit = (c: number) => c >= ZERO && c <= 0x39
const isLetter = (c: number) => c >= 0x41 && c <= 0x5a

/** Text of `from` … `to`, blanks at the end cut off. */
export function text(b: Uint8Array, at: number, from: number, to: number): string {
  let end = to
  while (end >= from && b[at + end - 1] === BLANK) end--
  let out = ''
  for (let i = from; i <= end; i++) out += String.fromCharCode(b[at + i - 1]!)
  return out
}

/** One character code, 0 for a blank. */
export function character(b: Uint8Array, at: number, position: number): number {
  const c = b[at + position - 1]!
  return c === BLANK ? 0 : c
}

/** A code of up to three characters packed into 24 bits, left justified, blanks as zeros. */
export function packed(b: Uint8Array, at: number, position: number, width: number): number {
  let code = 0
  for (let i = 0; i < 3; i++) {
    const c = i < width ? b[at + position - 1 + i]! : BLANK
    code = (code << 8) | (c === BLANK ? 0 : c)
  }
  return code
}

const UNPACKED_MAX = 50_000
const unpackedCodes = new Map<number, string>()

/** The text of a packed code. The same few thousand come again and again, so their texts are kept. */
export function unpacked(code: number): string {
  const known = unpackedCodes.get(code)
  if (known !== undefined) return known
  const text = String.fromCharCode(...[code >> 16, (code >> 8) & 255, code & 255].filter(c => c !== 0))
  if (unpackedCodes.size < UNPACKED_MAX) unpackedCodes.set(code, text)
  return text
}

/** A packed code of letters and digits, at least `least` of them. */
export function code(b: Uint8Array, at: number, position: number, least: number): number {
  for (let i = 0; i < 3; i++) {
    const c = b[at + position - 1 + i]!
    if (!isLetter(c) && !isDigit(c) && (i < least || c !== BLANK)) return BAD
  }
  return packed(b, at, position, 3)
}

/** Digits with blanks or zeros before them. */
export function number(b: Uint8Array, at: number, from: number, to: number): number {
  let value = 0
  let started = false
  for (let i = at + from - 1; i < at + to; i++) {
    const c = b[i]!
    if (c === BLANK && !started) continue
    if (!isDigit(c)) return BAD
    started = true
    value = value * 10 + c - ZERO
  }
  return started ? value : BAD
}

/** First day of every month of the century, by years × 12 + months, and of the month after it. */
const MONTH_STARTS = Uint16Array.from({ length: 1201 }, (_, i) => {
  const year = 2000 + Math.floor(i / 12)
  return dayNumber(`${year}-${String((i % 12) + 1).padStart(2, '0')}-01`)!
})
const MONTHS = new Map(
  ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'].map((name, i) => [
    packed(new TextEncoder().encode(name), 0, 1, 3),
    i,
  ]),
)
const NO_MONTH = packed(new TextEncoder().encode('XXX'), 0, 1, 3)

/** A date DDMMMYY as a day; `00XXX00` is `OPEN_DAY`. */
export function date(b: Uint8Array, at: number, position: number): number {
  const day = number(b, at, position, position + 1)
  const year = number(b, at, position + 5, position + 6)
  if (day === BAD || year === BAD || !isDigit(b[at + position - 1]!) || !isDigit(b[at + position + 4]!))
    return BAD
  const name = packed(b, at, position + 2, 3)
  if (day === 0 && year === 0 && name === NO_MONTH) return OPEN_DAY
  const month = MONTHS.get(name)
  if (month === undefined || day === 0) return BAD
  const value = MONTH_STARTS[year * 12 + month]! + day - 1
  return value < MONTH_STARTS[year * 12 + month + 1]! ? value : BAD
}

/** A time of day HHMM in minutes, 2400 allowed; all four must be digits. */
export function time(b: Uint8Array, at: number, position: number): number {
  const i = at + position - 1
  for (let k = i; k < i + 4; k++) if (!isDigit(b[k]!)) return BAD
  const minutes = (b[i + 2]! - ZERO) * 10 + b[i + 3]! - ZERO
  const value = ((b[i]! - ZERO) * 10 + b[i + 1]! - ZERO) * 60 + minutes
  return minutes > 59 || value > 1440 ? BAD : value
}

const OFFSET_MAX = 15 * 60

/** A UTC variation ±HHMM in minutes east of Greenwich. */
export function offset(b: Uint8Array, at: number, position: number): number {
  const sign = b[at + position - 1]!
  const size = time(b, at, position + 1)
  if ((sign !== 0x2b && sign !== 0x2d) || size === BAD || size > OFFSET_MAX) return BAD
  return sign === 0x2d && size !== 0 ? -size : size
}

/** Days of operation as a mask, bit 0 = Monday: every digit stands in its own place, the others are blank. */
export function weekdays(b: Uint8Array, at: number, position: number): number {
  let mask = 0
  for (let i = 0; i < 7; i++) {
    const c = b[at + position - 1 + i]!
    if (c === ZERO + 1 + i) mask |= 1 << i
    else if (c !== BLANK) return BAD
  }
  return mask === 0 ? BAD : mask
}

/** A date variation: 0 to 7, `A` for the day before, or blank. */
export function dayVariation(b: Uint8Array, at: number, position: number): number {
  const c = b[at + position - 1]!
  if (c === BLANK) return BLANK_VARIATION
  if (c === 0x41) return -1
  return c >= ZERO && c <= ZERO + 7 ? c - ZERO : BAD
}
