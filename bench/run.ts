/** `npm run bench -- NAME [options]`: runs one benchmark; without a name lists those there are. */

type Benchmark = {
  summary: string
  options: string
  load(): Promise<{ run(args: string[]): Promise<void> }>
}

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  search: {
    summary: 'How long a search takes inside one thread, over a year of the world’s flights.',
    options: '[--data FILE.ssim] [--queries N] [--seed N]',
    load: () => import('./search.ts'),
  },
  book: {
    summary: 'Bookings a second of the whole server, as a share of what pgbench reaches with its statements.',
    options: '[--pairs N] [--seconds N] [--connections 16,64] [--idempotent]',
    load: () => import('./book.ts'),
  },
  webhooks: {
    summary:
      'How fast events are delivered that must not be lost, against the same POSTs without a queue and other queues.',
    options: '[--quick] [--rounds N] [--only G1,peers,G2,G3,G5,G9]',
    load: () => import('./webhooks.ts'),
  },
  import: {
    summary: 'A world’s schedule imported into a server that goes on searching.',
    options: '--data FILE.ssim [--rate N] [--threads N]',
    load: () => import('./world-import.ts'),
  },
}

/** What there is to run, one benchmark a paragraph. */
function overview(): string {
  const entries = Object.entries(BENCHMARKS)
  const lines = entries.flatMap(([name, { summary, options }]) => [
    `  ${name} ${options}`,
    `      ${summary}`,
  ])
  return ['npm run bench -- NAME [options] [--json FILE]', '', ...lines].join('\n')
}

const [name, ...args] = process.argv.slice(2)
const benchmark = name === undefined || !Object.hasOwn(BENCHMARKS, name) ? undefined : BENCHMARKS[name]
if (benchmark === undefined) {
  console.log(overview())
  if (name !== undefined && name !== '--help') {
    console.error(`\nThere is no benchmark called ${name}.`)
    process.exitCode = 1
  }
} else {
  const { run } = await benchmark.load()
  await run(args).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  })
}
