import type { Queryable } from './database.ts'

/** The database's time in milliseconds since 1970, by its own clock: the one that all machines of a region share. */
export async function readClock(db: Queryable): Promise<number> {
  const rows = await db.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
  )
  return rows[0]!.now
}
