import { greatCircleKm } from '../travel/airport.ts'

/** Where a place lies, degrees north and east. */
type Position = { latitude: number; longitude: number }

const CRUISE_KM_AN_HOUR = 860
/** Taxiing, climb and approach. */
const GROUND_MINUTES = 38
const RADIANS = Math.PI / 180

/**
 * Minutes from leaving one gate to reaching the other, in steps of five, as a planner would guess them: cruise along the great circle, with
 * the westerlies of the middle latitudes making it longer to the west than to the east.
 */
export function blockMinutes(from: Position, to: Position): number {
  const km = greatCircleKm(from.latitude, from.longitude, to.latitude, to.longitude)
  const windFactor = 1.03 - 0.07 * eastward(from, to) * westerlies((from.latitude + to.latitude) / 2)
  return 5 * Math.ceil((GROUND_MINUTES + (km / CRUISE_KM_AN_HOUR) * 60 * windFactor) / 5)
}

/** How far a direction is to the east: 1 due east, -1 due west. */
function eastward(from: Position, to: Position): number {
  const east = (((to.longitude - from.longitude + 540) % 360) - 180) * RADIANS
  const here = from.latitude * RADIANS
  const there = to.latitude * RADIANS
  const y = Math.sin(east) * Math.cos(there)
  const x = Math.cos(here) * Math.sin(there) - Math.sin(here) * Math.cos(there) * Math.cos(east)
  return y === 0 && x === 0 ? 0 : y / Math.hypot(x, y)
}

/** Share of the full west wind at a latitude. */
function westerlies(latitude: number): number {
  const size = Math.abs(latitude)
  return size < 15 ? 0.2 : size > 25 ? 1 : 0.6
}
