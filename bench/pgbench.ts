/** Recorded bookings as scripts for pgbench: the same statements, prepared, with fresh keys and days each time. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Noted, RecordedBooking } from './recorded-bookings.ts'

/** Reports of the first seconds, in which pgbench prepares its statements, do not count. */
const WARM_UP_SECONDS = 2

/** What pgbench is here, or undefined where there is none. */
export function pgbenchVersion(): string | undefined {
  const { status, stdout } = spawnSync('pgbench', ['--version'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** Scripts, and the values of their variables that stay the same. */
export type Scripts = { texts: readonly string[]; constants: ReadonlyMap<string, string> }

/**
 * One script a booking. Booking id, offer hash and idempotency key are numbers drawn anew, and flights leave on days of the past, where
 * no search looks; everything else is as it was recorded.
 */
export function scriptsOf(bookings: readonly RecordedBooking[]): Scripts {
  const names = new Map<string, string>()
  const constant = (value: string) => {
    const name = names.get(value) ?? `c${names.size}`
    names.set(value, name)
    return `:${name}`
  }
  const texts = bookings.map(booking => {
    const fresh = new Set(booking.fresh.map(inText))
    const lines = ['\\set key random(1, 9000000000000000000)', `\\set day ${DAY}`]
    for (const { explicit, statements } of booking.transactions) {
      const own = statements.map(statement => `${inScript(statement, fresh, constant)};`)
      lines.push(...(explicit ? ['begin;', ...own, 'commit;'] : own))
    }
    return `${lines.join('\n')}\n`
  })
  return { texts, constants: new Map([...names].map(([value, name]) => [name, value])) }
}

/** A date from 1960 to 1999 as a number, which PostgreSQL reads as a date. */
const DAY = 'random(1960, 1999) * 10000 + random(1, 12) * 100 + random(1, 28)'
const DATE = /^\d{4}-\d\d-\d\d$/

/** A statement with variables in place of its parameters. */
function inScript(
  { text, values }: Noted,
  fresh: ReadonlySet<string>,
  constant: (value: string) => string,
): string {
  // A colon before a letter is a variable to pgbench, also inside of a literal.
  const plain = text.trim().replace(/(?<!:):(?=\w)/g, ":' || '")
  return plain.replace(/\$(\d+)/g, (_, n) => {
    const value = values[Number(n) - 1]
    if (value === null || value === undefined) return 'null'
    if (Array.isArray(value) && value.length > 0 && value.every(one => DATE.test(String(one)))) {
      return `array[${value.map(() => ':day').join(',')}]`
    }
    // A variable cannot be empty.
    if (value === '') return "''"
    return fresh.has(inText(value)) ? ':key' : constant(inText(value))
  })
}

/** A value as PostgreSQL reads it from text. */
function inText(value: unknown): string {
  if (Buffer.isBuffer(value) || value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) {
    const quoted = value.map(one => (one === null ? 'NULL' : `"${inText(one).replace(/[\\"]/g, '\\$&')}"`))
    return `{${quoted.join(',')}}`
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Runs the scripts, each as often as the others. @returns bookings a second, the first seconds left out */
export async function runPgbench(
  url: string,
  { texts, constants }: Scripts,
  clients: number,
  seconds: number,
): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'airside-pgbench-'))
  try {
    const files = texts.map((text, i) => {
      const file = join(directory, `${i}.sql`)
      writeFileSync(file, text)
      return file
    })
    const words = [
      ...['-n', '-M', 'prepared', '-P', '1', '-T', String(seconds + WARM_UP_SECONDS)],
      ...['-c', String(clients), '-j', String(Math.min(clients, 2))],
      ...[...constants].flatMap(([name, value]) => ['-D', `${name}=${value}`]),
      ...files.flatMap(file => ['-f', file]),
      url,
    ]
    const child = spawn('pgbench', words, { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    child.stdout.resume()
    child.stderr.on('data', chunk => {
      said += chunk
    })
    const code = await new Promise(resolve => child.once('close', resolve))
    if (code !== 0) throw new Error(`pgbench failed:\n${said.slice(-2000)}`)
    const rates = [...said.matchAll(/^progress: [\d.]+ s, ([\d.]+) tps/gm)].map(match => Number(match[1]))
    const counted = rates.slice(WARM_UP_SECONDS)
    return counted.reduce((sum, rate) => sum + rate, 0) / counted.length
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
