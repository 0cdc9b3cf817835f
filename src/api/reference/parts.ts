import type { RefusalCode } from '../../refusal.ts'
import type { SchemaName } from './shapes.ts'

/** What can happen to any request, and to any that needs a key. */
export const ANY: readonly RefusalCode[] = ['invalid_params', 'internal_error', 'service_unavailable']
export const KEYED: readonly RefusalCode[] = [
  ...ANY,
  'unauthorized',
  'invalid_key',
  'forbidden',
  'method_not_allowed',
]
export const WITH_BODY: readonly RefusalCode[] = [...KEYED, 'payload_too_large', 'unsupported_media_type']

/** An answer in JSON with an example of its own rendering. */
export const json = (schema: SchemaName, text: string) => ({
  type: 'application/json',
  schema,
  examples: { answer: JSON.parse(text) as unknown },
})
