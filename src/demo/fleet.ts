/** Seats by compartment of the aircraft that the demo carriers fly, in the form the schedule files them. */
const CONFIGURATIONS: Readonly<Record<string, string>> = {
  '320': 'J012Y150',
  '321': 'J024Y156',
  '333': 'J030Y262',
  '359': 'J042Y263',
  '388': 'F014J076Y399',
  '738': 'J016Y144',
  '77W': 'F008J042Y304',
  '788': 'J028Y216',
  '789': 'J048W035Y175',
  '7M8': 'J010Y156',
  E90: 'Y098',
}

/** Cabins that one carrier fits otherwise. */
const OWN_CONFIGURATIONS: Readonly<Record<string, string>> = {
  'E1 321': 'F010J020Y072',
  'N1 320': 'Y174',
}

/** Booking classes by compartment, dearest first; the fare ladders name the same letters. */
export const CLASSES: Readonly<Record<'F' | 'J' | 'Y', string>> = { F: 'FA', J: 'JCDI', Y: 'YBMHKLV' }

/** Configuration of a carrier's aircraft type. @throws RangeError for a type that no demo carrier flies. */
export function configuration(carrier: string, aircraft: string): string {
  const text = OWN_CONFIGURATIONS[`${carrier} ${aircraft}`] ?? CONFIGURATIONS[aircraft]
  if (text === undefined) throw new RangeError(`No configuration for ${aircraft}`)
  return text
}

/** Booking classes that an aircraft of this configuration has seats for. */
export function bookingClasses(configurationText: string): string {
  return (['F', 'J', 'Y'] as const).map(c => (configurationText.includes(c) ? CLASSES[c] : '')).join('')
}

/** Terminals where the demo carriers use different or well-known ones: by carrier and airport, or by airport. */
const TERMINALS: Readonly<Record<string, string>> = {
  'QA LHR': '5',
  LHR: '3',
  'E1 JFK': '8',
  'QA JFK': '8',
  JFK: '4',
  'E1 LAX': '4',
  LAX: 'B',
  EWR: 'B',
  SFO: 'I',
  ORD: '5',
  'E1 ORD': '3',
  'E1 SFO': '1',
  BOS: 'E',
  'E1 BOS': 'B',
  YYZ: '3',
  CDG: '2E',
  FRA: '1',
  MAD: '4S',
  FCO: '3',
  DUB: '2',
  LIS: '1',
  VIE: '3',
  CPH: '3',
  ARN: '5',
  'XI DXB': '3',
  DXB: '1',
  DEL: '3',
  BOM: '2',
  CAI: '3',
  NBO: '1A',
  JNB: 'A',
  GRU: '3',
  EZE: 'A',
  SIN: '3',
  'QA SIN': '1',
  KUL: '1',
  HKG: '1',
  NRT: '2',
  'E1 NRT': '1',
  HND: '3',
  ICN: '1',
  'J1 PVG': '1',
  PVG: '2',
  PEK: '3',
  'J1 CAN': '2',
  CAN: '2',
  CTU: '1',
  TPE: '2',
  SYD: '1',
  MEL: '2',
  ADL: '1',
  'M1 AKL': 'I',
  AKL: 'I',
}

/** Terminal that a carrier uses at an airport, empty where none is given. */
export function terminal(carrier: string, airport: string): string {
  return TERMINALS[`${carrier} ${airport}`] ?? TERMINALS[airport] ?? ''
}
