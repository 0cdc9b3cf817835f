import type { ParseArgsConfig } from 'node:util'
import type { Database } from '../db/database.ts'
import { invalidParams, type Refusal } from '../refusal.ts'
import type { Region, Settings } from '../settings.ts'

/** What a command works on: one region's database, the same that a running server uses. */
export type CommandContext = {
  database: Database
  region: Region
  settings: Settings
  /** The master secret. */
  secret: string
}

/** What was typed, parsed by `parseArgs` with the command's options and positionals allowed. */
export type Arguments = {
  values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  positionals: readonly string[]
}

/** What a command has to say: to scripts (`--json`) and to people. */
export type CommandResult = { json: object; text: string }

/** One command of the operator. A Refusal that `run` throws is for the operator to read; anything else is a defect. */
export type Command = {
  /** As typed: `key create`. */
  name: string
  /** Its arguments, as help shows them. */
  usage: string
  summary: string
  options: NonNullable<ParseArgsConfig['options']>
  run(context: CommandContext, args: Arguments): Promise<CommandResult>
}

/** Instants in JSON are ISO 8601 in UTC, or null. */
export function instant(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}

/** The text of `--option`; undefined when it was not given. */
export function text(args: Arguments, option: string): string | undefined {
  const value = args.values[option]
  return typeof value === 'string' ? value : undefined
}

/**
 * The text of `--option`.
 * @throws Refusal that says what to give
 */
export function requiredText(args: Arguments, option: string, remedy: string): string {
  const value = text(args, option)
  if (value === undefined || value.trim() === '') throw faulty(`--${option}`, `is missing; ${remedy}`)
  return value
}

/**
 * The text of `--option` as one of a few words.
 * @throws Refusal that names them
 */
export function choice<T extends string>(args: Arguments, option: string, words: readonly T[]): T {
  const remedy = `give one of ${words.join(', ')}`
  const value = requiredText(args, option, remedy)
  const word = words.find(each => each === value)
  if (word === undefined) throw faulty(`--${option}`, `cannot be ${JSON.stringify(value)}; ${remedy}`)
  return word
}

/**
 * The one argument that stands alone.
 * @throws Refusal when there is none, or more than one
 */
export function onlyPositional(args: Arguments, name: string, remedy: string): string {
  const [first, second] = args.positionals
  if (first === undefined) throw faulty(name, `is missing; ${remedy}`)
  if (second !== undefined)
    throw faulty(name, `must stand alone, but ${JSON.stringify(second)} follows; ${remedy}`)
  return first
}

/**
 * Refuses arguments that stand alone, for commands that take only options.
 * @throws Refusal naming the first
 */
export function noPositionals(args: Arguments): void {
  const [first] = args.positionals
  if (first !== undefined)
    throw faulty(JSON.stringify(first), 'is not expected; did you forget the option before it?')
}

/** The refusal for an argument, which `param` names as it was typed. */
export function faulty(param: string, message: string): Refusal {
  return invalidParams([{ param, code: 'invalid', message }])
}

/** Rows under a heading in aligned columns. */
export function columns(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading, ...rows]
  const widths = heading.map((_, i) => Math.max(...all.map(row => row[i]!.length)))
  return all
    .map(row =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** What a command works with that talks to a server as a partner does; it needs no database. */
export type RemoteContext = {
  settings: Settings
  region: Region
  /** Prints a line at once: the text, or with `--json` the object. */
  say(result: CommandResult): void
  /** Works on the region's database after all, as other commands do: only where the server's data is. */
  atHome<T>(work: (context: CommandContext) => Promise<T>): Promise<T>
}

/** A command that talks to a server; it may run until it is stopped, saying what happens as it does. */
export type RemoteCommand = Omit<Command, 'run'> & {
  remote: true
  run(context: RemoteContext, args: Arguments): Promise<CommandResult | undefined>
}
