import assert from 'node:assert/strict'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import Ajv from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { z } from 'zod'
import type * as shape from '../../src/api/answer.ts'
import { openApiDocument } from '../../src/api/openapi.ts'
import type { OpenApi, OpenApiOperation } from '../../src/api/reference/shapes.ts'
import { readSettings } from '../../src/settings.ts'

/** The document of a server with default settings. */
export const DOCUMENT: OpenApi = openApiDocument(readSettings({}))

const ajv = new Ajv.default({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(closed({ $id: 'openapi', components: DOCUMENT.components }))
const validators = new Map<string, ValidateFunction>()

/** An answer as it came over the wire. */
export type Answered = { status: number; headers: Headers; text: string }

/** Any answer's body: a test reads only the fields that its status promises. */
export type Json = Body<typeof shape.SearchAnswerBody> &
  Body<typeof shape.BookingAnswer> &
  Body<typeof shape.BookingsAnswer> &
  Body<typeof shape.ErrorAnswer> & { status: string }
type Body<S extends z.ZodType> = Omit<z.output<S>, 'status'>
const NONE = {} as Json

/** `fetch` that refuses an answer our OpenAPI document does not describe: status, media type, headers and every field of the body. */
export async function ask(url: string, init: RequestInit = {}): Promise<Answered & { json: Json }> {
  const response = await fetch(url, { redirect: 'manual', ...init })
  const text = await response.text()
  const answered = { status: response.status, headers: response.headers, text }
  checkAnswer(init.method ?? 'GET', new URL(url).pathname, answered)
  const json =
    response.headers.get('content-type')?.startsWith('application/json') && text !== ''
      ? (JSON.parse(text) as Json)
      : NONE
  return { ...answered, json }
}

/** @throws AssertionError when the document does not describe this answer to this request */
export function checkAnswer(method: string, path: string, { status, headers, text }: Answered): void {
  const where = `${method} ${path} → ${status}`
  assert.match(headers.get('x-request-id') ?? '', /^req_[0-9A-Za-z]{24}$/, `${where}: X-Request-Id`)
  const operation = operationOf(method, path)
  if (operation === undefined) {
    // Nothing is documented there, so nothing but a refusal may come.
    assert.ok([400, 401, 403, 404, 405, 408, 431, 503].includes(status), `${where}: not documented`)
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8', where)
    if (method !== 'HEAD') checkBody('#/components/schemas/ErrorAnswer', text, where)
    return
  }
  const answer = operation.responses[String(status)]
  assert.ok(answer, `${where}: status not documented`)
  for (const name of Object.keys(answer.headers)) {
    if (name === 'Idempotent-Replayed') continue
    // What is refused before the allowance was asked cannot tell of it.
    if (name.startsWith('RateLimit') && ![200, 422, 429].includes(status)) continue
    assert.ok(headers.has(name), `${where}: header ${name} is documented and missing`)
  }
  if (answer.content === undefined || method === 'HEAD') return
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  const content = answer.content[type]
  assert.ok(content, `${where}: media type ${type} not documented`)
  if (content.schema.$ref !== undefined) checkBody(content.schema.$ref, text, where)
}

function checkBody(ref: string, text: string, where: string): void {
  let validate = validators.get(ref)
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `openapi${ref}` })
    validators.set(ref, validate)
  }
  const value = JSON.parse(text) as { status?: unknown }
  assert.ok(validate(value), `${where}: ${ajv.errorsText(validate.errors)}\n${text.slice(0, 2000)}`)
  assert.equal(
    Object.keys(value).slice(0, 2).join(),
    'status,requestId',
    `${where}: status and requestId come first`,
  )
}

function operationOf(method: string, path: string): OpenApiOperation | undefined {
  for (const [template, item] of Object.entries(DOCUMENT.paths)) {
    const full = (item.servers === undefined ? '/v1' : '') + template
    const pattern = new RegExp(`^${full.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
    if (pattern.test(path))
      return item[(method === 'HEAD' ? 'get' : method.toLowerCase()) as 'get' | 'post' | 'delete']
  }
  return undefined
}

/** The document leaves objects open, for `/v1` grows. Here a field that it does not name is a fault. */
function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(closed) as T
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  if (copy.type === 'object' && copy.properties !== undefined) copy.additionalProperties = false
  return copy as T
}
