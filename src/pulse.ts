import { monotonicMs } from './partner/admit.ts'

/**
 * What all threads of a process know of one region's database at this moment: the key generation, and when it was last read. Written by the
 * control thread's pulse, read by every request without asking anybody.
 */
export type Pulse = { readonly buffer: SharedArrayBuffer; readonly words: BigInt64Array }

const KEYS = 0
const FRESH_AT = 1
const STAGE = 2
/** The database's clock minus the monotonic one, in milliseconds. */
const CLOCK = 3
const WORDS = 4

/** Where the process stands: everything is opened, then requests are welcome, then it stops. */
const STAGES = { starting: 0n, serving: 1n, stopping: 2n } as const

/** A pulse that has not beaten yet, or the view of another thread's. */
export function pulse(buffer = new SharedArrayBuffer(8 * WORDS)): Pulse {
  return { buffer, words: new BigInt64Array(buffer) }
}

/**
 * Notes what was read from the database.
 * @param databaseNow its time, asked for at `sentAt` and answered at `answeredAt`; both by `monotonicMs`
 */
export function beat(
  { words }: Pulse,
  keyGeneration: number,
  databaseNow: number,
  sentAt: number,
  answeredAt: number,
): void {
  Atomics.store(words, CLOCK, BigInt(Math.round(databaseNow - (sentAt + answeredAt) / 2)))
  Atomics.store(words, KEYS, BigInt(keyGeneration))
  Atomics.store(words, FRESH_AT, BigInt(Math.floor(sentAt)))
}

/** The key generation last read. */
export function keyGeneration({ words }: Pulse): number {
  return Number(Atomics.load(words, KEYS))
}

/** When it was read, by `monotonicMs`. */
export function freshAt({ words }: Pulse): number {
  return Number(Atomics.load(words, FRESH_AT))
}

/**
 * The time by the database's clock, carried on by the monotonic one: milliseconds since 1970, the same in all processes of a region whatever
 * their own clocks say, and never stepping back.
 */
export function clock({ words }: Pulse): () => number {
  let last = 0
  return () => {
    last = Math.max(last, Math.round(monotonicMs()) + Number(Atomics.load(words, CLOCK)))
    return last
  }
}

/** How old the last beat is, in milliseconds. */
export function age(of: Pulse): number {
  return monotonicMs() - freshAt(of)
}

/** Tells all threads where the process stands. */
export function enter({ words }: Pulse, stage: keyof typeof STAGES): void {
  Atomics.store(words, STAGE, STAGES[stage])
}

/** Whether requests are welcome: everything is open, and nothing is about to stop. */
export function isServing({ words }: Pulse): boolean {
  return Atomics.load(words, STAGE) === STAGES.serving
}
