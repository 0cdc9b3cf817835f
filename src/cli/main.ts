import { parseArgs } from 'node:util'
import { borrowDatabases, masterSecret } from '../databases.ts'
import { connect } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { createLog } from '../log.ts'
import { Refusal } from '../refusal.ts'
import { REGIONS, type Region, readSettings, type Settings, SettingsFault } from '../settings.ts'
import { FaresRefused } from '../supplier/inventory/fares.ts'
import { SsimRefused } from '../timetable/ssim.ts'
import { dueIn, notifier } from '../webhook/wake.ts'
import { commands as account } from './account.ts'
import { commands as booking } from './booking.ts'
import type { Command, CommandContext, CommandResult, RemoteCommand } from './command.ts'
import { commands as event } from './event.ts'
import { commands as flight } from './flight.ts'
import { commands as inventory } from './inventory.ts'
import { commands as key } from './key.ts'
import { commands as listen } from './listen.ts'
import { commands as request } from './request.ts'
import { commands as trigger } from './trigger.ts'
import { commands as webhook } from './webhook.ts'

type AnyCommand = Command | RemoteCommand
const COMMANDS: readonly AnyCommand[] = [
  ...account,
  ...key,
  ...inventory,
  ...flight,
  ...booking,
  ...webhook,
  ...event,
  ...listen,
  ...trigger,
  ...request,
]
const COMMON = {
  region: { type: 'string', default: 'intl' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const
/** Imports take longer than a request may. */
const PATIENT = {
  poolMax: 4,
  statementTimeoutMs: 600_000,
  lockTimeoutMs: 60_000,
  idleInTransactionTimeoutMs: 600_000,
}

/** Runs one command. @returns the exit code: 0 done, 1 refused, 2 typed wrongly */
async function main(words: readonly string[]): Promise<number> {
  if (words.length === 0 || ['help', '--help', '-h'].includes(words[0]!)) {
    console.log(help(COMMANDS))
    return words.length === 0 ? 2 : 0
  }
  const command = COMMANDS.find(one => one.name === words.slice(0, one.name.split(' ').length).join(' '))
  if (command === undefined) {
    const near = COMMANDS.filter(one => one.name.split(' ')[0] === words[0])
    console.error(
      `There is no command "${words.slice(0, 2).join(' ')}".\n\n${help(near.length > 0 ? near : COMMANDS)}`,
    )
    return 2
  }
  const rest = words.slice(command.name.split(' ').length)
  const parsed = parse(command, rest)
  if (typeof parsed === 'string') {
    console.error(`${parsed}\n\n${usage(command)}`)
    return 2
  }
  if (parsed.values.help === true) {
    console.log(`${usage(command)}\n\n${command.summary}`)
    return 0
  }
  return runCommand(command, parsed)
}

type Parsed = ReturnType<typeof parseArgs>

function parse(command: AnyCommand, words: readonly string[]): Parsed | string {
  try {
    return parseArgs({ args: [...words], options: { ...COMMON, ...command.options }, allowPositionals: true })
  } catch (error) {
    return (error as Error).message
  }
}

async function runCommand(command: AnyCommand, { values, positionals }: Parsed): Promise<number> {
  const region = values.region as Region
  if (!REGIONS.includes(region)) {
    console.error(`--region: must be one of ${REGIONS.join(', ')}`)
    return 2
  }
  const settings = readSettings()
  if (settings.regions[region] === undefined) {
    console.error(`--region: AIRSIDE_REGIONS does not name ${region}`)
    return 2
  }
  const json = values.json === true
  const say = (result: CommandResult) => console.log(json ? JSON.stringify(result.json) : result.text)
  const atHome = <T>(work: (context: CommandContext) => Promise<T>) => withDatabase(settings, region, work)
  const args = { values, positionals }
  try {
    const result =
      'remote' in command
        ? await command.run({ settings, region, say, atHome }, args)
        : await atHome(context => command.run(context, args))
    if (result !== undefined) say(result)
    return 0
  } catch (error) {
    return explain(error, json)
  }
}

/** Works on a region's database: that of the running server, or one that is started for as long as the work takes. */
async function withDatabase<T>(
  settings: Settings,
  region: Region,
  work: (context: CommandContext) => Promise<T>,
): Promise<T> {
  const log = createLog(settings.log === 'info' ? 'warn' : settings.log, 'cli')
  const databases = await borrowDatabases(settings, log)
  const options = { ...databases.of(region), ...PATIENT, applicationName: 'airside cli', log }
  await migrate(options)
  const notices = notifier({ query: (text, values) => database.query(text, values) })
  const database = connect({ ...options, committed: notes => notices.due(dueIn(notes)) })
  try {
    return await work({ database, region, settings, secret: masterSecret(settings) })
  } finally {
    await notices.settled()
    await database.close()
    await databases.stop()
  }
}

/** Says why a command was refused; anything unexpected goes on and ends the program with its stack. */
function explain(error: unknown, json: boolean): number {
  const told =
    error instanceof Refusal ||
    error instanceof SsimRefused ||
    error instanceof FaresRefused ||
    error instanceof SyntaxError
  if (!told) throw error
  const faults = error instanceof SsimRefused || error instanceof FaresRefused ? { faults: error.faults } : {}
  const code = error instanceof Refusal ? error.code : 'refused'
  const message = error instanceof SsimRefused ? refusedSchedule(error) : error.message
  console.error(json ? JSON.stringify({ error: { code, message, ...faults } }) : message)
  return 1
}

function refusedSchedule({ faults }: SsimRefused): string {
  const lines = faults.map(
    ({ line, bytes, reason }) => `  line ${line}, bytes ${bytes[0]}–${bytes[1]}: ${reason}`,
  )
  return ['The schedule is refused and nothing was changed:', ...lines].join('\n')
}

const usage = (command: AnyCommand) => `airside ${command.name} ${command.usage}`.trimEnd()

function help(commands: readonly AnyCommand[]): string {
  const nouns = Map.groupBy(commands, one => one.name.split(' ')[0]!)
  const blocks = [...nouns.values()].map(block =>
    block.map(one => `  ${usage(one).replace(/^airside /, '')}\n      ${one.summary}`).join('\n'),
  )
  return [
    'Usage: airside COMMAND [--region intl|cn] [--json]',
    ...blocks,
    'Commands work on the database of the running server, which follows within a second. One command in full: airside COMMAND --help.',
  ].join('\n\n')
}

main(process.argv.slice(2))
  .then(code => {
    process.exitCode = code
  })
  .catch(error => {
    if (error instanceof SettingsFault) console.error(error.message)
    else console.error(error instanceof Error ? (error.stack ?? error.message) : error)
    process.exitCode = 1
  })
