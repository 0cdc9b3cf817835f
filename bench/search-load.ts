/**
 * Partners that search at a fixed rate whatever the answers take, as a process of their own. Latency counts from the moment at which a
 * search was meant to be sent, so that a server that stalls is not spared the searches it kept from being sent.
 */
import { randomFrom } from '../src/demo/random.ts'
import { dateOf } from '../src/travel/time.ts'
import { dial, type Line, post } from './line.ts'
import type { Counter } from './offers.ts'

export type SearchLoad = {
  counter: Counter
  /** Searches a second. */
  rate: number
  lines: number
  /** Pairs of airports, `LHR SIN`. */
  pairs: readonly string[]
  /** Days of departure, as in travel/time, half open. */
  fromDay: number
  toDay: number
}

/** One search: when it was meant to be sent (ms since 1970), how long after that its answer was whole, and its status, 0 for none. */
export type Searched = { at: number; ms: number; status: number }

const LONGEST_WAIT_MS = 10_000

function start({ counter, rate, lines, pairs, fromDay, toDay }: SearchLoad): () => Promise<Searched[]> {
  const random = randomFrom(7)
  const idle: Line[] = Array.from({ length: lines }, () => dial(counter.port))
  const waiting: number[] = []
  const searched: Searched[] = []
  const begunAt = performance.timeOrigin + performance.now()
  let sent = 0
  let running = 0

  const question = () => {
    const [origin, destination] = pairs[Math.floor(random() * pairs.length)]!.split(' ')
    const departDate = dateOf(fromDay + Math.floor(random() * (toDay - fromDay)))
    return post('/v1/travel/search', counter.key, JSON.stringify({ origin, destination, departDate }))
  }
  const now = () => performance.timeOrigin + performance.now()

  async function ask(line: Line, at: number): Promise<void> {
    running++
    const answer = await line.ask(question()).catch(() => undefined)
    searched.push({ at, ms: now() - at, status: answer?.status ?? 0 })
    running--
    const next = waiting.shift()
    if (next === undefined) idle.push(line)
    else void ask(line, next)
  }

  const timer = setInterval(() => {
    const due = Math.floor(((now() - begunAt) / 1000) * rate) + 1
    for (; sent < due; sent++) {
      const at = begunAt + (sent * 1000) / rate
      const line = idle.pop()
      if (line === undefined) waiting.push(at)
      else void ask(line, at)
    }
  }, 1)

  return async () => {
    clearInterval(timer)
    const until = performance.now() + LONGEST_WAIT_MS
    while (running > 0 && performance.now() < until) await new Promise(resolve => setTimeout(resolve, 5))
    for (const line of idle) line.close()
    return searched
  }
}

let stop: (() => Promise<Searched[]>) | undefined
process.on('message', (message: SearchLoad | 'stop') => {
  if (message !== 'stop') stop = start(message)
  else void stop?.().then(searched => process.send!(searched, undefined, undefined, () => process.exit(0)))
})
