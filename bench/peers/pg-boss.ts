/** pg-boss with the same deliveries as jobs: full batches fetched without a pause, settled together. */
import { PgBoss } from 'pg-boss'
import { servePeer } from './peer.ts'

const QUEUE = 'deliver'
const BATCH = 64
const JOBS_IN_A_CALL = 5_000

servePeer(async (url, post) => {
  const boss = new PgBoss({ connectionString: url, max: 10, supervise: false, schedule: false })
  boss.on('error', error => {
    console.error(error)
    process.exit(1)
  })
  await boss.start()
  await boss.createQueue(QUEUE)
  return {
    async queue(jobs) {
      for (let i = 0; i < jobs.length; i += JOBS_IN_A_CALL)
        await boss.insert(
          QUEUE,
          jobs.slice(i, i + JOBS_IN_A_CALL).map(data => ({ data })),
        )
    },
    async start(atOnce) {
      await boss.work(
        QUEUE,
        {
          batchSize: BATCH,
          localConcurrency: Math.max(1, Math.round(atOnce / BATCH)) * 2,
          burstWhenBatchFull: true,
          pollingIntervalSeconds: 0.5,
        },
        async jobs => {
          await Promise.all(jobs.map(job => post(job.data as Parameters<typeof post>[0])))
        },
      )
    },
    async stop() {
      await boss.offWork(QUEUE)
    },
  }
})
