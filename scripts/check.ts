/** `npm run check`: everything that a tool can judge, side by side where it can be; prints what failed and exits 1. */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'

const ARROWS = ['depcruise', '--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src']

type Check = { name: string; command: readonly string[]; judge?: (output: string) => string | undefined }

const CHECKS: readonly Check[] = [
  { name: 'types', command: ['tsc', '-p', '.'] },
  { name: 'style', command: ['biome', 'check', '--error-on-warnings', '.'] },
  { name: 'arrows', command: ARROWS, judge: judgeArrows },
  { name: 'dead code', command: ['knip', '--no-progress'] },
  { name: 'house', command: ['node', '--test', '--test-reporter=dot', 'scripts/house.check.ts'] },
  { name: 'openapi', command: ['node', 'scripts/openapi.ts'] },
  { name: 'schema', command: ['node', 'scripts/schema.ts', '--check'] },
]

/** Broken arrows, and a cruise that saw fewer modules than there are: then it judged nothing. */
function judgeArrows(output: string): string | undefined {
  const { summary, modules } = JSON.parse(output) as {
    summary: { violations: { from: string; to: string; rule: { name: string } }[] }
    modules: { source: string }[]
  }
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(file =>
    file.endsWith('.ts'),
  ).length
  const seen = modules.filter(
    module => module.source.startsWith('src/') && module.source.endsWith('.ts'),
  ).length
  if (seen < sources) return `only ${seen} of ${sources} modules were seen; nothing was judged`
  const broken = summary.violations.map(({ from, to, rule }) => `${rule.name}: ${from} → ${to}`)
  return broken.length > 0 ? broken.join('\n') : undefined
}

async function run({ name, command, judge }: Check): Promise<boolean> {
  const startedAt = performance.now()
  const child = spawn(command[0]!, command.slice(1), {
    env: { ...process.env, PATH: `node_modules/.bin:${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', chunk => (output += chunk))
  child.stderr.on('data', chunk => (errors += chunk))
  const code = await new Promise<number | null>(resolve => child.once('close', resolve))
  const fault =
    judge !== undefined && output.startsWith('{') ? judge(output) : code === 0 ? undefined : output + errors
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(
    `${fault === undefined ? 'ok  ' : 'FAIL'} ${name.padEnd(10)} ${seconds} s${fault === undefined ? '' : `\n${fault}\n`}`,
  )
  return fault === undefined
}

const waiting = [...CHECKS]
const results: boolean[] = []
async function next(): Promise<void> {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift())
    results.push(await run(check))
}
await Promise.all([next(), next()])
process.exitCode = results.every(Boolean) ? 0 : 1
