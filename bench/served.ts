import { setTimeout as sleep } from 'node:timers/promises'
import { dial, type Line, post } from './line.ts'
import type { Counter } from './offers.ts'

/** Connections that ask: enough that each thread very likely holds one, few enough to cost little. */
const LINES = 6
const EVERY_MS = 50
const WITHIN_MS = 60_000

/**
 * Asks one question of a server over several connections until all answers tell of other flights or prices than the first did, as they do
 * when an import is served by every thread. Call it before the import begins.
 * @returns that moment, in ms since 1970
 * @throws Error when nothing has changed after a minute
 */
export async function servedAnew(counter: Counter, departDate: string): Promise<number> {
  const lines = Array.from({ length: LINES }, () => dial(counter.port))
  const body = JSON.stringify({ origin: 'LHR', destination: 'JFK', departDate })
  const ask = async (line: Line) => {
    const answer = await line.ask(post('/v1/travel/search', counter.key, body))
    return (answer.body.toString('latin1').match(/"(flightNumber|amount)":[^,]+/g) ?? []).join()
  }
  const old = await ask(lines[0]!)
  const until = Date.now() + WITHIN_MS
  for (;;) {
    const answers = await Promise.all(lines.map(ask))
    if (answers.every(answer => answer !== old)) break
    if (Date.now() > until) throw new Error('the server did not take up the import within a minute')
    await sleep(EVERY_MS)
  }
  for (const line of lines) line.close()
  return Date.now()
}
