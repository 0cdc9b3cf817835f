/**
 * A process that runs the embedded PostgreSQL on the data directory it is given, prints `ready PID-OF-POSTGRES`, and
 * stops it on SIGTERM: for tests that kill it.
 */
import { connect } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { silent } from './setup.ts'

const [dataDir, refuge] = process.argv.slice(2)
try {
  const embedded = await startEmbedded({
    dataDir: dataDir!,
    log: silent,
    databases: ['airside_intl'],
    ...(refuge ? { refuge } : {}),
  })
  const database = connect(embedded.url('airside_intl'))
  await database.query('create table if not exists kept (id int)')
  await database.query('insert into kept values (1)')
  const [row] = await database.query<{ pid: number; kept: number }>(
    "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid, (select count(*) from kept) as kept",
  )
  process.on('SIGTERM', async () => {
    await database.close()
    await embedded.stop()
    process.exit(0)
  })
  console.log(`ready ${row!.pid} ${row!.kept}`)
} catch (error) {
  console.log(`failed ${(error as Error).message}`)
  process.exit(1)
}
