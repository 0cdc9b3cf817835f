import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/** What the embedded PostgreSQL of a data directory has written about itself; undefined while it is not ready. */
export function embeddedPostgres(dataDir: string): { pid: number; url: string } | undefined {
  const cluster = [join(dataDir, 'postgres'), join(dataDir, 'postgres', 'postgres')].find(place =>
    existsSync(join(place, 'postmaster.pid')),
  )
  if (cluster === undefined) return undefined
  try {
    const lines = readFileSync(join(realpathSync(cluster), 'postmaster.pid'), 'utf8').split('\n')
    if (lines[7]?.trim() !== 'ready') return undefined
    const password = readFileSync(join(cluster, 'airside.password'), 'utf8')
    const socket = encodeURIComponent(lines[4]!)
    return {
      pid: Number(lines[0]),
      url: `postgresql://airside:${password}@localhost/airside_intl?host=${socket}`,
    }
  } catch {
    return undefined
  }
}
