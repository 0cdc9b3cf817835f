import type { Allowance } from '../settings.ts'

/** Slots of the table: each is one account, mode and bucket that was active lately. 16 bytes a slot, 1 MiB in all. */
const SLOTS = 65_536
/** Slots looked at for one key, from its home slot on. */
const PROBES_MAX = 64
const NS_PER_SECOND = 1_000_000_000n
/** A moment further ahead than this beyond what requests can have used up means that the clock was set back. */
const CLOCK_SLACK_NS = NS_PER_SECOND

/**
 * Counters shared by all threads of a process: `keys` holds the 64-bit hash of who is counted (0: free), `times` the
 * theoretical arrival time of GCRA in nanoseconds.
 */
export type AllowanceTable = { buffer: SharedArrayBuffer; keys: BigInt64Array; times: BigInt64Array }

export type Taken = {
  allowed: boolean
  /** Requests that would be allowed right now. */
  remaining: number
  /** Seconds until the whole quantity is there again, rounded up. */
  resetSeconds: number
  /** Seconds until one request is allowed again: at least 1 when refused, 0 when allowed. */
  retryAfterSeconds: number
}

/**
 * Takes one request from an allowance, exactly: however many threads take at once, no more are allowed than one
 * thread alone would allow.
 *
 * The rule is GCRA with an emission interval of window ÷ quantity and a tolerance of the whole window: a rested
 * caller may use the whole quantity at once, and from then on gets one request back each interval. So the long-run
 * rate is never above the allowance, and any one window sees at most twice the quantity (a burst and its refill).
 *
 * @param key who is counted: `allowanceKey(…)`
 * @param nowMs wall clock in milliseconds, the same clock in all threads; set back, it costs a caller one window at most
 */
export function take(table: AllowanceTable, key: string, allowance: Allowance, nowMs: number): Taken {
  const now = BigInt(Math.round(nowMs * 1000)) * 1000n
  const interval = ceilDivide(BigInt(allowance.windowSeconds) * NS_PER_SECOND, BigInt(allowance.quantity))
  const tolerance = interval * BigInt(allowance.quantity)
  const name = nameOf(key)
  for (;;) {
    const slot = slotOf(table, name, now)
    // Every slot in reach counts somebody who is active now. A limit guards against excess and is no lock, so the
    // caller passes uncounted; the caps on concurrency still hold.
    if (slot === undefined) return taken(true, now, now + interval, interval, tolerance)
    const stored = Atomics.load(table.times, slot)
    const believed = stored - now > tolerance + CLOCK_SLACK_NS ? now + tolerance : stored
    const after = (believed > now ? believed : now) + interval
    const allowed = after - now <= tolerance
    const next = allowed ? after : believed
    if (next !== stored && Atomics.compareExchange(table.times, slot, stored, next) !== stored) continue
    // Given away between finding and counting: what was counted was somebody else's.
    if (Atomics.load(table.keys, slot) !== name) continue
    return taken(allowed, now, next, interval, tolerance)
  }
}

/** A table for this process; hand its `buffer` to the other threads. */
export function allowanceTable(slots: number = SLOTS): AllowanceTable {
  return attachAllowances(new SharedArrayBuffer(slots * 16))
}

/** The table that another thread made. */
export function attachAllowances(buffer: SharedArrayBuffer): AllowanceTable {
  const slots = buffer.byteLength / 16
  return {
    buffer,
    keys: new BigInt64Array(buffer, 0, slots),
    times: new BigInt64Array(buffer, slots * 8, slots),
  }
}

/** Who is counted: one bucket (`search`, `webhooks`) of one mode of one account of one region. */
export function allowanceKey(region: string, accountId: string, mode: string, bucket: string): string {
  return `${region}:${accountId}:${mode}:${bucket}`
}

/** The headers of a limited answer (IETF draft `RateLimit` fields), and `Retry-After` when it is refused. */
export function rateLimitHeaders(name: string, allowance: Allowance, result: Taken): Record<string, string> {
  const headers: Record<string, string> = {
    'RateLimit-Policy': `"${name}";q=${allowance.quantity};w=${allowance.windowSeconds}`,
    RateLimit: `"${name}";r=${result.remaining};t=${result.resetSeconds}`,
  }
  if (!result.allowed) headers['Retry-After'] = String(result.retryAfterSeconds)
  return headers
}

/**
 * The slot of a name, inserted where there was none: into the first free slot from home on, else over the first whose
 * time has passed, for that is as good as free. Losing a race means looking again from the start, so two threads
 * meet in one slot. (Only while a full table gives slots away can they settle in two for a moment, and then the
 * first in order counts.)
 */
function slotOf(table: AllowanceTable, name: bigint, now: bigint): number | undefined {
  const { keys, times } = table
  const probes = Math.min(PROBES_MAX, keys.length)
  const home = Number(BigInt.asUintN(48, name) % BigInt(keys.length))
  for (;;) {
    let place: number | undefined
    let holder = 0n
    for (let i = 0; i < probes; i++) {
      const slot = (home + i) % keys.length
      const found = Atomics.load(keys, slot)
      if (found === name) return slot
      if (found === 0n) {
        place = slot
        holder = 0n
        break
      }
      if (place === undefined && Atomics.load(times, slot) <= now) {
        place = slot
        holder = found
      }
    }
    if (place === undefined) return undefined
    if (Atomics.compareExchange(keys, place, holder, name) === holder && holder === 0n) return place
  }
}

function taken(allowed: boolean, now: bigint, time: bigint, interval: bigint, tolerance: bigint): Taken {
  const used = time > now ? time - now : 0n
  const room = tolerance - used
  return {
    allowed,
    remaining: room > 0n ? Number(room / interval) : 0,
    resetSeconds: Number(ceilDivide(used, NS_PER_SECOND)),
    retryAfterSeconds: allowed
      ? 0
      : Math.max(1, Number(ceilDivide(used + interval - tolerance, NS_PER_SECOND))),
  }
}

/**
 * A 64-bit name for a key, never 0: two multiplicative 32-bit hashes side by side, mixed as in cyrb53. Account ids are
 * random and ours, so nobody can choose one that collides.
 */
function nameOf(key: string): bigint {
  let a = 0xdeadbeef | 0
  let b = 0x41c6ce57 | 0
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x9e3779b1)
    b = Math.imul(b ^ unit, 0x5f356495)
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35)
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35)
  const name = (BigInt(a) << 32n) | BigInt(b >>> 0)
  return name === 0n ? 1n : name
}

function ceilDivide(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b
}
