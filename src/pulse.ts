import { monotonicMs } from './partner/admit.ts'

/**
 * What all threads of a process know of one region's database at this moment: the key generation, and when it was last read. Written by the
 * control thread's pulse, read by every request without asking anybody.
 */
export type Pulse = { readonly buffer: SharedArrayBuffer; readonly words: BigInt64Array }

const KEYS = 0
const FRESH_AT = 1
const STAGE = 2
const WORDS = 3

/** Where the process stands: everything is opened, then requests are welcome, then it stops. */
const STAGES = { starting: 0n, serving: 1n, stopping: 2n } as const

/** A pulse that has not beaten yet, or the view of another thread's. */
export function pulse(buffer = new SharedArrayBuffer(8 * WORDS)): Pulse {
  return { buffer, words: new BigInt64Array(buffer) }
}

/** Notes what was read by a query sent at `sentAt` (see `monotonicMs`). */
export function beat({ words }: Pulse, keyGeneration: number, sentAt: number): void {
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
