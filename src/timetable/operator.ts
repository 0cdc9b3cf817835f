/** Who flies a leg that another carrier sells: data elements 050 (on the marketing leg) and 010 (on the operating leg). */
import type { DataElement, Schedule } from './schedule.ts'
import { unpacked } from './ssim-fields.ts'

export type Designator = { carrier: string; number: number; suffix: string }

/** A designator in its fields: airline 3 wide, number 4, suffix 1; they may also stand closer together. Undefined when it is none. */
export function parseDesignator(text: string): Designator | undefined {
  const match = /^([A-Z0-9]{2}[A-Z]?) {0,4}(\d{1,4}) ?([A-Z]?) *$/.exec(text.trimStart())
  if (match === null) return undefined
  return { carrier: match[1]!, number: Number(match[2]), suffix: match[3]! }
}

/** `BA15`, `BA15A`: a designator as it is named everywhere in the house. */
export function designatorName(d: Designator): string {
  return `${d.carrier}${d.number}${d.suffix}`
}

/** The designator that a leg was filed under. */
export function designatorOf(schedule: Schedule, leg: number): Designator {
  const { legs } = schedule
  const suffix = legs.suffix[leg]!
  return {
    carrier: unpacked(legs.carrier[leg]!),
    number: legs.number[leg]!,
    suffix: suffix === 0 ? '' : String.fromCharCode(suffix),
  }
}

/** Data elements of a schedule by leg, those of through segments under each of their legs. */
export function elementsByLeg(schedule: Schedule): ReadonlyMap<number, readonly DataElement[]> {
  const byLeg = new Map<number, DataElement[]>()
  const { sequence } = schedule.legs
  for (const element of schedule.elements) {
    for (let n = 0; n < element.legs && element.leg + n < schedule.legCount; n++) {
      const leg = element.leg + n
      if (sequence[leg] !== sequence[element.leg]! + n) break
      const list = byLeg.get(leg)
      if (list === undefined) byLeg.set(leg, [element])
      else list.push(element)
    }
  }
  return byLeg
}

/**
 * Where the operating legs of all schedules are: `operated` by `BA15/LHR`, and `marketed` from `AS1979/LHR/SIN`, a marketing flight that an
 * operating leg lists, to its own designator.
 */
export type Operators = {
  operated: ReadonlyMap<string, readonly { schedule: Schedule; leg: number }[]>
  marketed: ReadonlyMap<string, Designator>
}

/** Indexes the legs that codeshares may refer to; empty where no schedule has a codeshare, so that a plain world pays nothing. */
export function indexOperators(schedules: readonly Schedule[]): Operators {
  const operated = new Map<string, { schedule: Schedule; leg: number }[]>()
  const marketed = new Map<string, Designator>()
  const shares = schedules.some(schedule => schedule.elements.some(e => e.element === 10 || e.element === 50))
  if (!shares) return { operated, marketed }
  for (const schedule of schedules) {
    const elements = elementsByLeg(schedule)
    for (let leg = 0; leg < schedule.legCount; leg++) {
      const own = elements.get(leg) ?? []
      if (own.some(e => e.element === 50)) continue
      const designator = designatorOf(schedule, leg)
      const board = unpacked(schedule.legs.origin[leg]!)
      const name = `${designatorName(designator)}/${board}`
      const list = operated.get(name)
      if (list === undefined) operated.set(name, [{ schedule, leg }])
      else list.push({ schedule, leg })
      const off = unpacked(schedule.legs.destination[leg]!)
      const listed = own.filter(e => e.element === 10).flatMap(e => e.text.split('/'))
      for (const text of listed) {
        const marketing = parseDesignator(text)
        if (marketing) marketed.set(`${designatorName(marketing)}/${board}/${off}`, designator)
      }
    }
  }
  return { operated, marketed }
}

/**
 * Who flies a leg: the flight it names; else, where it is disclosed as a codeshare, the flight that lists it or the carrier in its owner
 * field; undefined when it flies itself.
 */
export function operatorOf(
  schedule: Schedule,
  leg: number,
  elements: readonly DataElement[],
  operators: Operators,
): Designator | undefined {
  const named = elements.filter(e => e.element === 50).sort((a, b) => a.legs - b.legs)[0]
  const operating = named && parseDesignator(named.text.split('/', 1)[0]!)
  if (operating) return operating
  const disclosure = String.fromCharCode(schedule.legs.disclosure[leg]!)
  const own = designatorOf(schedule, leg)
  if (disclosure === 'L' || disclosure === 'Z') {
    const board = unpacked(schedule.legs.origin[leg]!)
    const off = unpacked(schedule.legs.destination[leg]!)
    const lister = operators.marketed.get(`${designatorName(own)}/${board}/${off}`)
    if (lister) return lister
  }
  const owner = unpacked(schedule.legs.owner[leg]!)
  const byOwner = (disclosure === 'L' || disclosure === 'S') && owner !== '' && owner !== own.carrier
  return byOwner ? { ...own, carrier: owner } : undefined
}
