/** How a benchmark tells what it found: percentiles, tables, the machine it ran on, and figures held against their goals. */
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'

/** One figure of a benchmark, as `--json` writes it. `goal` and `met` are null where nothing was promised. */
export type Figure = { id: string; value: number; unit: string; goal: number | null; met: boolean | null }

/** A limit that a figure should keep to: not above, or not below. */
export type Goal = { atMost: number } | { atLeast: number }

/** A figure held against its goal, if it has one. Kept to four significant digits. */
export function figure(id: string, measured: number, unit: string, goal?: Goal): Figure {
  const value = Number(measured.toPrecision(4))
  if (goal === undefined) return { id, value, unit, goal: null, met: null }
  return 'atMost' in goal
    ? { id, value, unit, goal: goal.atMost, met: value <= goal.atMost }
    : { id, value, unit, goal: goal.atLeast, met: value >= goal.atLeast }
}

/** Prints the figures under their names, and writes them as JSON when a file is given. */
export function report(figures: readonly Figure[], jsonFile: string | undefined): void {
  printTable(
    ['figure', 'value', 'unit', 'goal', ''],
    figures.map(({ id, value, unit, goal, met }) => [
      id,
      value,
      unit,
      goal ?? '',
      met === null ? '' : met ? 'met' : 'MISSED',
    ]),
  )
  if (jsonFile !== undefined) writeFileSync(jsonFile, `${JSON.stringify(figures, null, 2)}\n`)
}

/** The value below which `share` (0 to 1) of the values lie, by nearest rank; NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** The middle value; the mean of the two in the middle where their number is even; NaN of none. */
export function median(values: readonly number[]): number {
  return (percentile(values, 0.5) + percentile(values, 0.5 + 0.5 / Math.max(1, values.length))) / 2
}

/** Prints rows under their headings, numbers to the right. */
export function printTable(
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const widths = headings.map((heading, i) =>
    Math.max(heading.length, ...rows.map(row => String(row[i]).length)),
  )
  const line = (cells: readonly (string | number)[], sample: readonly (string | number)[]) =>
    cells
      .map((cell, i) =>
        typeof sample[i] === 'number' ? String(cell).padStart(widths[i]!) : String(cell).padEnd(widths[i]!),
      )
      .join('  ')
      .trimEnd()
  console.log(['', line(headings, rows[0] ?? []), ...rows.map(row => line(row, row)), ''].join('\n'))
}

/** Rounds for a table. */
export function round(value: number, digits = 1): number {
  return Number(value.toFixed(digits))
}

/** What figures depend on beside the code: runtime, zone data, processor. */
export function machine(): string {
  const { node, icu, tz } = process.versions
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  return `Node ${node}, ICU ${icu}, tz ${tz}; ${availableParallelism()} × ${model}`
}

/**
 * How quiet the machine is: the time of a fixed piece of arithmetic, best of five, and the load average. Taken before and after a
 * benchmark, the two lines tell how far absolute figures can be trusted.
 */
export function noise(when: string): string {
  const times = Array.from({ length: 5 }, () => {
    const startedAt = performance.now()
    let x = 1
    for (let i = 0; i < 10_000_000; i++) x = (Math.imul(x, 1664525) + 1013904223) | 0
    return performance.now() - startedAt + (x === 0 ? 1 : 0)
  })
  const [best, worst] = [Math.min(...times), Math.max(...times)]
  return `Noise ${when}: fixed loop ${best.toFixed(1)} ms (worst of five ${worst.toFixed(1)}), load average ${loadavg()[0]!.toFixed(1)}`
}
