import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'

/** The database that every test's database is cloned from: all migrations applied, no rows. */
export const TEMPLATE = 'airside_template'

/** A PostgreSQL for tests, in a temporary directory and without fsync. */
export type TestPostgres = {
  /** Address of its maintenance database. */
  url: string
  stop(): Promise<void>
}

/** What PostgreSQL says while tests kill it is no news; what breaks reaches the test as an error. */
export const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Starts a PostgreSQL with the template ready to be cloned. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), 'airside-test-'))
  const discard = () => rmSync(dataDir, { recursive: true, force: true })
  try {
    const embedded = await startEmbedded({
      dataDir,
      databases: [TEMPLATE],
      durable: false,
      refuge: join(tmpdir(), 'airside-test-refuge'),
      log: silent,
    })
    try {
      await migrate(embedded.url(TEMPLATE))
      const admin = connect({ ...embedded.url('postgres'), poolMax: 1 })
      // Nobody may change what the others clone; a connection to it would also keep them from cloning.
      await admin.query(`alter database ${TEMPLATE} with allow_connections false`)
      await admin.close()
    } catch (error) {
      await embedded.stop()
      throw error
    }
    return {
      url: embedded.url('postgres').url,
      async stop() {
        await embedded.stop()
        discard()
      },
    }
  } catch (error) {
    discard()
    throw error
  }
}
