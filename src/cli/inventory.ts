import { readFileSync, statSync } from 'node:fs'
import { invalidParams } from '../refusal.ts'
import { importFares } from '../supplier/inventory/fares.ts'
import { loadRates } from '../supplier/inventory/load.ts'
import { importRates } from '../supplier/inventory/rates.ts'
import { importSchedule, SCHEDULE_BYTES_MAX } from '../supplier/inventory/schedule.ts'
import type { Warning } from '../timetable/schedule.ts'
import { referencePrice } from '../travel/exchange.ts'
import { type Command, onlyPositional } from './command.ts'

const KINDS_SHOWN = 10

/** Commands that load what is for sale. */
export const commands: readonly Command[] = [
  {
    name: 'schedule import',
    usage: 'FILE.ssim [--replace]',
    summary:
      'Import an SSIM chapter 7 schedule (plain or gzip): its carriers replace their own, or with --replace everything',
    options: { replace: { type: 'boolean', default: false } },
    async run({ database }, args) {
      const bytes = readFile(onlyPositional(args, 'FILE', 'give the path of an SSIM file'))
      const startedAt = performance.now()
      const { carriers, legs, report, warnings } = await importSchedule(
        database,
        bytes,
        args.values.replace === true,
      )
      const seconds = (performance.now() - startedAt) / 1000
      const json = {
        carriers,
        legs,
        flights: report.flights,
        throughFlights: report.throughFlights,
        flightDates: report.flightDates,
        notSold: report.unsoldLegs,
        restricted: report.restricted,
        warnings,
        seconds: Number(seconds.toFixed(2)),
      }
      const notSold = Object.entries(report.unsoldLegs).map(([reason, count]) => `${count} ${reason}`)
      const text = [
        `Imported ${legs} legs of ${carriers} ${carriers === 1 ? 'carrier' : 'carriers'} in ${seconds.toFixed(1)} s.`,
        `For sale now: ${report.flights} flights (${report.throughFlights} through), ${report.flightDates} departures.`,
        ...(notSold.length > 0 ? [`Not for sale: ${notSold.join(', ')}.`] : []),
        ...warnings.slice(0, KINDS_SHOWN).flatMap(describe),
      ].join('\n')
      return { json, text }
    },
  },
  {
    name: 'fares import',
    usage: 'FILE.csv',
    summary: 'Import the fare ladder in place of the one before',
    options: {},
    async run({ database }, args) {
      const file = readFile(onlyPositional(args, 'FILE', 'give the path of a CSV file'))
      const { fares, currencies } = await importFares(database, file.toString('utf8'))
      const rates = await loadRates(database)
      const unrated = currencies.filter(
        currency => referencePrice({ minor: 1, currency }, rates) === undefined,
      )
      const text = [
        `Imported ${fares} fares in ${currencies.join(', ')}.`,
        ...(unrated.length > 0
          ? [`Not for sale until rates are imported: fares in ${unrated.join(', ')}.`]
          : []),
      ].join('\n')
      return { json: { fares, currencies, unrated }, text }
    },
  },
  {
    name: 'rates import',
    usage: 'FILE.xml',
    summary: "Import euro reference rates in the European Central Bank's format",
    options: {},
    async run({ database }, args) {
      const file = readFile(onlyPositional(args, 'FILE', 'give the path of an XML file'))
      const imported = await importRates(database, file.toString('utf8'), Date.now())
      const days = imported.from === imported.to ? imported.to : `${imported.from} to ${imported.to}`
      return {
        json: imported,
        text: `Imported rates of ${imported.currencies} currencies for ${days} (${imported.provider}).`,
      }
    },
  },
]

function readFile(path: string): Buffer {
  const fault = (message: string) => invalidParams([{ param: 'FILE', code: 'unreadable', message }])
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw fault(`there is no file ${path}`)
  if (!stat.isFile()) throw fault(`${path} is no file`)
  const { size } = stat
  if (size > SCHEDULE_BYTES_MAX) throw fault(`${path} is larger than ${SCHEDULE_BYTES_MAX >> 20} MiB`)
  return readFileSync(path)
}

function describe({ kind, count, examples }: Warning): string[] {
  const first = examples[0]
  return [`  ${count} × ${kind}${first === undefined ? '' : `, first on line ${first.line}: ${first.text}`}`]
}
