import { Refusal } from '../refusal.ts'

/**
 * Lets at most `max` pieces of work run at once in this thread; further ones are refused at once rather than queued, so that what has been
 * accepted keeps its speed.
 * @returns a function that runs a piece of work, or throws Refusal service_unavailable
 */
export function crowdLimit(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  return async work => {
    if (running >= max) {
      throw new Refusal(
        'service_unavailable',
        'Too many of these requests run at once; try again in a second.',
        { retryAfterSeconds: 1 },
      )
    }
    running++
    try {
      return await work()
    } finally {
      running--
    }
  }
}
