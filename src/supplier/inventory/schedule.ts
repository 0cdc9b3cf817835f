import { promisify } from 'node:util'
import { gunzipSync, gzip } from 'node:zlib'
import type { Database, Transaction } from '../../db/database.ts'
import { type CompileReport, compile } from '../../timetable/compile.ts'
import { IMAGE_VERSION } from '../../timetable/image.ts'
import type { Schedule, Warning } from '../../timetable/schedule.ts'
import { carrierText, ssimReader } from '../../timetable/ssim.ts'
import { airports } from '../../travel/airport.ts'
import {
  type CarrierSource,
  imageHash,
  lockImports,
  readSources,
  readState,
  writeDemoDay,
  writeImage,
  writeSources,
} from './store.ts'

/** Uncompressed bytes of one schedule file. */
export const SCHEDULE_BYTES_MAX = 1 << 30

const compress = promisify(gzip)

export type ScheduleImported = {
  carriers: number
  legs: number
  /** Of all carriers together, those imported before included. */
  report: CompileReport
  warnings: readonly Warning[]
}

/**
 * Imports an SSIM chapter 7 file: its carriers' schedules take the place of those they had; with `alone`, of everybody's. Parsed and
 * compiled before anything is written, then one transaction; running servers load it and swap it in whole.
 * @param bytes the file's text, or a gzip of it
 * @throws SsimRefused with line, bytes and reason; nothing changes then
 */
export async function importSchedule(
  database: Database,
  bytes: Uint8Array,
  alone: boolean,
): Promise<ScheduleImported> {
  const text = plain(bytes)
  const schedule = read(text)
  const carriers = [...new Set(schedule.blocks.map(block => block.carrier))].sort()
  const sources = await Promise.all(carriers.map(carrier => source(text, schedule, carrier)))
  const report = await database.transaction(async tx => {
    await lockImports(tx)
    const others = alone ? [] : await readSources(tx, carriers)
    await writeSources(tx, sources, alone)
    if (alone) await writeDemoDay(tx, null)
    return store(tx, [schedule, ...others.map(other => read(plain(other.ssim)))])
  })
  const legs = sources.reduce((sum, one) => sum + one.legs, 0)
  return { carriers: carriers.length, legs, report, warnings: [...schedule.warnings, ...report.warnings] }
}

/** Compiles the stored schedules anew when an image of another layout is stored, as after an upgrade. Returns whether it did. */
export async function renewImage(database: Database): Promise<boolean> {
  const outdated = async (db: Database | Transaction) => {
    const state = await readState(db)
    return state.imageBytes > 0 && state.imageVersion !== IMAGE_VERSION
  }
  if (!(await outdated(database))) return false
  return database.transaction(async tx => {
    await lockImports(tx)
    if (!(await outdated(tx))) return false
    const sources = await readSources(tx, [])
    await store(
      tx,
      sources.map(one => read(plain(one.ssim))),
    )
    return true
  })
}

async function store(tx: Transaction, schedules: readonly Schedule[]): Promise<CompileReport> {
  const { buffer, report } = compile(schedules, airports())
  const image = new Uint8Array(buffer)
  await writeImage(tx, image, imageHash(image), IMAGE_VERSION)
  return report
}

function read(text: Uint8Array): Schedule {
  const reader = ssimReader()
  reader.push(text)
  return reader.end()
}

function plain(bytes: Uint8Array): Uint8Array {
  const zipped = bytes[0] === 0x1f && bytes[1] === 0x8b
  if (!zipped) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: SCHEDULE_BYTES_MAX })
  } catch (error) {
    throw new SyntaxError(`The gzip file is refused and nothing was changed: ${(error as Error).message}`)
  }
}

async function source(text: Uint8Array, schedule: Schedule, carrier: string): Promise<CarrierSource> {
  const own = carrierText(text, schedule, carrier)
  const legs = schedule.blocks
    .filter(block => block.carrier === carrier)
    .reduce((sum, block) => sum + block.endLeg - block.firstLeg, 0)
  return { carrier, ssim: await compress(own, { level: 1 }), legs }
}
