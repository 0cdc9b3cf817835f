import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'

/** The regions a process can serve; region is a property of a listener and its database, never of a request. */
export const REGIONS = ['intl', 'cn'] as const
export type Region = (typeof REGIONS)[number]
const ROLES = ['api', 'dashboard', 'worker'] as const
export type Role = (typeof ROLES)[number]
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent'

/** A rate limit: `quantity` requests in `windowSeconds`. */
export type Allowance = { quantity: number; windowSeconds: number }
export type LimitName = 'search.test' | 'search.developer' | 'search.enterprise' | 'webhooks'
export type Limits = Readonly<Record<LimitName, Allowance>>

export type ConnectionTimes = { DD: number; DI: number; ID: number; II: number }

export type RegionSettings = {
  port: number
  /** Undefined: the embedded PostgreSQL. */
  databaseUrl: string | undefined
  currency: string
}

export type Settings = {
  dataDir: string
  regions: Readonly<Partial<Record<Region, RegionSettings>>>
  host: string
  roles: readonly Role[]
  threads: number
  brand: string
  keyPrefix: string
  /** Undefined: generated into the data directory (embedded database only). */
  secret: string | undefined
  limits: Limits
  /** Minimum connecting time in minutes by the status of arrival and departure, domestic or international. */
  minimumConnection: ConnectionTimes
  longestConnectionMinutes: number
  /** How long a booking call waits for its supplier. */
  bookingWaitMs: number
  /** Waits after the first failed attempt to deliver an event, the second …, in milliseconds. */
  webhookRetryMs: readonly number[]
  /** Networks that endpoints may be in although they are not public, as CIDR. */
  webhookAllow: readonly string[]
  /** A file of certificates trusted beside the usual ones. */
  webhookCa: string | undefined
  /** Name servers for the names of endpoints; the system's own when there are none. */
  webhookDns: readonly string[]
  /** Hours without a success after which an endpoint is disabled; 0 never does. */
  webhookDisableHours: number
  smtpUrl: string | undefined
  mailFrom: string
  log: LogLevel
  /** Settings that are there but unknown, each with the nearest known name; logged at start. */
  warnings: readonly string[]
}

/** Thrown with every fault in the settings at once. */
export class SettingsFault extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(
      `The settings have ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map(f => `  ${f}`).join('\n')}`,
    )
    this.name = 'SettingsFault'
    this.faults = faults
  }
}

const DEFAULT_LIMITS: Limits = {
  'search.test': { quantity: 60, windowSeconds: 60 },
  'search.developer': { quantity: 120, windowSeconds: 60 },
  'search.enterprise': { quantity: 1200, windowSeconds: 60 },
  webhooks: { quantity: 30, windowSeconds: 60 },
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads and checks every setting.
 * @throws SettingsFault naming each faulty setting and what would be right.
 */
export function readSettings(env: Environment = process.env): Settings {
  const faults: string[] = []
  const known = new Set<string>()
  const raw = (name: string): string | undefined => {
    known.add(name)
    const value = env[name]?.trim()
    return value === '' ? undefined : value
  }
  const read = <T>(name: string, fallback: T, right: string, parse: (text: string) => T | undefined): T => {
    const text = raw(name)
    if (text === undefined) return fallback
    const value = parse(text)
    if (value === undefined) faults.push(`${name}=${secretive(name) ? '…' : JSON.stringify(text)}: ${right}`)
    return value ?? fallback
  }
  const whole = (min: number, max: number) => (text: string) =>
    /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined

  const regionNames = read(
    'AIRSIDE_REGIONS',
    [...REGIONS],
    'a comma-separated list of intl and cn',
    subsetOf(REGIONS),
  )
  const port = read('AIRSIDE_PORT', 8080, 'a port from 0 (any free one) to 65535', whole(0, 65_535))
  const portCn = read('AIRSIDE_PORT_CN', 8081, 'a port from 0 (any free one) to 65535', whole(0, 65_535))
  const url = read('AIRSIDE_DATABASE_URL', undefined, DATABASE_URL, databaseUrl)
  const urlCn = read('AIRSIDE_DATABASE_URL_CN', undefined, DATABASE_URL, databaseUrl)
  const regions: Partial<Record<Region, RegionSettings>> = {}
  if (regionNames.includes('intl')) regions.intl = { port, databaseUrl: url, currency: 'USD' }
  if (regionNames.includes('cn')) regions.cn = { port: portCn, databaseUrl: urlCn, currency: 'CNY' }
  if (regions.intl !== undefined && regions.cn !== undefined && port === portCn && port !== 0) {
    faults.push(
      `AIRSIDE_PORT_CN=${portCn}: must differ from AIRSIDE_PORT, each region has a listener of its own`,
    )
  }
  if (url !== undefined && url === urlCn) {
    faults.push(
      'AIRSIDE_DATABASE_URL_CN: must differ from AIRSIDE_DATABASE_URL, each region has a database of its own',
    )
  }
  const secret = read('AIRSIDE_SECRET', undefined, 'at least 32 characters of random text', text =>
    text.length >= 32 ? text : undefined,
  )
  const external = Object.values(regions).some(region => region.databaseUrl !== undefined)
  if (external && secret === undefined && raw('AIRSIDE_SECRET') === undefined) {
    faults.push(
      'AIRSIDE_SECRET: must be set when the database is external; use at least 32 random characters',
    )
  }

  const settings: Omit<Settings, 'warnings'> = {
    dataDir: resolve(raw('AIRSIDE_DATA_DIR') ?? '.airside'),
    regions,
    host: read('AIRSIDE_HOST', '127.0.0.1', 'a host name or address', t =>
      /^[0-9A-Za-z.:_-]{1,253}$/.test(t) ? t : undefined,
    ),
    roles: read(
      'AIRSIDE_ROLES',
      [...ROLES],
      'a comma-separated list of api, dashboard and worker',
      subsetOf(ROLES),
    ),
    threads: read(
      'AIRSIDE_THREADS',
      Math.min(availableParallelism(), 64),
      'a number of API threads from 1 to 64',
      whole(1, 64),
    ),
    brand: read(
      'AIRSIDE_BRAND',
      'Airside',
      'letters, digits and hyphens, at most 32: it becomes part of a header',
      t => (/^[0-9A-Za-z][0-9A-Za-z-]{0,31}$/.test(t) ? t : undefined),
    ),
    keyPrefix: read('AIRSIDE_KEY_PREFIX', 'air', '2 to 8 lower-case letters', t =>
      /^[a-z]{2,8}$/.test(t) ? t : undefined,
    ),
    secret,
    limits: read('AIRSIDE_LIMITS', DEFAULT_LIMITS, LIMITS, limits),
    minimumConnection: read(
      'AIRSIDE_MINIMUM_CONNECTION',
      { DD: 30, DI: 60, ID: 90, II: 90 },
      'minutes by status, for example DD=30,DI=60,ID=90,II=90',
      connectionTimes,
    ),
    longestConnectionMinutes: read(
      'AIRSIDE_LONGEST_CONNECTION',
      480,
      'minutes from 30 to 1439',
      whole(30, 1439),
    ),
    bookingWaitMs: read('AIRSIDE_BOOKING_WAIT', 5000, 'milliseconds from 100 to 30000', whole(100, 30_000)),
    webhookRetryMs: read(
      'AIRSIDE_WEBHOOK_RETRY',
      [30_000, 300_000, 3_000_000],
      'one to three rising waits such as 30s,5m,50m',
      retryWaits,
    ),
    webhookAllow: read(
      'AIRSIDE_WEBHOOK_ALLOW',
      [],
      'networks such as 10.0.0.0/8,fd00::/8',
      listOf(isNetwork),
    ),
    webhookCa: raw('AIRSIDE_WEBHOOK_CA'),
    webhookDns: read(
      'AIRSIDE_WEBHOOK_DNS',
      [],
      'addresses such as 10.0.0.2 or 10.0.0.2:5353',
      listOf(isServer),
    ),
    webhookDisableHours: read(
      'AIRSIDE_WEBHOOK_DISABLE',
      72,
      'hours from 1 to 720, or 0 for never',
      whole(0, 720),
    ),
    smtpUrl: read('AIRSIDE_SMTP_URL', undefined, 'smtp://user:password@host:port or smtps://…', t =>
      /^smtps?:\/\/[^\s/]+/.test(t) && URL.canParse(t) ? t : undefined,
    ),
    mailFrom: read(
      'AIRSIDE_MAIL_FROM',
      'Airside <bookings@localhost>',
      'an address such as "Acme <bookings@example.com>"',
      t => (/^[^\r\n]{3,254}$/.test(t) && t.includes('@') ? t : undefined),
    ),
    log: read('AIRSIDE_LOG', 'info', 'one of fatal, error, warn, info, debug, silent', t =>
      ['fatal', 'error', 'warn', 'info', 'debug', 'silent'].includes(t) ? (t as LogLevel) : undefined,
    ),
  }
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    faults.push(
      'NODE_TLS_REJECT_UNAUTHORIZED=0: events would go to anybody; trust a private authority with AIRSIDE_WEBHOOK_CA',
    )
  }
  const unknown = Object.keys(env)
    .filter(name => name.startsWith('AIRSIDE_') && !known.has(name))
    .map(name => `${name}: there is no such setting; did you mean ${nearest(name, known)}?`)
  if (faults.length > 0) throw new SettingsFault(faults)
  return Object.freeze({ ...settings, warnings: unknown })
}

const DATABASE_URL = 'a PostgreSQL address such as postgres://user:password@host:5432/airside'
const LIMITS = 'overrides such as search.enterprise=100000/60s,webhooks=30/60s'

const secretive = (name: string) => /SECRET|URL/.test(name)

function subsetOf<T extends string>(all: readonly T[]): (text: string) => T[] | undefined {
  return text => {
    const parts = text.split(',').map(part => part.trim())
    return parts.every(part => (all as readonly string[]).includes(part))
      ? all.filter(name => parts.includes(name))
      : undefined
  }
}

function databaseUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  return ['postgres:', 'postgresql:'].includes(new URL(text).protocol) ? text : undefined
}

function limits(text: string): Limits | undefined {
  const out: Record<string, Allowance> = { ...DEFAULT_LIMITS }
  for (const part of text.split(',')) {
    const match = /^\s*([a-z.]+)\s*=\s*(\d{1,9})\s*\/\s*(\d{1,5})s\s*$/.exec(part)
    if (match === null || !(match[1]! in DEFAULT_LIMITS)) return undefined
    const quantity = Number(match[2])
    const windowSeconds = Number(match[3])
    if (quantity < 1 || windowSeconds < 1) return undefined
    out[match[1]!] = { quantity, windowSeconds }
  }
  return out as Limits
}

function connectionTimes(text: string): ConnectionTimes | undefined {
  const out: Record<string, number> = { DD: 30, DI: 60, ID: 90, II: 90 }
  for (const part of text.split(',')) {
    const match = /^\s*(DD|DI|ID|II)\s*=\s*(\d{1,3})\s*$/.exec(part)
    if (match === null) return undefined
    out[match[1]!] = Number(match[2])
  }
  return out as ConnectionTimes
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

function retryWaits(text: string): number[] | undefined {
  const waits = text.split(',').map(part => {
    const match = /^\s*(\d{1,6})(ms|s|m|h)\s*$/.exec(part)
    return match === null ? Number.NaN : Number(match[1]) * UNITS[match[2]!]!
  })
  const rising = waits.every(
    (wait, i) => wait >= 1 && wait <= 24 * UNITS.h! && (i === 0 || wait >= waits[i - 1]!),
  )
  return rising && waits.length <= 3 ? waits : undefined
}

function listOf(right: (part: string) => boolean): (text: string) => string[] | undefined {
  return text => {
    const parts = text.split(',').map(part => part.trim())
    return parts.every(right) ? parts : undefined
  }
}

function isNetwork(text: string): boolean {
  const [address = '', bits = ''] = text.split('/')
  const family = isIP(address)
  return family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
}

/** An address, with a port if it must be: `10.0.0.2`, `10.0.0.2:5353`, `[fd00::2]:5353`. */
function isServer(text: string): boolean {
  const match = /^\[(.+)\](?::\d{1,5})?$/.exec(text) ?? /^([\d.]+):\d{1,5}$/.exec(text)
  return isIP(match?.[1] ?? text) !== 0
}

function nearest(name: string, known: ReadonlySet<string>): string {
  const shares = (other: string) => [...other].filter((letter, i) => name[i] === letter).length
  return [...known].sort((a, b) => shares(b) - shares(a))[0]!
}
