/**
 * A process that sends the events of one database, for tests that kill, stop and starve it. Its one argument is a `SenderOrder` as JSON; it prints
 * `sending`, ends gracefully on SIGTERM, and blocks its own loop for so many milliseconds as it is told on a line of standard input.
 */
import { connect } from '../../src/db/database.ts'
import { createLog } from '../../src/log.ts'
import { startWebhooks } from '../../src/worker/webhooks.ts'
import { reachOf, SECRET_KEY } from '../webhook/support.ts'
import type { SenderOrder } from './sender-process.ts'

const order = JSON.parse(process.argv[2]!) as SenderOrder
const patient = {
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 5_000,
  connectTimeoutMs: 5_000,
  queueTimeoutMs: 5_000,
}
const log = createLog(order.log ?? 'silent', 'sender')
const database = connect({ ...patient, url: order.url, poolMax: 4, byIndexOnly: true, log })
const upkeepDatabase = connect({ ...patient, url: order.url, poolMax: 2, log })
const leaseDatabase = connect({ url: order.url, poolMax: 1, log })
const engine = await startWebhooks({
  database,
  leaseDatabase,
  upkeepDatabase,
  secretKey: SECRET_KEY,
  brand: 'Airside',
  retryMs: order.retryMs,
  reach: reachOf({ certificate: order.certificate }, ['127.0.0.0/8']),
  log,
  disableAfterHours: 72,
  ...(order.leaseMs === undefined ? {} : { leaseMs: order.leaseMs }),
  ...(order.deadlineMs === undefined ? {} : { deadlineMs: order.deadlineMs }),
})
process.on('SIGTERM', async () => {
  await engine.stop()
  await Promise.all([database.close(), leaseDatabase.close(), upkeepDatabase.close()])
  process.exit(0)
})
process.stdin.on('data', chunk => {
  const until = performance.now() + Number(chunk)
  while (performance.now() < until);
})
console.log('sending')
