import { followThrough } from '../booking/operation/follow.ts'
import { createLog } from '../log.ts'
import { createInventory, INVENTORY } from '../supplier/inventory/inventory.ts'
import { loadTimetable } from '../supplier/inventory/load.ts'
import { DELAY_MAX_MINUTES, type Ordered, operateFlight } from '../supplier/inventory/operation/operate.ts'
import type { OperationKind } from '../supplier/inventory/operation/store.ts'
import { rulesOf } from '../supplier/inventory/rules.ts'
import type { Followed } from '../supplier/supplier.ts'
import { type Arguments, type Command, type CommandContext, faulty, requiredText, text } from './command.ts'

const FROM = { from: { type: 'string' } } as const
const FLIGHT_REMEDY = 'give a flight number such as BA15'
const DATE_REMEDY = 'give the local day of departure such as 2027-03-28'

/** Commands that do to a flight date what a carrier does; the bookings on it follow, each with its event. */
export const commands: readonly Command[] = [
  {
    name: 'flight delay',
    usage: 'DESIGNATOR DATE --minutes N [--from AIRPORT]',
    summary:
      'Delay a flight by N minutes against its schedule: bookings get the new times, and it is not sold until it is restored',
    options: { ...FROM, minutes: { type: 'string' } },
    run: (context, args) => operate(context, args, 'delay', minutesOf(args)),
  },
  {
    name: 'flight cancel',
    usage: 'DESIGNATOR DATE [--from AIRPORT]',
    summary: 'Cancel a flight: all bookings on it are cancelled and refunded, for good, and it is not sold',
    options: FROM,
    run: (context, args) => operate(context, args, 'cancel', 0),
  },
  {
    name: 'flight restore',
    usage: 'DESIGNATOR DATE [--from AIRPORT]',
    summary:
      'Undo a delay or a cancellation: it is sold again at its scheduled times; bookings that were cancelled stay so',
    options: FROM,
    run: (context, args) => operate(context, args, 'restore', 0),
  },
]

async function operate(
  { database, settings }: CommandContext,
  args: Arguments,
  kind: OperationKind,
  minutes: number,
) {
  const [designator, date, more] = args.positionals
  if (designator === undefined) throw faulty('DESIGNATOR', `is missing; ${FLIGHT_REMEDY}`)
  if (date === undefined) throw faulty('DATE', `is missing; ${DATE_REMEDY}`)
  if (more !== undefined) throw faulty('DATE', `must come last, but ${JSON.stringify(more)} follows`)
  const startedAt = performance.now()
  const from = text(args, 'from')?.trim().toUpperCase()
  const order = { kind, designator, date, from, minutes }
  const ordered = await operateFlight(database, await loadTimetable(database), order, Date.now())
  const inventory = createInventory(() => undefined, rulesOf(settings))
  const house = {
    database,
    suppliers: new Map([[INVENTORY, inventory]]),
    log: createLog(settings.log, 'cli'),
  }
  const { followed } = await followThrough(house, inventory, ordered.id)
  const json = {
    operationId: ordered.id,
    operation: kind,
    flight: ordered.flight,
    from: ordered.board,
    date: ordered.departs,
    ...(kind === 'delay' ? { minutes } : {}),
    legs: ordered.legs.map(({ leg, departs }) => ({ leg, date: departs })),
    bookings: followed,
    repeated: ordered.repeated,
    seconds: Number(((performance.now() - startedAt) / 1000).toFixed(2)),
  }
  return { json, text: tell(kind, minutes, ordered, followed) }
}

function tell(
  kind: OperationKind,
  minutes: number,
  { flight, departs, board, repeated }: Ordered,
  followed: Followed,
): string {
  const did = {
    delay: `is ${minutes} minutes late and not sold`,
    cancel: 'is cancelled and not sold',
    restore: 'goes as scheduled and is sold again',
  }[kind]
  const count = (n: number, what: string) => `${n} ${n === 1 ? 'booking' : 'bookings'} ${what}`
  const lines = [
    `${flight} of ${departs} from ${board} ${did}${repeated ? ', as was said before' : ''}.`,
    count(followed.cancelled, 'cancelled and refunded'),
    count(followed.updated, 'got other times'),
    count(followed.unchanged, 'had ended already or stay as they are'),
    ...(followed.failed === 0
      ? []
      : [count(followed.failed, 'could not be changed: see the log, and give the command again')]),
  ]
  return lines.join('\n  ')
}

function minutesOf(args: Arguments): number {
  const remedy = `give whole minutes from 1 to ${DELAY_MAX_MINUTES}, counted from the schedule`
  const typed = requiredText(args, 'minutes', remedy)
  const minutes = /^\d{1,5}$/.test(typed) ? Number(typed) : 0
  if (minutes < 1 || minutes > DELAY_MAX_MINUTES)
    throw faulty('--minutes', `cannot be ${JSON.stringify(typed)}; ${remedy}`)
  return minutes
}
