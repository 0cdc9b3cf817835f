import { openImage } from '../../timetable/image.ts'
import { openMarket } from '../../timetable/market.ts'
import type { Stall } from '../../timetable/quote.ts'
import { openSold } from '../../timetable/sold.ts'
import type { Rates } from '../../travel/exchange.ts'

/** What one region has for sale, as it is handed from the thread that loads it to those that search it: shared buffers, never copied. */
export type WorldBuffers = {
  generation: Generation
  timetable: SharedArrayBuffer
  market: SharedArrayBuffer
  sold: SharedArrayBuffer
  rates: Rates | undefined
}

/** Raised by imports: which schedule, fares and rates a world was made from. */
export type Generation = { schedule: number; fares: number; rates: number }

/** A world opened for reading. */
export type World = Stall & { generation: Generation; rates: Rates | undefined }

/** Opens what another thread has loaded. */
export function openWorld(buffers: WorldBuffers): World {
  return {
    generation: buffers.generation,
    timetable: openImage(buffers.timetable),
    market: openMarket(buffers.market),
    sold: openSold(buffers.sold),
    rates: buffers.rates,
  }
}

/** Whether two worlds were made from the same imports. */
export function sameGeneration(a: Generation, b: Generation): boolean {
  return a.schedule === b.schedule && a.fares === b.fares && a.rates === b.rates
}
