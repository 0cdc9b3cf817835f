import type { MessagePort } from 'node:worker_threads'
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
  /** Leads to this process's sender of events, where it has one; takes `Due`. */
  sender?: MessagePort | undefined
}

/** What the thread that sends events is started with. */
export type SenderStart = {
  settings: Settings
  /** The master secret. */
  secret: string
  regions: readonly { region: Region; database: ConnectOptions }[]
}

/** A commit has made deliveries due for these endpoints. */
export type Due = { region: Region; endpoints: readonly number[] }

/** From the control thread to the sender. */
export type ToSender =
  /** A port on which another thread says what is due. */
  { kind: 'hear'; port: MessagePort } | { kind: 'collect'; ticket: number } | { kind: 'stop' }

/** From the sender to the control thread. */
export type FromSender =
  | { kind: 'sending' }
  | { kind: 'failed'; message: string }
  | { kind: 'collected'; ticket: number; metrics: object[] }
  | { kind: 'stopped' }

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
