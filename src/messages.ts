import type { ConnectOptions } from './db/database.ts'
import type { Region, Settings } from './settings.ts'
import type { WorldBuffers } from './supplier/inventory/world.ts'

/** What an API thread is started with. */
export type ThreadStart = {
  settings: Settings
  /** The master secret. */
  secret: string
  regions: readonly RegionStart[]
  allowance: SharedArrayBuffer
}

export type RegionStart = {
  region: Region
  database: ConnectOptions
  /** Shared facts, see pulse.ts. */
  pulse: SharedArrayBuffer
  world: WorldBuffers | undefined
}

/** From the control thread to an API thread. */
export type ToThread =
  | { kind: 'listen'; ports: Readonly<Partial<Record<Region, number>>>; first: boolean }
  | { kind: 'world'; region: Region; world: WorldBuffers }
  | { kind: 'seats followed'; ticket: number }
  | { kind: 'metrics'; ticket: number; text: string }
  | { kind: 'collect'; ticket: number }
  | { kind: 'stop' }

/** From an API thread to the control thread. */
export type FromThread =
  | { kind: 'listening'; ports: Readonly<Partial<Record<Region, number>>> }
  | { kind: 'seats changed'; region: Region; ticket: number }
  | { kind: 'metrics wanted'; ticket: number }
  | { kind: 'collected'; ticket: number; metrics: object[] }
  | { kind: 'failed'; message: string }
  | { kind: 'stopped' }
