import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { randomBase62 } from '../id.ts'
import type { Log } from '../log.ts'
import type { Binaries } from './binaries.ts'
import { closedDirectory } from './binaries.ts'
import { spawnMortal } from './mortal.ts'

/** The database user everything of ours belongs to. */
export const DATABASE_USER = 'airside'

const MAJOR_VERSION = '18'
const NAME = 'postgres'
const PASSWORD_FILE = 'airside.password'
const INITDB_TIMEOUT_MS = 60_000

/**
 * The cluster's directory for a data directory, whether it exists yet or not: `dataDir/postgres`. When user
 * `uid` may not enter that (root's own home, say), a new directory under `refuge`, and `dataDir/postgres` is a
 * link to it; the log says so. Everything Airside keeps stays reachable through the data directory.
 */
export function placeCluster(dataDir: string, refuge: string, uid: number | undefined, log: Log): string {
  const place = join(dataDir, NAME)
  if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) {
    if (!existsSync(place)) throw new Error(`${place} is a link to a directory that is gone.`)
    return join(realpathSync(place), NAME)
  }
  if (uid === undefined) return place
  if (closedDirectory(dataDir, uid) === dataDir) {
    // Only the way through is opened: nobody can list the directory, and our secrets in it have modes of their own.
    chmodSync(dataDir, statSync(dataDir).mode | 0o001)
  }
  const closed = closedDirectory(dataDir, uid)
  if (closed === undefined) return place
  if (existsSync(place)) {
    throw new Error(
      `PostgreSQL does not run as root, and its user may not enter ${closed}: run chmod o+x ${closed}, set AIRSIDE_DATA_DIR to a directory outside of it, or do not run Airside as root.`,
    )
  }
  mkdirSync(refuge, { recursive: true, mode: 0o755 })
  const outside = mkdtempSync(join(refuge, 'data-'))
  chmodSync(outside, 0o711)
  symlinkSync(outside, place)
  log.warn(
    { closed, directory: outside },
    'PostgreSQL does not run as root, and its user may not enter this directory: the database is kept elsewhere',
  )
  return join(outside, NAME)
}

/**
 * Makes the cluster if it does not exist: UTF-8, sorted by code point on every machine, with checksums and a
 * password of its own. It is made beside its place and renamed when complete, so half a cluster is never used.
 */
export async function createCluster(
  directory: string,
  binaries: Binaries,
  uid: number | undefined,
  durable: boolean,
): Promise<void> {
  sweep(directory)
  if (existsSync(directory)) return checkVersion(directory)
  const draft = `${directory}.new-${randomBase62(8)}`
  const passwordFile = `${draft}.password`
  mkdirSync(draft, { mode: 0o700 })
  writeFileSync(passwordFile, randomBase62(32), { mode: 0o600 })
  if (uid !== undefined) {
    chownSync(draft, uid, uid)
    chownSync(passwordFile, uid, uid)
  }
  const flags = ['--encoding=UTF8', '--locale-provider=builtin', '--locale=C.UTF-8', '--data-checksums']
  flags.push(`--username=${DATABASE_USER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256')
  if (!durable) flags.push('--no-sync')
  try {
    await initialise(binaries.initdb, [`--pgdata=${draft}`, ...flags, '--no-instructions'], uid)
  } catch (cause) {
    sweep(directory)
    throw new Error(`The database could not be made in ${dirname(directory)}: ${(cause as Error).message}`, {
      cause,
    })
  }
  renameSync(passwordFile, join(draft, PASSWORD_FILE))
  if (durable) sync(draft)
  renameSync(draft, directory)
  // Without this a power cut could take the new name, and with it all that was written since.
  if (durable) sync(dirname(directory))
}

/** The password of `DATABASE_USER` in this cluster. */
export function clusterPassword(directory: string): string {
  return readFileSync(join(directory, PASSWORD_FILE), 'utf8')
}

/** The cluster of a data directory, if there is one. */
export function existingCluster(dataDir: string): string | undefined {
  const place = join(dataDir, NAME)
  if (!existsSync(place)) return undefined
  return lstatSync(place).isSymbolicLink() ? join(realpathSync(place), NAME) : place
}

/** Runs initdb; throws an Error with what it said when it fails. */
async function initialise(program: string, flags: readonly string[], uid: number | undefined): Promise<void> {
  const child = spawnMortal(program, flags, { signal: 'TERM', uid })
  const timer = setTimeout(() => child.kill('SIGTERM'), INITDB_TIMEOUT_MS)
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', text => {
    said += text
  })
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(said.trim() || `initdb ended with ${signal ?? code}`))
    })
  }).finally(() => clearTimeout(timer))
}

function checkVersion(directory: string): void {
  const version = readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim()
  if (version === MAJOR_VERSION) return
  throw new Error(
    `The database in ${directory} was made by PostgreSQL ${version}; this Airside brings ${MAJOR_VERSION}. Upgrade it with pg_upgrade, or start the Airside that made it.`,
  )
}

/** Removes what an interrupted first start left; its initdb may be about to do the same, hence the retries. */
function sweep(directory: string): void {
  for (const name of readdirSync(dirname(directory))) {
    if (name.startsWith(`${basename(directory)}.new-`)) {
      rmSync(join(dirname(directory), name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    }
  }
}

function sync(directory: string): void {
  const handle = openSync(directory, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
