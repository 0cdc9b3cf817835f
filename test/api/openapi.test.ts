import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import Ajv from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { OpenApiOperation } from '../../src/api/reference/shapes.ts'
import { createApi } from '../../src/api/server.ts'
import { REFUSALS } from '../../src/refusal.ts'
import { readSettings } from '../../src/settings.ts'
import { DOCUMENT } from '../support/openapi.ts'
import { serveApi } from './support.ts'

const operations: [string, string, OpenApiOperation][] = Object.entries(DOCUMENT.paths).flatMap(
  ([path, item]) =>
    (['get', 'post', 'delete'] as const).flatMap(method => {
      const operation = item[method]
      return operation === undefined
        ? []
        : [
            [method, (item.servers === undefined ? '/v1' : '') + path, operation] as [
              string,
              string,
              OpenApiOperation,
            ],
          ]
    }),
)

const api = await serveApi()
after(() => api.stop())

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  const result = await validator.validate(structuredClone(DOCUMENT) as never)
  assert.deepEqual(result.errors ?? [], [])
  assert.equal(result.valid, true)
  assert.equal(validator.version, '3.1')
})

test('the served document is the document', async () => {
  const served = await fetch(`${api.url}/v1/openapi.json`)
  assert.deepEqual(await served.json(), DOCUMENT)
})

test('served routes and documented routes are the same', async () => {
  const app = createApi(Object.create(null, { settings: { value: readSettings({}) } }))
  await app.ready()
  // A tree of parts of paths, four columns a level.
  const above: string[] = []
  const served: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const match = /^([│ ]*)[├└]── (\S+)(?: \(([A-Z, ]+)\))?/.exec(line)
    if (match === null) continue
    const level = match[1]!.length / 4
    above.length = level
    above.push(match[2]!)
    for (const method of match[3]?.split(', ') ?? []) served.push(`${method} ${above.join('')}`)
  }
  const documented = operations.map(
    ([method, path]) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
  )
  const heads = ['HEAD /healthz', 'HEAD /readyz']
  assert.deepEqual(served.sort(), [...documented, ...heads].sort())
})

test('every operation has a name, a summary, a description and a tag of its own document', () => {
  const ids = new Set<string>()
  for (const [method, path, operation] of operations) {
    const where = `${method} ${path}`
    assert.match(operation.operationId, /^[a-z][A-Za-z]+$/, where)
    assert.ok(!ids.has(operation.operationId), `${where}: operationId twice`)
    ids.add(operation.operationId)
    assert.ok(operation.summary.length > 5 && operation.description.length > 5, where)
    assert.ok(
      operation.tags.every(tag => DOCUMENT.tags.some(({ name }) => name === tag)),
      where,
    )
  }
})

test('every operation documents what can refuse it, each code with an example', () => {
  const always = ['400', '408', '431', '500', '503']
  for (const [method, path, { responses, security, requestBody, tags }] of operations) {
    const wanted = [...always]
    if (security === undefined) wanted.push('401', '403', '405')
    if (path.includes('{')) wanted.push('404')
    if (requestBody !== undefined) wanted.push('413', '415')
    if (requestBody !== undefined && !tags.some(tag => ['Webhooks', 'Events'].includes(tag)))
      wanted.push('422')
    for (const status of wanted)
      assert.ok(responses[status], `${method} ${path}: ${status} is not documented`)
    for (const [status, answer] of Object.entries(responses)) {
      if (Number(status) < 400) continue
      const examples = Object.entries(answer.content?.['application/json']?.examples ?? {})
      assert.ok(examples.length > 0, `${method} ${path} ${status}: no example`)
      for (const [code] of examples) assert.ok(code in REFUSALS, code)
    }
  }
})

test('every example fits its schema', () => {
  const ajv = new Ajv.default({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: 'openapi', components: DOCUMENT.components })
  let checked = 0
  const check = (
    content: NonNullable<OpenApiOperation['requestBody']>['content'] | undefined,
    where: string,
  ) => {
    for (const { schema, examples } of Object.values(content ?? {})) {
      if (schema.$ref === undefined) continue
      const validate = ajv.compile({ $ref: `openapi${schema.$ref}` })
      for (const [name, { value }] of Object.entries(examples ?? {})) {
        assert.ok(validate(value), `${where} ${name}: ${ajv.errorsText(validate.errors)}`)
        checked++
      }
    }
  }
  for (const [method, path, operation] of operations) {
    check(operation.requestBody?.content, `${method} ${path}`)
    for (const [status, answer] of Object.entries(operation.responses))
      check(answer.content, `${method} ${path} ${status}`)
  }
  assert.ok(checked > 60, `only ${checked} examples`)
})

test('every field of a request is described', () => {
  for (const name of ['SearchRequest', 'BookingRequest', 'Passenger', 'WebhookRequest', 'RecoveryRequest']) {
    for (const [field, schema] of Object.entries(DOCUMENT.components.schemas[name]?.properties ?? {})) {
      assert.ok((schema.description ?? '').length > 10, `${name}.${field}`)
    }
  }
})
