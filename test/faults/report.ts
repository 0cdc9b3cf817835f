import { closeSync, fdatasyncSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'

/** What a campaign must show: each line holds or not. */
export type Verdict = { id: string; what: string; value: number | string; wanted: string; held: boolean }

/** A campaign's outcome: what was done, and what was found. */
export type Report = {
  plan: Readonly<Record<string, unknown>>
  verdicts: readonly Verdict[]
  examples: readonly string[]
}

/** A verdict that holds when nothing was found. */
export function none(id: string, what: string, count: number): Verdict {
  return { id, what, value: count, wanted: '0', held: count === 0 }
}

/** A figure that is only told. */
export function told(id: string, what: string, value: number | string): Verdict {
  return { id, what, value, wanted: '', held: true }
}

/** Prints the plan, the table and the last line; writes the JSON file when asked to. @returns whether everything held */
export function publish(
  seed: number,
  { plan, verdicts, examples }: Report,
  jsonFile: string | undefined,
): boolean {
  console.log(`\nSEED=${seed} ${JSON.stringify(plan)}\n`)
  const width = Math.max(...verdicts.map(({ what }) => what.length))
  for (const { what, value, wanted, held } of verdicts) {
    const mark = wanted === '' ? ' ' : held ? '✔' : '✖'
    console.log(
      `  ${mark} ${what.padEnd(width)}  ${String(value).padStart(8)}${held ? '' : `  (wanted ${wanted})`}`,
    )
  }
  for (const example of examples.slice(0, 20)) console.log(`    ${example}`)
  const judged = verdicts.filter(({ wanted }) => wanted !== '')
  const failed = judged.filter(({ held }) => !held).length
  console.log(`\nSEED=${seed} ${judged.length - failed} passed, ${failed} failed`)
  if (jsonFile !== undefined)
    writeFileSync(jsonFile, `${JSON.stringify({ seed, plan, verdicts, examples }, null, 2)}\n`)
  return failed === 0
}

/** An append-only file of JSON lines, on disk before `note` returns: what a partner remembers whatever happens next. */
export type Journal<T> = { note(entry: T): void; read(): T[]; close(): void }

/** Opens a journal. Every entry is given the milliseconds since then. */
export function openJournal<T extends object>(
  path: string,
): Journal<T & { atMs: number }> & { note(entry: T): void } {
  const file = openSync(path, 'a')
  const startedAt = performance.now()
  return {
    note(entry) {
      writeSync(file, `${JSON.stringify({ atMs: Math.round(performance.now() - startedAt), ...entry })}\n`)
      fdatasyncSync(file)
    },
    read: () =>
      readFileSync(path, 'utf8')
        .trimEnd()
        .split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line) as T & { atMs: number }),
    close: () => closeSync(file),
  }
}
