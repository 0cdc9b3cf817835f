import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConnectOptions } from './db/database.ts'
import { type Embedded, findEmbedded, startEmbedded } from './db/embedded.ts'
import type { Logger } from './log.ts'
import type { Region, Settings } from './settings.ts'

/** Each region's database, and what else must be stopped at the end. */
export type Databases = { of(region: Region): ConnectOptions; stop(): Promise<void> }

const nameOf = (region: Region) => `airside_${region}`

/** The databases of all regions this process serves: the operator's own, or the embedded PostgreSQL, started here. */
export async function openDatabases(settings: Settings, log: Logger): Promise<Databases> {
  const embedded = needsEmbedded(settings)
    ? await startEmbedded({ dataDir: settings.dataDir, log })
    : undefined
  return databases(settings, embedded)
}

/**
 * The same databases for a command: those of the server that is running, or, when none is, the embedded PostgreSQL started for the time that the
 * command takes.
 */
export async function borrowDatabases(settings: Settings, log: Logger): Promise<Databases> {
  if (!needsEmbedded(settings)) return databases(settings, undefined)
  const running = findEmbedded(settings.dataDir)
  if (running !== undefined) return databases(settings, { ...running, stop: async () => {} })
  return openDatabases(settings, log)
}

function needsEmbedded(settings: Settings): boolean {
  return Object.values(settings.regions).some(region => region.databaseUrl === undefined)
}

function databases(settings: Settings, embedded: Embedded | undefined): Databases {
  return {
    of(region) {
      const url = settings.regions[region]?.databaseUrl
      return url === undefined ? embedded!.url(nameOf(region)) : { url }
    },
    async stop() {
      await embedded?.stop()
    },
  }
}

/**
 * The master secret: the operator's, or one that is made once and kept in the data directory. It must outlive the database, for keys, offers and
 * travellers' data cannot be read without it.
 */
export function masterSecret(settings: Settings): string {
  if (settings.secret !== undefined) return settings.secret
  const file = join(settings.dataDir, 'secret')
  if (!existsSync(file)) {
    mkdirSync(settings.dataDir, { recursive: true })
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  }
  chmodSync(file, 0o600)
  return readFileSync(file, 'utf8').trim()
}
