/** Stands in for pgbench where there is none: the recorded statements through the pg driver, as a process of its own. */
import { fork } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { RecordedBooking } from './recorded-bookings.ts'

const WARM_UP_MS = 1_000
const DATE = /^\d{4}-\d\d-\d\d$/

type Wanted = { url: string; bookings: readonly RecordedBooking[]; clients: number; seconds: number }

/** Runs recorded bookings on `clients` connections. @returns bookings a second */
export async function runDriverPeer(
  url: string,
  bookings: readonly RecordedBooking[],
  clients: number,
  seconds: number,
): Promise<number> {
  const child = fork(fileURLToPath(import.meta.url), { serialization: 'advanced' })
  child.send({ url, bookings, clients, seconds } satisfies Wanted)
  return new Promise((resolve, reject) => {
    child.once('message', rate => resolve(rate as number))
    child.once('exit', code => reject(new Error(`the driver peer ended with code ${code}`)))
  })
}

async function serve({ url, bookings, clients, seconds }: Wanted): Promise<number> {
  let done = 0
  let over = false
  const client = async () => {
    const connection = new pg.Client({ connectionString: url })
    await connection.connect()
    while (!over) {
      const booking = bookings[randomInt(bookings.length)]!
      const day = `19${randomInt(60, 100)}-0${randomInt(1, 10)}-1${randomInt(10)}`
      const fresh = booking.fresh.map(value => ({
        value: inKind(value),
        by: typeof value === 'string' ? randomBytes(12).toString('hex') : randomBytes(32),
      }))
      for (const { explicit, statements } of booking.transactions) {
        if (explicit) await connection.query({ name: 'begin', text: 'begin' })
        for (const { text, values } of statements) {
          const own = values.map(value => {
            if (Array.isArray(value)) return value.map(one => (DATE.test(String(one)) ? day : inKind(one)))
            const plain = inKind(value)
            return fresh.find(one => String(one.value) === String(plain))?.by ?? plain
          })
          await connection.query({ name: nameOf(text), text, values: own })
        }
        if (explicit) await connection.query({ name: 'commit', text: 'commit' })
      }
      done++
    }
    await connection.end()
  }
  const all = Promise.all(Array.from({ length: clients }, client))
  await Promise.race([all, wait(WARM_UP_MS)])
  const [before, startedAt] = [done, performance.now()]
  await Promise.race([all, wait(seconds * 1000)])
  const rate = (done - before) / ((performance.now() - startedAt) / 1000)
  over = true
  await all
  return rate
}

/** Bytes come out of the message as plain arrays; the driver wants them as Buffers. */
const inKind = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value) : value)

const names = new Map<string, string>()
function nameOf(text: string): string {
  const name = names.get(text) ?? `s${names.size}`
  names.set(text, name)
  return name
}

const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms).unref())

if (import.meta.main) {
  process.once('message', (wanted: Wanted) => {
    serve(wanted).then(
      rate => process.send!(rate, undefined, undefined, () => process.disconnect?.()),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
}
