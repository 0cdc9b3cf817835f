import pg from 'pg'

/**
 * How values come out of the database, beside what the driver does by itself (text, bool, int4, float8, json as
 * JavaScript has them, bytea as Buffer, timestamptz as Date):
 * int8 is a number, and a defect beyond 2^53; numeric, date, time and timestamp stay the text PostgreSQL writes,
 * because a float would round the first and a Date would move the others into this machine's zone.
 */
export const VALUE_TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : PARSERS.get(oid)) ??
    pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}

const { builtins } = pg.types
const asText = (text: string): string => text
const asTexts = pg.types.getTypeParser(1009 as number) as (text: string) => (string | null)[]

const PARSERS = new Map<number, (text: string) => unknown>([
  [builtins.INT8, toSafeNumber],
  [1016, text => asTexts(text).map(item => (item === null ? null : toSafeNumber(item)))],
  [builtins.DATE, asText],
  [1182, asTexts],
  [builtins.TIMESTAMP, asText],
  [1115, asTexts],
  [1231, asTexts],
])

function toSafeNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} does not fit a JavaScript number`)
  return value
}
