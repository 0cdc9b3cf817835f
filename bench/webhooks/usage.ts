/** What deliveries cost: processor time of each side, and what PostgreSQL had to write and to throw away. */
import { cpuSeconds, cpuSecondsOf } from '../process.ts'
import type { Child } from './child.ts'
import type { Stage } from './stage.ts'

export type Usage = { sender: number; postgres: number; receiver: number; wal: number }

/** What has been used so far: seconds of processor time, bytes of the write-ahead log. */
export async function usage({ database, postgresPids, receiver }: Stage, sender: Child): Promise<Usage> {
  const [row] = await database.query<{ wal: number }>(
    `select (pg_current_wal_insert_lsn() - '0/0')::bigint as wal`,
  )
  return {
    sender: cpuSeconds(sender.pid),
    postgres: cpuSecondsOf(postgresPids()),
    receiver: cpuSeconds(receiver.pid),
    wal: row!.wal,
  }
}

export const between = (from: Usage, to: Usage): Usage => ({
  sender: to.sender - from.sender,
  postgres: to.postgres - from.postgres,
  receiver: to.receiver - from.receiver,
  wal: to.wal - from.wal,
})

/** Commits of the whole database, and rows of the queue's own tables that were updated or deleted: each leaves a dead one. */
export async function counters({ database }: Stage): Promise<{ commits: number; dead: number }> {
  const rows = await database.query<{ commits: number; dead: number }>(
    `select (select xact_commit from pg_stat_database where datname = current_database()) as commits,
       (select sum(n_tup_upd + n_tup_del)::bigint from pg_stat_user_tables where relname in ('delivery', 'lane', 'worker', 'event')) as dead`,
  )
  return rows[0]!
}
