import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ssimWriter } from '../../src/timetable/ssim-writer.ts'
import { dateOf, localDay } from '../../src/travel/time.ts'
import { runCommand } from './house.ts'

/** Airports without summer time, so that one line of schedule is true the whole year. */
const LEGS = [
  {
    number: 1,
    origin: 'SIN',
    originOffset: 480,
    destination: 'HKG',
    destinationOffset: 480,
    departure: 540,
    arrival: 780,
  },
  {
    number: 2,
    origin: 'SIN',
    originOffset: 480,
    destination: 'BKK',
    destinationOffset: 420,
    departure: 420,
    arrival: 510,
  },
  {
    number: 3,
    origin: 'BKK',
    originOffset: 420,
    destination: 'HKG',
    destinationOffset: 480,
    departure: 660,
    arrival: 885,
  },
  {
    number: 4,
    origin: 'HKG',
    originOffset: 480,
    destination: 'SIN',
    destinationOffset: 480,
    departure: 900,
    arrival: 1140,
  },
] as const

const DAYS = 360
const YEAR = 127

export type SmallNetwork = {
  /** Seats on each flight; all of them can be had in one booking class. */
  seats: number
  /** Flight numbers that fly: 1 SIN–HKG, 2 SIN–BKK, 3 BKK–HKG, 4 HKG–SIN. All unless given. */
  flights?: readonly number[]
}

/**
 * Fills a database with a network of a few daily flights, by the operator's commands, and opens an Enterprise account there.
 * @returns its test and live key
 */
export async function openShop(
  env: Readonly<Record<string, string>>,
  network: SmallNetwork,
): Promise<{ accountId: string; live: string; test: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'airside-network-'))
  try {
    const schedule = join(folder, 'small.ssim')
    const fares = join(folder, 'small.csv')
    writeFileSync(schedule, scheduleText(network))
    writeFileSync(
      fares,
      `carrier,origin,destination,cabin,class,currency,base,per_km,seats\n*,*,*,economy,Y,USD,100,0,${network.seats}\n`,
    )
    await runCommand(env, ['fares', 'import', fares])
    await runCommand(env, ['schedule', 'import', schedule])
    const { accountId } = (await runCommand(env, [
      'account',
      'create',
      '--name',
      'Small partner',
      '--plan',
      'enterprise',
    ])) as {
      accountId: string
    }
    const key = async (mode: string) =>
      ((await runCommand(env, ['key', 'create', '--account', accountId, '--mode', mode])) as { key: string })
        .key
    return { accountId, live: await key('live'), test: await key('test') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The date `days` from now, on which every flight of the network leaves. */
export function dayAhead(days: number): string {
  return dateOf(localDay('Asia/Singapore', Date.now()) + days)
}

function scheduleText({ seats, flights = [1, 2, 3, 4] }: SmallNetwork): string {
  const from = localDay('UTC', Date.now())
  const to = from + DAYS
  const writer = ssimWriter()
  writer.carrier({ carrier: 'ZX', from, to, title: 'SMALL NETWORK' })
  for (const leg of LEGS.filter(one => flights.includes(one.number))) {
    writer.leg({
      carrier: 'ZX',
      number: leg.number,
      variation: 1,
      sequence: 1,
      from,
      to,
      weekdays: YEAR,
      origin: leg.origin,
      departure: leg.departure,
      departureOffset: leg.originOffset,
      destination: leg.destination,
      arrival: leg.arrival,
      arrivalOffset: leg.destinationOffset,
      aircraft: '320',
      classes: 'Y',
      configuration: `Y${String(seats).padStart(3, '0')}`,
      departureDays: 0,
      arrivalDays: 0,
    })
  }
  return writer.end()
}
