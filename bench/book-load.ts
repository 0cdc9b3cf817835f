/** The partners of the booking benchmark, as a process of their own: connections that book one offer after another. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { dial, post } from './line.ts'
import { bookingBody, type Counter, gatherOffers } from './offers.ts'

export type BookLoad = {
  counter: Counter
  connections: number
  /** Offers gathered before the first booking. */
  offers: number
  seed: number
  /** A day number of travel/time. */
  today: number
  warmUpSeconds: number
  seconds: number
  /** Whether each booking carries an Idempotency-Key of its own. */
  idempotent: boolean
}

export type BookedLoad = {
  /** Bookings answered with 200 in the measured time. */
  booked: number
  /** What else was answered in it, by status and code. */
  others: Record<string, number>
  seconds: number
  /** Of the booked ones. */
  latenciesMs: number[]
}

/** What the process tells: that the measured time begins, and its end. */
export type BookLoadMessage = { kind: 'begun' } | { kind: 'ended'; result: BookedLoad }

const tell = (message: BookLoadMessage) =>
  new Promise<void>(resolve => process.send!(message, undefined, undefined, () => resolve()))

/** Books with all connections at once until the time is over or the offers are. */
async function load(wanted: BookLoad): Promise<void> {
  const offers = await gatherOffers(wanted.counter, wanted.offers, wanted.seed, wanted.today)
  const result: BookedLoad = { booked: 0, others: {}, seconds: 0, latenciesMs: [] }
  let measuring = false
  let over = false
  const partner = async () => {
    const line = dial(wanted.counter.port)
    while (!over) {
      const offer = offers.pop()
      if (offer === undefined) break
      const more = wanted.idempotent ? `Idempotency-Key: ${randomUUID()}\r\n` : ''
      const sentAt = performance.now()
      const answer = await line
        .ask(post('/v1/travel/book', wanted.counter.key, bookingBody(offer), more))
        .catch(() => undefined)
      if (!measuring) continue
      if (answer?.status === 200) {
        result.booked++
        result.latenciesMs.push(performance.now() - sentAt)
      } else {
        const code = answer && /"code":"(\w+)"/.exec(answer.body.toString('latin1'))?.[1]
        const name = answer === undefined ? 'connection lost' : `${answer.status} ${code}`
        result.others[name] = (result.others[name] ?? 0) + 1
      }
    }
    line.close()
  }
  const partners = Promise.all(Array.from({ length: wanted.connections }, partner))
  await sleep(wanted.warmUpSeconds * 1000)
  await tell({ kind: 'begun' })
  measuring = true
  const begunAt = performance.now()
  await Promise.race([sleep(wanted.seconds * 1000), partners])
  measuring = false
  result.seconds = (performance.now() - begunAt) / 1000
  await tell({ kind: 'ended', result })
  over = true
  await partners
  process.disconnect?.()
}

process.on('message', (wanted: BookLoad) => {
  load(wanted).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})
