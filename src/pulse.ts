import { monotonicMs } from './partner/admit.ts'

/**
 * What all threads of a process know of one region's database at this moment: the key generation, and when it was last read. Written by the
 * control thread's pulse, read by every request without asking anybody.
 */
export type Pulse = { readonly buffer: SharedArrayBuffer; readonly words: BigInt64Array }

const KEYS = 0
const FRESH_AT = 1
const STOPPING = 2
const WORDS = 3

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

/** Tells all threads that the process is about to stop: not ready any more. */
export function announceStop({ words }: Pulse): void {
  Atomics.store(words, STOPPING, 1n)
}

export function isStopping({ words }: Pulse): boolean {
  return Atomics.load(words, STOPPING) === 1n
}
