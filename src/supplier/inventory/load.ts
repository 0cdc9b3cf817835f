import type { Database } from '../../db/database.ts'
import { openImage, type Timetable } from '../../timetable/image.ts'
import { buildMarket, type Market } from '../../timetable/market.ts'
import { createSold, growSold, setClosed, setSold } from '../../timetable/sold.ts'
import { parseRate, type Rates, referencePrice } from '../../travel/exchange.ts'
import { dateOf, dayNumber, localDay } from '../../travel/time.ts'
import {
  type InventoryState,
  imageHash,
  readFares,
  readHorizon,
  readImage,
  readLatestRates,
  readSeats,
  readState,
  type SeatRow,
} from './store.ts'
import { type Generation, sameGeneration, type World, type WorldBuffers } from './world.ts'

/** Days before today whose seats still matter: flights that left yesterday somewhere are under way. */
const DAYS_KEPT = 2
const SOLD_CAPACITY = 16_384

/** Images by content, so that two regions with one timetable share it. */
export type ImageCache = Map<string, WeakRef<SharedArrayBuffer>>

/** A loaded world that is kept up to date: the one writer of its seats. */
export type Loaded = {
  world: World
  legByName: ReadonlyMap<string, number>
  /** Seat changes up to this transaction are in. */
  horizon: string
}

/** Loads everything a region sells. Undefined when no schedule has been imported. */
export async function loadWorld(
  database: Database,
  images: ImageCache,
  now: number,
): Promise<Loaded | undefined> {
  const state = await readState(database)
  if (state.imageBytes === 0) return undefined
  const image = await loadImage(database, state, images)
  if (image === undefined) return loadWorld(database, images, now)
  const timetable = openImage(image)
  const rates = await loadRates(database)
  const market = await loadMarket(database, timetable, rates)
  const legByName = new Map<string, number>()
  for (let leg = 0; leg < timetable.counts.legs; leg++)
    legByName.set(timetable.text(timetable.legName[leg]!), leg)
  const generation: Generation = { schedule: state.schedule, fares: state.fares, rates: state.rates }
  const loaded: Loaded = {
    world: { timetable, market, sold: createSold(SOLD_CAPACITY), rates, generation },
    legByName,
    horizon: '0',
  }
  await followSeats(database, loaded, now)
  const after = await readState(database)
  return sameGeneration(after, generation) ? loaded : loadWorld(database, images, now)
}

/** The timetable alone, for who asks what flies. Undefined when no schedule has been imported. */
export async function loadTimetable(database: Database): Promise<Timetable | undefined> {
  const state = await readState(database)
  if (state.imageBytes === 0) return undefined
  const image = await loadImage(database, state, new Map())
  return image === undefined ? loadTimetable(database) : openImage(image)
}

/** The stored image, or undefined when an import replaced it while it was read: its pieces may be of two images then. */
async function loadImage(
  database: Database,
  state: InventoryState,
  images: ImageCache,
): Promise<SharedArrayBuffer | undefined> {
  const known = images.get(state.imageHash)?.deref()
  if (known !== undefined) return known
  const image = await readImage(database, state.imageBytes)
  if (image === undefined || imageHash(new Uint8Array(image)) !== state.imageHash) {
    const { schedule } = await readState(database)
    if (schedule !== state.schedule) return undefined
    throw new Error('The stored timetable is damaged; import the schedule again')
  }
  images.set(state.imageHash, new WeakRef(image))
  return image
}

async function loadMarket(
  database: Database,
  timetable: Timetable,
  rates: Rates | undefined,
): Promise<Market> {
  const fares = await readFares(database)
  const rows = fares.map(fare => ({ ...fare, perKm: parsePerKm(fare.perKm) }))
  return buildMarket(timetable, rows, money => referencePrice(money, rates))
}

function parsePerKm(text: string): { digits: bigint; scale: number } {
  const [whole = '0', decimals = ''] = text.split('.')
  return { digits: BigInt(whole + decimals), scale: decimals.length }
}

/** The rates of the latest day that was imported. */
export async function loadRates(database: Database): Promise<Rates | undefined> {
  const rows = await readLatestRates(database)
  const first = rows[0]
  if (first === undefined) return undefined
  const perEuro = new Map(rows.map(row => [row.currency, parseRate(row.perEuro)!]))
  return { provider: first.provider, asOf: first.asOf, perEuro }
}

/**
 * Brings the seats up to date with the database. Reads what was written since the oldest transaction that was still running at the last
 * look, so that a sale is never missed, however late it commits.
 * @returns whether the table had to be replaced by a larger one, which readers must be given
 */
export async function followSeats(database: Database, loaded: Loaded, now: number): Promise<boolean> {
  const horizon = await readHorizon(database)
  const rows = await readSeats(database, loaded.horizon, dateOf(localDay('UTC', now) - DAYS_KEPT))
  const before = loaded.world.sold
  for (const row of rows) write(loaded, row)
  loaded.horizon = horizon
  return loaded.world.sold !== before
}

function write(loaded: Loaded, row: SeatRow): void {
  const leg = loaded.legByName.get(row.leg)
  if (leg === undefined) return
  const at = { mode: row.mode, leg, day: dayNumber(row.departs)!, cabin: row.cabin }
  const set = () =>
    row.bookingClass === ''
      ? setClosed(loaded.world.sold, at, row.closed === true)
      : setSold(loaded.world.sold, at, row.bookingClass, row.sold)
  while (!set()) {
    loaded.world = { ...loaded.world, sold: growSold(loaded.world.sold) }
  }
}

/** A loaded world as other threads get it. */
export function buffersOf({ world }: Loaded): WorldBuffers {
  return {
    generation: world.generation,
    timetable: world.timetable.buffer,
    market: world.market.buffer,
    sold: world.sold.buffer,
    rates: world.rates,
  }
}
