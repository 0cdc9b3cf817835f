import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../db/database.ts'
import { SCOPES } from '../partner/account.ts'
import { createKey } from '../partner/keyring.ts'
import { createAccount } from '../partner/onboard.ts'
import type { Region } from '../settings.ts'
import type { Mode } from '../supplier/supplier.ts'

/** One region's demo account, as `demo.json` shows it. */
export type DemoAccount = { baseUrl: string; accountId: string; live: string; test: string }

export type DemoNeeds = {
  database: Database
  region: Region
  prefix: string
  pepper: Buffer
  currency: string
}

/** Makes an account with a live and a test key, to try everything with. */
export async function createDemoAccount(
  needs: DemoNeeds,
  now: number,
): Promise<Omit<DemoAccount, 'baseUrl'>> {
  const account = await createAccount(
    needs,
    { name: 'Demo partner', plan: 'enterprise', currency: needs.currency, liveApproved: true },
    now,
  )
  const key = async (mode: Mode) =>
    (
      await createKey(
        needs,
        { accountId: account.id, mode, scopes: SCOPES, name: `demo ${mode}`, maker: 'operator' },
        now,
      )
    ).key
  return { accountId: account.id, live: await key('live'), test: await key('test') }
}

type DemoFile = Partial<Record<Region, DemoAccount>>

const fileOf = (dataDir: string) => join(dataDir, 'demo.json')

/** What `demo.json` says, if there is one. */
export function readDemoFile(dataDir: string): DemoFile {
  const file = fileOf(dataDir)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DemoFile) : {}
}

/** Writes `demo.json`, readable by its owner only. */
export function writeDemoFile(dataDir: string, accounts: DemoFile): void {
  const file = fileOf(dataDir)
  writeFileSync(`${file}.new`, `${JSON.stringify(accounts, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
