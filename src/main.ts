import type { MessagePort } from 'node:worker_threads'
import { createPostman } from './booking/confirmation/send.ts'
import { masterSecret, openDatabases } from './databases.ts'
import { connect, type Database } from './db/database.ts'
import { migrate } from './db/migrate.ts'
import { createDemoAccount, type DemoAccount, readDemoFile, writeDemoFile } from './demo/accounts.ts'
import { extendDemo, fillDemo } from './demo/fill.ts'
import { type Follower, follow } from './follow.ts'
import { createLog, type Logger } from './log.ts'
import type { Due } from './messages.ts'
import { collectProcessMetrics } from './metrics.ts'
import { allowanceTable } from './partner/allowance.ts'
import { PEPPER_PURPOSE } from './partner/key.ts'
import { enter, type Pulse, pulse } from './pulse.ts'
import { deriveKey } from './secret.ts'
import { type Region, readSettings, type Settings } from './settings.ts'
import { type Sender, startSender } from './start-sender.ts'
import { createInventory, INVENTORY } from './supplier/inventory/inventory.ts'
import type { ImageCache } from './supplier/inventory/load.ts'
import { rulesOf } from './supplier/inventory/rules.ts'
import { renewImage } from './supplier/inventory/schedule.ts'
import { startThreads, type Threads } from './threads.ts'
import { dueIn } from './webhook/wake.ts'
import { welcome } from './welcome.ts'
import { loop } from './worker/loop.ts'
import { startWorker } from './worker/worker.ts'

/** A request that was under way may finish within this; then the process ends. */
const STOP_WITHIN_MS = 9_500
/** Load balancers are given this long to notice that we are no longer ready. */
const NOTICE_MS = 200
const DEMO_EVERY_MS = 60 * 60_000
/** Imports and compiling take longer than a request may. */
const CONTROL = {
  poolMax: 6,
  statementTimeoutMs: 120_000,
  lockTimeoutMs: 60_000,
  idleInTransactionTimeoutMs: 120_000,
}

type RegionHouse = { region: Region; database: Database; pulse: Pulse; follower: Follower }

/** Starts everything that the settings ask for. Returns the way to stop it. */
export async function start(settings: Settings, log: Logger): Promise<{ stop(): Promise<void> }> {
  const closers: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const close of closers.splice(0).reverse())
      await close().catch(error => log.error({ err: error }, 'while stopping'))
  }
  try {
    await open(settings, log, closer => closers.push(closer))
    return { stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function open(
  settings: Settings,
  log: Logger,
  onStop: (closer: () => Promise<void>) => void,
): Promise<void> {
  const startedAt = performance.now()
  for (const warning of settings.warnings) log.warn(warning)
  collectProcessMetrics()
  const databases = await openDatabases(settings, log)
  onStop(() => databases.stop())
  const secret = masterSecret(settings)
  const regions = Object.keys(settings.regions) as Region[]
  const sells = settings.roles.includes('api')
  const images: ImageCache = new Map()
  const demo = readDemoFile(settings.dataDir) as Partial<Record<Region, Omit<DemoAccount, 'baseUrl'>>>
  let threads: Threads | undefined
  let sender: Sender | undefined
  /** The control thread's own way to the sender, for what the worker settles. */
  let toSender: MessagePort | undefined

  const houses = await Promise.all(
    regions.map(async (region): Promise<RegionHouse> => {
      const options = {
        ...databases.of(region),
        ...CONTROL,
        applicationName: `airside ${region} control`,
        log,
        committed: (notes: readonly string[]) =>
          toSender?.postMessage({ region, endpoints: dueIn(notes) } satisfies Due),
      }
      const { applied } = await migrate(options)
      if (applied.length > 0) log.info({ region, applied: applied.length }, 'database migrated')
      const database = connect(options)
      onStop(() => database.close())
      const isDemo =
        settings.regions[region]!.databaseUrl === undefined && (await fillDemo(database, Date.now()))
      // Not known where a first start was broken off before it wrote the keys down: nobody can read them any more.
      if (isDemo && demo[region] === undefined) {
        const needs = {
          database,
          region,
          prefix: settings.keyPrefix,
          pepper: deriveKey(secret, PEPPER_PURPOSE),
          currency: settings.regions[region]!.currency,
        }
        demo[region] = await createDemoAccount(needs, Date.now())
      }
      await extendDemo(database, Date.now())
      if (await renewImage(database)) log.info({ region }, 'timetable compiled anew for this version')
      const beats = pulse()
      const follower = await follow({
        database,
        pulse: beats,
        images,
        log: log.child({ region }),
        now: Date.now,
        sells,
        swap: world => threads?.swap(region, world),
      })
      onStop(() => follower.stop())
      return { region, database, pulse: beats, follower }
    }),
  )

  const lost = (error: unknown) => {
    log.fatal({ err: error }, 'a thread was lost; stopping')
    process.exitCode = 1
    process.kill(process.pid, 'SIGTERM')
  }
  if (settings.roles.includes('worker')) {
    const databasesOf = regions.map(region => ({ region, database: databases.of(region) }))
    sender = await startSender({ settings, secret, regions: databasesOf }, lost)
    onStop(() => sender!.stop())
    toSender = sender.port()
    for (const house of houses) openWorker(settings, secret, house, log, onStop)
  }
  if (sells) {
    threads = await startThreads({
      start: {
        settings,
        secret,
        regions: houses.map(house => ({
          region: house.region,
          database: databases.of(house.region),
          pulse: house.pulse.buffer,
          world: house.follower.world(),
        })),
        allowance: allowanceTable().buffer,
      },
      ports: Object.fromEntries(regions.map(region => [region, settings.regions[region]!.port])),
      log,
      seatsChanged: region => houses.find(house => house.region === region)!.follower.seatsChanged(),
      senderPort: () => sender?.port(),
      otherMetrics: async () => (await sender?.metrics()) ?? [],
      lost,
    })
    onStop(async () => {
      // Both take seconds where a receiver is slow, so they stop side by side.
      void sender?.stop()
      for (const house of houses) enter(house.pulse, 'stopping')
      await new Promise(resolve => setTimeout(resolve, NOTICE_MS))
      await threads!.stop()
    })
    const baseUrls = Object.fromEntries(
      regions.map(region => [region, `http://${printable(settings.host)}:${threads!.ports[region]}/v1`]),
    )
    const accounts = Object.fromEntries(
      regions
        .filter(region => demo[region] !== undefined)
        .map(region => [region, { baseUrl: baseUrls[region]!, ...demo[region]! }]),
    ) as Partial<Record<Region, DemoAccount>>
    for (const region of regions)
      if (accounts[region] !== undefined) accounts[region].baseUrl = baseUrls[region]!
    if (Object.keys(accounts).length > 0) writeDemoFile(settings.dataDir, accounts)
    for (const house of houses) enter(house.pulse, 'serving')
    console.log(
      welcome({ settings, baseUrls, accounts, now: Date.now(), startedInMs: performance.now() - startedAt }),
    )
  } else console.log(`Airside works for ${regions.join(' and ')} (${settings.roles.join(', ')}).`)
}

function openWorker(
  settings: Settings,
  secret: string,
  { region, database, follower }: RegionHouse,
  log: Logger,
  onStop: (closer: () => Promise<void>) => void,
): void {
  // What is reserved is looked up and cancelled by its claim alone: the worker needs no timetable.
  const inventory = createInventory(() => undefined, rulesOf(settings))
  const worker = startWorker({
    database,
    travellerKey: { master: deriveKey(secret, `traveller data ${region}`), region },
    suppliers: new Map([[INVENTORY, inventory]]),
    postman: settings.smtpUrl === undefined ? undefined : createPostman(settings.smtpUrl, settings.mailFrom),
    log: log.child({ region }),
    now: Date.now,
    seatsChanged: () => follower.seatsChanged(),
  })
  onStop(() => worker.stop())
  const demo = loop('demo', DEMO_EVERY_MS, log, () => extendDemo(database, Date.now()))
  onStop(() => demo.stop())
}

/** An address that a browser on this machine can open. */
function printable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

async function run(): Promise<void> {
  const settings = readSettings()
  const log = createLog(settings.log, 'main')
  const house = await start(settings, log)
  let stopping = false
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref()
    void house.stop().then(() => process.exit(process.exitCode ?? 0))
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  process.on('SIGHUP', stop)
}

if (import.meta.main) {
  run().catch(error => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  })
}
