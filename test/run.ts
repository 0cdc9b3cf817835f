/**
 * `npm test [filters]`: one PostgreSQL for all, then every `*.test.ts` under src/ and test/ with node:test, each file
 * with a database of its own. A filter is a part of a path; an argument that starts with `--` goes to node.
 */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { startTestPostgres } from './support/setup.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const FILE_TIMEOUT_MS = 300_000

const flags = process.argv.slice(2).filter(word => word.startsWith('--'))
const filters = process.argv.slice(2).filter(word => !word.startsWith('--'))

const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root })
  // Campaigns run for minutes to hours: `npm run faults`.
  .filter(file => !file.includes('/campaign/'))
  .filter(file => filters.length === 0 || filters.some(part => file.includes(part.replace(/^\.\//, ''))))
  .sort()

if (files.length === 0) {
  console.error(`No test file matches ${filters.join(' ')}.`)
  process.exit(1)
}

const postgres = await startTestPostgres()
const runner = spawn(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${Math.max(2, availableParallelism())}`,
    `--test-timeout=${FILE_TIMEOUT_MS}`,
    '--test-reporter=spec',
    ...flags,
    ...files,
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, AIRSIDE_TEST_POSTGRES: postgres.url } },
)
// Ctrl-C reaches the runner as well; we stay until it ended, to clean up behind it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => runner.kill(signal))
const code = await new Promise<number>(resolve => {
  runner.once('error', () => resolve(1))
  runner.once('exit', (status, signal) => resolve(status ?? (signal ? 130 : 1)))
})
await postgres.stop()
process.exit(code)
