import type { DemoAccount } from './demo/accounts.ts'
import type { Region, Settings } from './settings.ts'
import { dateOf, localDay } from './travel/time.ts'

/** Days ahead of the date in the first search that the start-up message shows. */
const EXAMPLE_DAYS_AHEAD = 30

const REGION_NAMES: Readonly<Record<Region, string>> = { intl: 'International', cn: 'China' }

/** What a person sees once everything is ready: where it is, and a line to copy. */
export function welcome(about: {
  settings: Settings
  baseUrls: Readonly<Partial<Record<Region, string>>>
  accounts: Readonly<Partial<Record<Region, DemoAccount>>>
  now: number
  startedInMs: number
}): string {
  const { settings, baseUrls, accounts } = about
  const lines = ['', `${settings.brand} is ready (${(about.startedInMs / 1000).toFixed(1)} s).`, '']
  for (const [region, url] of Object.entries(baseUrls)) {
    lines.push(`  ${REGION_NAMES[region as Region].padEnd(14)} ${url}`)
  }
  const first = Object.entries(accounts)[0]
  if (first !== undefined) {
    const [region, account] = first
    const date = dateOf(localDay('UTC', about.now) + EXAMPLE_DAYS_AHEAD)
    lines.push(
      `  ${'Documentation'.padEnd(14)} ${baseUrls[region as Region]!.replace(/\/v1$/, '/docs')}`,
      '',
      `  Test key       ${account.test}`,
      '',
      'Search flights with it:',
      '',
      `  curl ${account.baseUrl}/travel/search \\`,
      `    -H 'Authorization: Bearer ${account.test}' \\`,
      `    -H 'Content-Type: application/json' \\`,
      `    -d '{"origin":"LHR","destination":"JFK","departDate":"${date}"}'`,
      '',
      `Keys of the demo accounts are in ${settings.dataDir}/demo.json. Ctrl-C stops everything.`,
    )
  }
  lines.push('')
  return lines.join('\n')
}
