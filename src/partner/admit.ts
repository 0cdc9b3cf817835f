import type { Queryable } from '../db/database.ts'
import { isUnavailable } from '../db/failure.ts'
import { Refusal } from '../refusal.ts'
import type { Region } from '../settings.ts'
import type { Caller, Scope } from './account.ts'
import { hashKey, keyLength, readKey, sameHash } from './key.ts'
import { type FoundKey, findKey } from './store.ts'

/** How old the knowledge that an admission rests on may be: a revoked key is refused everywhere after this long. */
export const KNOWLEDGE_MAX_MS = 1000
/** Keys remembered, in each thread. */
const KNOWN_MAX = 10_000
/** Hashes remembered as unknown: fewer, for anybody can make them up. */
const UNKNOWN_MAX = 1000
/** Look-ups under way at once, so that a flood of made-up keys cannot take all the database's connections. */
const LOOKUPS_MAX = 64

export type AdmissionNeeds = {
  database: Queryable
  region: Region
  /** Key prefix, see settings. */
  prefix: string
  /** `deriveKey(secret, PEPPER_PURPOSE)` */
  pepper: Buffer
  /** The key generation as last read, see `readGeneration`. */
  generation(): number
  /** When the last successful reading of the generation was *sent*, by `monotonicMs`. */
  freshAt(): number
}

export type Admission = {
  /**
   * Who stands behind a request, from its headers alone.
   * @param rawHeaders names and values in turn, as node:http gives them: only there a header sent twice can be seen
   * @param now milliseconds since 1970, for keys that expire
   * @throws Refusal unauthorized, invalid_key or forbidden; service_unavailable when the database must be asked and cannot answer
   */
  admit(rawHeaders: readonly string[], now: number): Promise<Caller>
}

/**
 * Admits callers by their key. What the database said of a key is remembered as long as the key generation stays the
 * same and was seen to be so within the last second; else the database is asked again. So a revocation holds on every
 * machine within a second of its commit, even on one that can no longer reach the database.
 */
export function admission(needs: AdmissionNeeds): Admission {
  const { database, region, prefix, pepper, generation, freshAt } = needs
  const known = new Map<string, FoundKey>()
  const unknown = new Set<string>()
  let lookUps = new Map<string, Promise<FoundKey | undefined>>()
  let open = 0
  let seen = generation()

  async function admit(rawHeaders: readonly string[], now: number): Promise<Caller> {
    const text = bearer(rawHeaders, prefix)
    const reading = readKey(prefix, text)
    if (reading.kind === 'unprefixed') throw new Refusal('unauthorized', unprefixed(prefix))
    if (reading.kind === 'malformed') throw new Refusal('invalid_key', malformed(prefix))
    if (reading.kind === 'mistyped') throw new Refusal('invalid_key', MISTYPED)
    return judge(await find(hashKey(pepper, text)), now, prefix)
  }

  async function find(hash: Buffer): Promise<FoundKey | undefined> {
    const current = generation()
    if (current !== seen) {
      seen = current
      known.clear()
      unknown.clear()
      // Forgotten, not stopped: who waits for one gets its answer, who comes now gets a newer one.
      lookUps = new Map()
    }
    const name = hash.toString('latin1')
    if (monotonicMs() - freshAt() <= KNOWLEDGE_MAX_MS) {
      const found = known.get(name)
      if (found !== undefined || unknown.has(name)) return found
    }
    const under = lookUps.get(name)
    if (under !== undefined) return under
    if (open >= LOOKUPS_MAX) throw unavailable('too many keys to look up at once')
    const flights = lookUps
    const lookUp = ask(hash, name, current).finally(() => flights.delete(name))
    flights.set(name, lookUp)
    return lookUp
  }

  async function ask(hash: Buffer, name: string, asOf: number): Promise<FoundKey | undefined> {
    const askedAt = monotonicMs()
    open++
    try {
      const row = await findKey(database, region, hash)
      // The answer tells how things stood when it was asked for, and may be as old as any other knowledge.
      if (monotonicMs() - askedAt > KNOWLEDGE_MAX_MS) throw unavailable('the look-up of a key took too long')
      const found = row !== undefined && sameHash(row.hash, hash) ? row : undefined
      // Read before the question: whatever changed since has raised, or will raise, the generation above it.
      if (asOf === seen) remember(name, found)
      return found
    } catch (error) {
      throw isUnavailable(error) ? unavailable(error) : error
    } finally {
      open--
    }
  }

  function remember(name: string, found: FoundKey | undefined): void {
    if (found !== undefined) {
      if (known.size >= KNOWN_MAX) known.delete(known.keys().next().value!)
      known.set(name, found)
    } else {
      if (unknown.size >= UNKNOWN_MAX) unknown.clear()
      unknown.add(name)
    }
  }

  return { admit }
}

/**
 * Refuses a caller whose key lacks a scope.
 * @throws Refusal forbidden, naming the scope
 */
export function requireScope(caller: Caller, scope: Scope): void {
  if (caller.scopes.has(scope)) return
  throw new Refusal(
    'forbidden',
    `This API key lacks the scope "${scope}". Use a key that has it, or create one with it in the dashboard (Settings, API keys).`,
  )
}

/** Milliseconds of a clock that never goes back and is the same in all threads of a machine (performance.now is not). */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

/** The credential of the one `Authorization: Bearer …` header; the scheme in any case, as RFC 9110 has it. */
function bearer(rawHeaders: readonly string[], prefix: string): string {
  let value: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length !== 13 || name.toLowerCase() !== 'authorization') continue
    if (value !== undefined) throw new Refusal('unauthorized', TWICE)
    value = rawHeaders[i + 1]!
  }
  if (value === undefined) throw new Refusal('unauthorized', missing(prefix))
  const credential = /^bearer +(.+)$/i.exec(value)?.[1]?.trim()
  if (credential === undefined || credential === '') throw new Refusal('unauthorized', missing(prefix))
  // Two headers that a proxy has joined into one count as sent twice.
  if (/[\s,]/.test(credential)) throw new Refusal('unauthorized', TWICE)
  return credential
}

/** @throws Refusal where the key is unknown, revoked, expired, or live before its account is */
function judge(found: FoundKey | undefined, now: number, prefix: string): Caller {
  if (found === undefined) throw new Refusal('invalid_key', UNKNOWN)
  if (found.revoked) throw new Refusal('unauthorized', REVOKED)
  if (found.expiresAt !== undefined && found.expiresAt <= now) throw new Refusal('unauthorized', EXPIRED)
  if (found.caller.mode === 'live' && !found.liveApproved) throw new Refusal('forbidden', unapproved(prefix))
  return found.caller
}

function unavailable(cause: unknown): Refusal {
  const refusal = new Refusal(
    'service_unavailable',
    'Your API key cannot be checked right now. Try again in a second.',
    {
      retryAfterSeconds: 1,
    },
  )
  refusal.cause = cause
  return refusal
}

const missing = (prefix: string) =>
  `Send your API key in the header "Authorization: Bearer ${prefix}_live_…" (or ${prefix}_test_…) with every request.`
const TWICE = 'The header Authorization carries more than one credential. Send it once, with one API key.'
const unprefixed = (prefix: string) =>
  `This is not an API key: keys begin with ${prefix}_live_ or ${prefix}_test_. Copy the whole key as it was shown when it was created.`
const malformed = (prefix: string) =>
  `This API key is not whole: a key has ${keyLength(prefix)} letters, digits and underscores. Copy it again as it was shown when it was created.`
const MISTYPED =
  'This API key is mistyped: its checksum is wrong. Copy it again as it was shown when it was created.'
const UNKNOWN =
  'This API key is not known here. Check that the key belongs to this address (international or China) and that it was not deleted; you can create a new one in the dashboard (Settings, API keys).'
const REVOKED =
  'This API key was revoked. Use another key, or create a new one in the dashboard (Settings, API keys).'
const EXPIRED =
  'This API key has expired. Use the key that replaced it, or create a new one in the dashboard (Settings, API keys).'
const unapproved = (prefix: string) =>
  `Your account is not approved for live yet. Use a test key (${prefix}_test_…) until it is, or ask for approval.`
