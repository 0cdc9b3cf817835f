import { createHash } from 'node:crypto'

/** A statement as the driver takes it. */
export type Statement = { name?: string; text: string; values?: unknown[] }

/** Prepared statements at most: each costs memory on every connection. Texts beyond it are sent whole each time. */
const PREPARED_MAX = 1000

const names = new Map<string, string>()

/**
 * A statement that the server parses once per connection: its name is a hash of its text, so the same text has the
 * same name everywhere. Texts must come from the source, never be put together from values.
 */
export function statement(text: string, values?: readonly unknown[]): Statement {
  const name = nameOf(text)
  return {
    text,
    ...(name === undefined ? {} : { name }),
    ...(values === undefined ? {} : { values: values as unknown[] }),
  }
}

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= PREPARED_MAX) return known
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 20)
  names.set(text, name)
  return name
}
