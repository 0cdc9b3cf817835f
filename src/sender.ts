import { readFileSync } from 'node:fs'
import { createSecureContext, rootCertificates } from 'node:tls'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type ConnectOptions, connect } from './db/database.ts'
import { createLog } from './log.ts'
import type { Due, FromSender, SenderStart, ToSender } from './messages.ts'
import { registry } from './metrics.ts'
import { deriveKey } from './secret.ts'
import type { Region } from './settings.ts'
import { networks } from './webhook/address.ts'
import type { Engine } from './webhook/delivery/engine.ts'
import { secretPurpose } from './webhook/endpoint.ts'
import { createResolver } from './webhook/resolve.ts'
import { startWebhooks } from './worker/webhooks.ts'

/** The roof of the thread that sends events: a thread of its own, so that neither searches nor imports make a partner wait. */
const { settings, secret, regions } = workerData as SenderStart
const control = parentPort!
const tell = (message: FromSender) => control.postMessage(message)
const log = createLog(settings.log, 'sender')
const engines = new Map<Region, Engine>()
const closers: (() => Promise<void>)[] = []

const CONNECTIONS = { poolMax: 4, statementTimeoutMs: 10_000, lockTimeoutMs: 5_000, queueTimeoutMs: 5_000 }

async function open(): Promise<void> {
  const authorities =
    settings.webhookCa === undefined
      ? {}
      : { ca: [...rootCertificates, readFileSync(settings.webhookCa, 'utf8')] }
  const reach = {
    resolver: createResolver(settings.webhookDns),
    allow: networks(settings.webhookAllow),
    secure: createSecureContext({ ...authorities, minVersion: 'TLSv1.2' }),
  }
  for (const { region, database: options } of regions) {
    const reached = (purpose: string, more: Partial<ConnectOptions>) => {
      const database = connect({ ...options, ...more, applicationName: `airside ${region} ${purpose}`, log })
      closers.push(() => database.close())
      return database
    }
    const database = reached('sender', { ...CONNECTIONS, byIndexOnly: true })
    const leaseDatabase = reached('lease', { poolMax: 1 })
    const upkeepDatabase = reached('upkeep', {
      poolMax: 2,
      statementTimeoutMs: 120_000,
      lockTimeoutMs: 10_000,
      queueTimeoutMs: 120_000,
    })
    const engine = await startWebhooks({
      database,
      leaseDatabase,
      upkeepDatabase,
      secretKey: { key: deriveKey(secret, secretPurpose(region)), region },
      brand: settings.brand,
      retryMs: settings.webhookRetryMs,
      disableAfterHours: settings.webhookDisableHours,
      reach,
      log: log.child({ region }),
    })
    engines.set(region, engine)
  }
}

function hear(port: MessagePort): void {
  port.on('message', ({ region, endpoints }: Due) => engines.get(region)?.due(endpoints))
}

async function stop(): Promise<void> {
  await Promise.allSettled([...engines.values()].map(engine => engine.stop()))
  await Promise.allSettled(closers.map(close => close()))
  tell({ kind: 'stopped' })
}

control.on('message', (message: ToSender) => {
  if (message.kind === 'hear') hear(message.port)
  else if (message.kind === 'collect')
    void registry
      .getMetricsAsJSON()
      .then(metrics => tell({ kind: 'collected', ticket: message.ticket, metrics }))
  else void stop()
})

open().then(
  () => tell({ kind: 'sending' }),
  error => tell({ kind: 'failed', message: (error as Error).message }),
)
