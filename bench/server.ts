/** A whole server as a process of its own, with the embedded durable PostgreSQL, for as long as a benchmark runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Database } from '../src/db/database.ts'
import { findEmbedded } from '../src/db/embedded.ts'
import { type House, startHouse } from '../test/support/house.ts'
import type { Counter } from './offers.ts'
import { descendants } from './process.ts'

export type Server = {
  house: House
  /** The international region's listener and a live key. */
  counter: Counter
  /** The international region's database, and a connection to it. */
  url: string
  database: Database
  pid: number
  /** The processes of its PostgreSQL that run now. */
  postgresPids(): number[]
}

/** Starts a server without rate limits that matter, and stops it when `work` is done or the benchmark is broken off. */
export async function withServer<T>(
  env: Readonly<Record<string, string>>,
  work: (server: Server) => Promise<T>,
): Promise<T> {
  const house = await startHouse({ env: { AIRSIDE_LIMITS: 'search.enterprise=100000000/1s', ...env } })
  // A halted process must go on before it can stop.
  const stop = () => house.process.kill('SIGCONT') && house.process.kill('SIGINT')
  const breakOff = () => process.exit(130)
  process.once('exit', stop).once('SIGINT', breakOff).once('SIGTERM', breakOff)
  const { url } = findEmbedded(house.dataDir)!.url('airside_intl')
  const database = connect({ url, poolMax: 2, statementTimeoutMs: 60_000 })
  const pid = house.process.pid!
  try {
    return await work({
      house,
      counter: { port: Number(new URL(house.intl.baseUrl).port), key: house.intl.live },
      url,
      database,
      pid,
      postgresPids: () => descendants(pid),
    })
  } finally {
    await database.close()
    await house.stop()
    process.off('exit', stop).off('SIGINT', breakOff).off('SIGTERM', breakOff)
  }
}

/** Imports a fares file with the operator's command. */
export async function importFares(house: House, csv: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'airside-bench-'))
  const file = join(directory, 'fares.csv')
  try {
    writeFileSync(file, csv)
    await house.command('fares', 'import', file)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
