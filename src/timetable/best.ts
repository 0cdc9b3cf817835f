import type { Order } from './journey.ts'

/** The best so far of what a search met, in order: at most `capacity`. */
export type Best<T> = {
  readonly capacity: number
  readonly order: Order<T>
  readonly list: T[]
}

/** An empty list of the best. */
export function best<T>(capacity: number, order: Order<T>): Best<T> {
  return { capacity, order, list: [] }
}

/** The one that a newcomer has to beat, or undefined while there is room. */
export function worst<T>(kept: Best<T>): T | undefined {
  return kept.list.length < kept.capacity ? undefined : kept.list[kept.capacity - 1]
}

/**
 * Takes in a newcomer if it is among the best.
 * @param same of two that are the same thing under two names, only the better is kept
 */
export function keep<T>(kept: Best<T>, newcomer: T, same?: (a: T, b: T) => boolean): void {
  if (kept.capacity === 0) return
  const { list, order } = kept
  const last = worst(kept)
  if (last !== undefined && order(newcomer, last) > 0) return
  if (same !== undefined) {
    const twin = list.findIndex(other => same(newcomer, other))
    if (twin >= 0) {
      if (order(newcomer, list[twin]!) >= 0) return
      list.splice(twin, 1)
    }
  }
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (order(list[middle]!, newcomer) <= 0) low = middle + 1
    else high = middle
  }
  list.splice(low, 0, newcomer)
  if (list.length > kept.capacity) list.pop()
}
