import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/** Marks a data directory as ours until `release`. */
export type Lock = { release(): void; isStillOurs(): boolean }

/** Who holds a lock: a process, told apart from a later one with the same number by boot and start time. */
type Holder = { pid: number; born: string }

/**
 * Takes the lock file `path` for this process. A file left by a process that is gone (kill -9, power cut) is
 * replaced. Throws an Error with `refusal(pid)` as message when a living process holds it.
 */
export function takeLock(path: string, refusal: (pid: number) => string): Lock {
  const ours = JSON.stringify({ pid: process.pid, born: birth(process.pid) } satisfies Holder)
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, ours, { mode: 0o600 })
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        // A link appears whole or not at all: nobody reads a half-written lock.
        linkSync(draft, path)
        break
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt === 10) throw error
      }
      const holder = readHolder(path)
      if (holder && isAlive(holder.pid, holder.born)) throw new Error(refusal(holder.pid))
      rmSync(path, { force: true })
    }
  } finally {
    rmSync(draft, { force: true })
  }
  const isStillOurs = () => read(path) === ours
  return {
    isStillOurs,
    release() {
      if (isStillOurs()) rmSync(path, { force: true })
    },
  }
}

/** The living process that holds the lock file `path`, if any. */
export function lockHolder(path: string): number | undefined {
  const holder = readHolder(path)
  return holder && isAlive(holder.pid, holder.born) ? holder.pid : undefined
}

/** Whether process `pid` runs, and (when `born` is given) is the one that was born then. A zombie is dead. */
export function isAlive(pid: number, born?: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const now = birth(pid)
  if (now === 'gone') return false
  return born === undefined || born === '' || now === '' || now === born
}

/** Boot and start time of a process where /proc tells them; '' where it does not, 'gone' for a zombie. */
function birth(pid: number): string {
  const boot = read('/proc/sys/kernel/random/boot_id')
  const stat = read(`/proc/${pid}/stat`)
  if (boot === undefined || stat === undefined) return ''
  // The second field is the program's name in parentheses, which may hold spaces: count from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? 'gone' : `${boot.trim()} ${fields[19]}`
}

function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(read(path) ?? '')
  } catch {
    return undefined
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
