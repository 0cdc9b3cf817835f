import type { Database } from '../../db/database.ts'
import { DEMO_PROVIDER, formatRate, parseEcb } from '../../travel/exchange.ts'
import { dateOf, localDay } from '../../travel/time.ts'
import { lockImports, writeRates } from './store.ts'

export type RatesImported = { provider: string; from: string; to: string; currencies: number }

/**
 * Imports euro reference rates in the European Central Bank's format.
 * @param now milliseconds since 1970; rates of a day to come are refused, for no later file could take their place
 * @param provider defaults to the one the format stands for
 * @throws SyntaxError with the line of what is wrong; nothing is imported then
 */
export async function importRates(
  database: Database,
  xml: string,
  now: number,
  provider?: string,
): Promise<RatesImported> {
  const days = parseEcb(xml)
  const newest = days[0]!.asOf
  const tomorrow = dateOf(localDay('UTC', now) + 1)
  if (newest > tomorrow)
    throw new SyntaxError(`rates file: ${newest} lies in the future; nothing was imported`)
  const rows = days.flatMap(day =>
    [...day.perEuro].map(([currency, rate]) => ({
      provider: provider ?? day.provider,
      asOf: day.asOf,
      currency,
      perEuro: formatRate(rate),
    })),
  )
  await database.transaction(async tx => {
    await lockImports(tx)
    await writeRates(tx, rows, DEMO_PROVIDER)
  })
  return {
    provider: rows[0]!.provider,
    from: days.at(-1)!.asOf,
    to: days[0]!.asOf,
    currencies: new Set(rows.map(row => row.currency)).size,
  }
}
