/** One leg record (type 3) into the columns of a schedule, with every field checked. */
import { type Legs, OPEN_DAY } from './schedule.ts'
import * as field from './ssim-fields.ts'

/** Data elements that selling needs: codeshare, booking classes, configuration, operator's name, traffic restrictions. */
export const SERVED_ELEMENTS: ReadonlySet<number> = new Set([10, 50, 106, 108, 127, 170, 171, 172, 173])

const FREQUENCY = new Map([
  [0x20, 0],
  [0x31, 0],
  [0x32, 1],
])

/** Reads the leg record at `at` into row `row` of the columns; reports every fault by its bytes and answers whether there was none. */
export function readLeg(
  legs: Legs,
  row: number,
  b: Uint8Array,
  at: number,
  intern: (text: string) => number,
  fault: (from: number, to: number, reason: string) => void,
): boolean {
  let sound = true
  const check = (value: number, from: number, to: number, reason: string): number => {
    if (value !== field.BAD) return value
    sound = false
    fault(from, to, `${reason}: "${field.text(b, at, from, to)}"`)
    return 0
  }
  const least = (value: number, minimum: number) => (value < minimum ? field.BAD : value)
  const most = (value: number, maximum: number) => (value > maximum ? field.BAD : value)

  const overflow =
    b[at + 127] === 0x20 ? 0 : check(field.number(b, at, 128, 128), 128, 128, 'no overflow digit')
  const variation = check(field.number(b, at, 10, 11), 10, 11, 'no itinerary variation') + 100 * overflow
  legs.suffix[row] = field.character(b, at, 2)
  legs.carrier[row] = check(field.code(b, at, 3, 2), 3, 5, 'no airline designator')
  legs.number[row] = check(least(field.number(b, at, 6, 9), 1), 6, 9, 'no flight number')
  legs.variation[row] = check(least(variation, 1), 10, 11, 'no itinerary variation')
  legs.sequence[row] = check(least(field.number(b, at, 12, 13), 1), 12, 13, 'no leg sequence number')
  legs.service[row] = field.character(b, at, 14)
  legs.from[row] = check(field.date(b, at, 15), 15, 21, 'no date')
  legs.to[row] = check(field.date(b, at, 22), 22, 28, 'no date')
  legs.weekdays[row] = check(
    field.weekdays(b, at, 29),
    29,
    35,
    'no days of operation, each digit in its place',
  )
  legs.fortnightly[row] = check(FREQUENCY.get(b[at + 35]!) ?? field.BAD, 36, 36, 'unknown frequency rate')
  legs.origin[row] = check(field.code(b, at, 37, 3), 37, 39, 'no station')
  legs.departure[row] = check(most(field.time(b, at, 40), 1439), 40, 43, 'no departure time')
  legs.aircraftDeparture[row] = check(most(field.time(b, at, 44), 1439), 44, 47, 'no departure time')
  legs.departureOffset[row] = check(field.offset(b, at, 48), 48, 52, 'no UTC variation')
  legs.departureTerminal[row] = field.packed(b, at, 53, 2)
  legs.destination[row] = check(field.code(b, at, 55, 3), 55, 57, 'no station')
  legs.aircraftArrival[row] = check(field.time(b, at, 58), 58, 61, 'no arrival time')
  legs.arrival[row] = check(field.time(b, at, 62), 62, 65, 'no arrival time')
  legs.arrivalOffset[row] = check(field.offset(b, at, 66), 66, 70, 'no UTC variation')
  legs.arrivalTerminal[row] = field.packed(b, at, 71, 2)
  legs.aircraft[row] = field.packed(b, at, 73, 3)
  legs.classes[row] = intern(field.text(b, at, 76, 95))
  legs.owner[row] = field.packed(b, at, 129, 3)
  legs.disclosure[row] = field.character(b, at, 149)
  legs.restriction[row] = intern(field.text(b, at, 150, 160))
  legs.configuration[row] = intern(field.text(b, at, 173, 192))
  legs.departureDays[row] = check(field.dayVariation(b, at, 193), 193, 193, 'no date variation')
  legs.arrivalDays[row] = check(field.dayVariation(b, at, 194), 194, 194, 'no date variation')
  if (sound && legs.from[row] === OPEN_DAY) check(field.BAD, 15, 21, 'the period has no beginning')
  if (sound && legs.from[row]! > legs.to[row]!) check(field.BAD, 15, 28, 'the period ends before it begins')
  return sound
}
