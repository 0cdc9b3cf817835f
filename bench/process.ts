/** What the operating system says about processes: time on a processor and memory. Linux only, from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** Kernel ticks a second in /proc; fixed for programs since Linux 2.6. */
const TICKS = 100

/** All processes below `pid`, its children's children included. */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = Number(statOf(Number(name))?.[1] ?? -1)
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const below = (of: number): number[] => (children.get(of) ?? []).flatMap(child => [child, ...below(child)])
  return below(pid)
}

/** Seconds of processor time that a process, with all its threads, has used; 0 when it is gone. */
export function cpuSeconds(pid: number): number {
  const fields = statOf(pid)
  return fields === undefined ? 0 : (Number(fields[11]) + Number(fields[12])) / TICKS
}

/** Seconds of processor time of several processes together. */
export function cpuSecondsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
}

/** Seconds that this machine's processors have been busy since it was started, for whomever. */
export function busySeconds(): number {
  const [user, nice, system, , , irq, softirq] = /^cpu +(.*)$/m
    .exec(readFileSync('/proc/stat', 'utf8'))![1]!
    .split(' ')
    .map(Number)
  return (user! + nice! + system! + irq! + softirq!) / TICKS
}

/** Seconds of processor time that this process has used with all below it, also with those that have ended. */
export function ownSeconds(): number {
  return [process.pid, ...descendants(process.pid)].reduce((sum, pid) => {
    const fields = statOf(pid)
    // The last two are of children that have ended and were waited for.
    return (
      sum +
      (fields === undefined ? 0 : fields.slice(11, 15).reduce((all, ticks) => all + Number(ticks), 0) / TICKS)
    )
  }, 0)
}

/**
 * Memory of a process in MB: `VmRSS`, `VmHWM` (its highest so far) or, for processes that share memory, the proportional set size `Pss`,
 * whose sum counts shared pages once. 0 when it is gone.
 */
export function memoryMb(pid: number, measure: 'VmRSS' | 'VmHWM' | 'Pss'): number {
  try {
    const text = readFileSync(`/proc/${pid}/${measure === 'Pss' ? 'smaps_rollup' : 'status'}`, 'utf8')
    return Number(new RegExp(`^${measure}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

/** The fields of /proc/PID/stat from the state on; the name before them may hold anything. */
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
