/**
 * A schedule as it was filed: carrier blocks, legs in columns and the data elements that matter for selling. 175,000 legs take about 10 MB.
 * Codes of up to three characters are packed into a number (see ssim-fields); longer texts are indices into `texts`, where 0 is empty.
 */

/** Column name → element type. One element a leg. Days as in travel/time, times and offsets in minutes as they were filed. */
const LEG_COLUMNS = {
  line: Uint32Array,
  block: Uint16Array,
  carrier: Uint32Array,
  number: Uint16Array,
  /** Character code, 0 when there is none. */
  suffix: Uint8Array,
  /** Itinerary variation with its overflow, 1 to 999. */
  variation: Uint16Array,
  /** Leg sequence, from 1. Leg n + 1 of an itinerary is the next leg of the schedule. */
  sequence: Uint8Array,
  /** Character code. */
  service: Uint8Array,
  /** Period, both ends included, at the leg's own departure station; `OPEN_DAY` when it was left open. */
  from: Uint16Array,
  to: Uint16Array,
  /** Bit 0 = Monday, at the leg's own departure station. */
  weekdays: Uint8Array,
  /** 1 when it operates every other week from `from` on. */
  fortnightly: Uint8Array,
  origin: Uint32Array,
  departure: Uint16Array,
  aircraftDeparture: Uint16Array,
  departureOffset: Int16Array,
  departureTerminal: Uint32Array,
  destination: Uint32Array,
  aircraftArrival: Uint16Array,
  arrival: Uint16Array,
  arrivalOffset: Int16Array,
  arrivalTerminal: Uint32Array,
  aircraft: Uint32Array,
  owner: Uint32Array,
  /** Character code of byte 149. */
  disclosure: Uint8Array,
  /** Days from the itinerary origin's departure day; `BLANK_VARIATION` when blank. */
  departureDays: Int8Array,
  arrivalDays: Int8Array,
  /** Texts: booking classes, configuration, one restriction code for each off point of the itinerary. */
  classes: Uint32Array,
  configuration: Uint32Array,
  restriction: Uint32Array,
} as const

type LegColumn = keyof typeof LEG_COLUMNS
export type Legs = { [K in LegColumn]: InstanceType<(typeof LEG_COLUMNS)[K]> }

export const OPEN_DAY = 65_535
export const BLANK_VARIATION = 127

/** What one carrier filed: its records lie in bytes `byteFrom` … `byteTo` (half open) of the text that was read. */
export type Block = {
  carrier: string
  timeMode: 'L' | 'U'
  /** Validity, both ends included; `OPEN_DAY` when the end was left open. */
  from: number
  to: number
  /** Line of its carrier record. */
  line: number
  firstLeg: number
  endLeg: number
  byteFrom: number
  byteTo: number
}

/** A data element (record type 4) of the segment from `leg`'s departure to the arrival of the leg `legs - 1` later. */
export type DataElement = { leg: number; legs: number; element: number; text: string }

/** Something dubious that does not keep the schedule from being used. */
export type Warning = { kind: string; count: number; examples: { line: number; text: string }[] }

export type Schedule = {
  blocks: readonly Block[]
  legCount: number
  legs: Legs
  texts: readonly string[]
  /** In the order of `leg`. */
  elements: readonly DataElement[]
  warnings: readonly Warning[]
  /** Records read, padding not counted, and lines, padding counted. */
  records: number
  lines: number
}

const LEG_COLUMN_NAMES = Object.keys(LEG_COLUMNS) as LegColumn[]

function allocate(capacity: number): Legs {
  return Object.fromEntries(LEG_COLUMN_NAMES.map(name => [name, new LEG_COLUMNS[name](capacity)])) as Legs
}

/** Legs that grow while they are read: fill the row `count` of `room()`, then `keep` it. */
export function legTable(): { room(): Legs; keep(): void; count(): number } {
  let capacity = 1024
  let count = 0
  let columns = allocate(capacity)
  return {
    room() {
      if (count === capacity) {
        capacity *= 2
        const larger = allocate(capacity)
        for (const name of LEG_COLUMN_NAMES) larger[name].set(columns[name])
        columns = larger
      }
      return columns
    },
    keep: () => void count++,
    count: () => count,
  }
}

const EXAMPLES_MAX = 5

/** Counts warnings by kind and keeps the first examples of each. */
export function warningList(): { add(kind: string, line: number, text: string): void; list(): Warning[] } {
  const kinds = new Map<string, Warning>()
  return {
    add(kind, line, text) {
      const warning = kinds.get(kind) ?? { kind, count: 0, examples: [] }
      kinds.set(kind, warning)
      warning.count++
      if (warning.examples.length < EXAMPLES_MAX) warning.examples.push({ line, text })
    },
    list: () => [...kinds.values()],
  }
}
