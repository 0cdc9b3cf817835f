/**
 * Seats sold, by leg: a hash table in a SharedArrayBuffer with an entry for every leg, day and cabin that has sales, and none for the rest.
 * One thread writes absolute counts, all others read without a lock. A reader may see a sale a moment late; the database has the last word.
 */
import { CABINS, type Cabin } from '../travel/itinerary.ts'

/** Test and live have seats of their own. */
export const MODES = ['live', 'test'] as const
export type Mode = (typeof MODES)[number]

/** Cabin of a leg on a day: `day` is the local departure day at the leg's own board point. */
export type SoldAt = { mode: Mode; leg: number; day: number; cabin: Cabin }

export type Sold = {
  readonly buffer: SharedArrayBuffer
  readonly words: Int32Array
  readonly counts: Uint16Array
  /** Entries the table takes; it has at least twice as many places, so that a look-up stays short. */
  readonly capacity: number
}

const MAGIC = 0x31535341
/** Words of the header, and of one entry: a cache line each. */
const LINE_WORDS = 16
const HEADER = { magic: 0, places: 1, used: 2 } as const
/** Within an entry, in 16-bit counts: after 8 bytes of key the total, classes A to Z, and 1 when the leg is closed. */
const TOTAL = 4
const CLOSED = 31
const LETTER_A = 65
const COUNT_MAX = 65_535

/** An empty table for `capacity` entries (leg, day and cabin with sales). */
export function createSold(capacity: number): Sold {
  const places = 2 ** Math.ceil(Math.log2(Math.max(1, capacity) * 2))
  const buffer = new SharedArrayBuffer((places + 1) * LINE_WORDS * 4)
  const words = new Int32Array(buffer)
  words[HEADER.magic] = MAGIC
  words[HEADER.places] = places
  return openSold(buffer)
}

/**
 * Opens a table that another thread made.
 * @throws Error when the buffer is none.
 */
export function openSold(buffer: SharedArrayBuffer): Sold {
  const words = new Int32Array(buffer)
  const places = words[HEADER.places]!
  if (words[HEADER.magic] !== MAGIC || words.length !== (places + 1) * LINE_WORDS)
    throw new Error('Not a table of seats sold')
  return { buffer, words, counts: new Uint16Array(buffer), capacity: places / 2 }
}

/** Entries in use. */
export function soldEntries(sold: Sold): number {
  return Atomics.load(sold.words, HEADER.used)
}

/**
 * Writes how many seats of a booking class are sold; the cabin's total follows. Only one thread may write.
 * @returns false when the table is full and nothing was written: make a larger one with `growSold`
 * @throws RangeError when the class is no letter A to Z, or the count does not fit
 */
export function setSold(sold: Sold, at: SoldAt, bookingClass: string, seats: number): boolean {
  const letter = bookingClass.charCodeAt(0) - LETTER_A
  if (bookingClass.length !== 1 || letter < 0 || letter > 25)
    throw new RangeError(`No booking class: ${bookingClass}`)
  if (!Number.isInteger(seats) || seats < 0) throw new RangeError(`No count of seats: ${seats}`)
  const entry = entryToWrite(sold, at)
  if (entry < 0) return false
  const count = entry * 2 + TOTAL + 1 + letter
  const total = sold.counts[entry * 2 + TOTAL]! + seats - sold.counts[count]!
  if (total > COUNT_MAX) throw new RangeError(`More seats sold than a cabin can have: ${total}`)
  Atomics.store(sold.counts, entry * 2 + TOTAL, total)
  Atomics.store(sold.counts, count, seats)
  return true
}

/**
 * Closes a cabin of a leg on a day for sale whatever is left (a cancelled departure), or opens it again. Only one thread may write.
 * @returns false when the table is full and nothing was written
 */
export function setClosed(sold: Sold, at: SoldAt, closed: boolean): boolean {
  const entry = entryToWrite(sold, at)
  if (entry < 0) return false
  Atomics.store(sold.counts, entry * 2 + CLOSED, closed ? 1 : 0)
  return true
}

/** Seats sold in a booking class, or in the whole cabin when no class is named. */
export function soldIn(sold: Sold, at: SoldAt, bookingClass?: string): number {
  const entry = soldEntry(sold, at.leg, dayKey(at.day, CABINS.indexOf(at.cabin), MODES.indexOf(at.mode)))
  if (entry < 0) return 0
  return bookingClass === undefined
    ? totalSold(sold, entry)
    : classSold(sold, entry, bookingClass.charCodeAt(0))
}

/** A table for `capacity` entries with all that `sold` holds; readers go on with the old one until they are told. */
export function growSold(sold: Sold, capacity = sold.capacity * 2): Sold {
  const larger = createSold(Math.max(capacity, soldEntries(sold)))
  for (let entry = LINE_WORDS; entry < sold.words.length; entry += LINE_WORDS) {
    const tag = sold.words[entry]!
    if (tag === 0) continue
    const place = firstFree(larger, tag - 1, sold.words[entry + 1]!)
    larger.words.set(sold.words.subarray(entry, entry + LINE_WORDS), place)
    larger.words[HEADER.used]!++
  }
  return larger
}

/** The half of an entry's key that is not the leg. */
export function dayKey(day: number, cabin: number, mode: number): number {
  return (day << 3) | (cabin << 1) | mode
}

/** Where the entry of a leg, day and cabin begins, or -1 when nothing of it is sold. */
export function soldEntry(sold: Sold, leg: number, key: number): number {
  const { words } = sold
  const last = words[HEADER.places]! - 1
  for (let place = hash(leg, key) & last; ; place = (place + 1) & last) {
    const entry = (place + 1) * LINE_WORDS
    const tag = Atomics.load(words, entry)
    if (tag === 0) return -1
    if (tag === leg + 1 && words[entry + 1] === key) return entry
  }
}

/** Seats sold in all classes of an entry's cabin; more than any cabin has when it is closed. */
export function totalSold(sold: Sold, entry: number): number {
  return Atomics.load(sold.counts, entry * 2 + CLOSED) === 1
    ? COUNT_MAX
    : Atomics.load(sold.counts, entry * 2 + TOTAL)
}

/** Seats sold in one class of an entry's cabin, by the class letter's character code. */
export function classSold(sold: Sold, entry: number, letter: number): number {
  return Atomics.load(sold.counts, entry * 2 + TOTAL + 1 + letter - LETTER_A)
}

function entryToWrite(sold: Sold, at: SoldAt): number {
  const key = dayKey(at.day, CABINS.indexOf(at.cabin), MODES.indexOf(at.mode))
  const known = soldEntry(sold, at.leg, key)
  if (known >= 0) return known
  const used = soldEntries(sold)
  if (used >= sold.capacity) return -1
  const entry = firstFree(sold, at.leg, key)
  sold.words[entry + 1] = key
  // The tag goes last: whoever sees it sees the key as well.
  Atomics.store(sold.words, entry, at.leg + 1)
  Atomics.store(sold.words, HEADER.used, used + 1)
  return entry
}

function firstFree(sold: Sold, leg: number, key: number): number {
  const last = sold.words[HEADER.places]! - 1
  let place = hash(leg, key) & last
  while (sold.words[(place + 1) * LINE_WORDS] !== 0) place = (place + 1) & last
  return (place + 1) * LINE_WORDS
}

function hash(leg: number, key: number): number {
  let h = Math.imul(leg, 0x9e3779b1) ^ Math.imul(key, 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d)
  return (h ^ (h >>> 13)) >>> 0
}
