/** Graphile Worker with the same deliveries as jobs, set as its page on performance says. */
import { Logger, makeWorkerUtils, type Runner, run } from 'graphile-worker'
import { servePeer } from './peer.ts'

const JOBS_IN_A_CALL = 5_000

let runner: Runner | undefined

servePeer(async (url, post) => {
  const logger = new Logger(() => () => {})
  const utils = await makeWorkerUtils({ connectionString: url, logger })
  await utils.migrate()
  return {
    async queue(jobs) {
      for (let i = 0; i < jobs.length; i += JOBS_IN_A_CALL)
        await utils.addJobs(
          jobs.slice(i, i + JOBS_IN_A_CALL).map(payload => ({ identifier: 'deliver', payload })),
        )
    },
    async start(atOnce) {
      runner = await run({
        preset: {
          worker: {
            connectionString: url,
            concurrentJobs: atOnce,
            maxPoolSize: 25,
            localQueue: { size: 500 },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
        logger,
        noHandleSignals: true,
        taskList: { deliver: payload => post(payload as Parameters<typeof post>[0]) },
      })
    },
    async stop() {
      await runner?.stop()
    },
  }
})
