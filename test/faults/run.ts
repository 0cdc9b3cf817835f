/**
 * `npm run faults -- WHAT --seed N …`: the fault campaigns. Prints its plan, a table and `SEED=… N passed, N failed`; with `--json FILE` writes
 * the same as JSON. Ends with 1 when something failed.
 */
import { parseArgs } from 'node:util'
import { hostile } from './hostile.ts'
import { kills } from './kills.ts'
import { lastSeats } from './last-seats.ts'
import { publish, type Report } from './report.ts'
import { webhooks } from './webhooks.ts'

const USAGE = `npm run faults -- WHAT [--seed N] [--json FILE]

  kills       [--minutes 2] [--bookings 1000] [--clients 8]   the server and its PostgreSQL are killed while partners book
  last-seats  [--rounds 200] [--clients 64]                   many partners want the last ten seats at once
  hostile     [--requests 20000] [--clients 16]               malformed requests at every endpoint
  webhooks    [--minutes 8] [--rate 150] [--kills 200] [--stops 20] [--backlog 1000000]
                                                              senders and PostgreSQL are killed while events are delivered`

const CAMPAIGNS: Readonly<
  Record<string, (number: (name: string, fallback: number) => number, seed: number) => Promise<Report>>
> = {
  kills: (number, seed) =>
    kills({
      seed,
      minutes: number('minutes', 2),
      bookings: number('bookings', 1000),
      clients: number('clients', 8),
    }),
  'last-seats': (number, seed) =>
    lastSeats({ seed, rounds: number('rounds', 200), clients: number('clients', 64) }),
  hostile: (number, seed) =>
    hostile({ seed, requests: number('requests', 20_000), clients: number('clients', 16) }),
  webhooks: (number, seed) =>
    webhooks({
      seed,
      minutes: number('minutes', 8),
      rate: number('rate', 150),
      kills: number('kills', 200),
      stops: number('stops', 20),
      backlog: number('backlog', 1_000_000),
    }),
}

async function main(): Promise<number> {
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: text,
      json: text,
      minutes: text,
      bookings: text,
      clients: text,
      rounds: text,
      requests: text,
      rate: text,
      kills: text,
      stops: text,
      backlog: text,
    },
  })
  const campaign = CAMPAIGNS[positionals[0] ?? '']
  if (campaign === undefined) {
    console.error(USAGE)
    return 2
  }
  const number = (name: string, fallback: number): number => {
    const value = Number(values[name as keyof typeof values] ?? fallback)
    if (!(value > 0)) throw new Error(`--${name}: give a number above 0`)
    return value
  }
  const seed = number('seed', Math.floor(Math.random() * 1_000_000) + 1)
  console.log(`SEED=${seed}`)
  return publish(seed, await campaign(number, seed), values.json) ? 0 : 1
}

main().then(
  code => process.exit(code),
  error => {
    console.error(error instanceof Error ? error.stack : error)
    process.exit(1)
  },
)
