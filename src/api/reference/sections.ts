import { REFUSALS, type RefusalCode } from '../../refusal.ts'
import { CODE_NOTES } from './codes.ts'
import { block, json, prose, safe, table } from './markup.ts'
import type { JsonSchema, OpenApi, OpenApiOperation, Operation, Parameter } from './shapes.ts'

/** An operation with where it is. */
export type Placed = { method: Operation['method']; path: string; operation: OpenApiOperation }

/** All operations in the order of the document, with their whole paths. */
export function operationsOf(document: OpenApi): Placed[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    (['get', 'post', 'delete'] as const).flatMap(method => {
      const operation = item[method]
      return operation === undefined
        ? []
        : [{ method, path: (item.servers === undefined ? '/v1' : '') + path, operation }]
    }),
  )
}

/** One operation: what it takes, a call, an answer, what can refuse it. */
export function operationSection(document: OpenApi, placed: Placed): string {
  const { method, path, operation } = placed
  const success = operation.responses['200']!
  const content = success.content?.['application/json']
  const body = operation.requestBody?.content['application/json']
  const answer = Object.values(content?.examples ?? {})[0]
  return [
    `<section id="${operation.operationId}"><h2>${safe(operation.summary)}</h2>`,
    `<div class="route">${verb(method)}<code>${safe(path)}</code></div>`,
    `<p>${prose(operation.description)}</p>`,
    operation.parameters === undefined
      ? ''
      : `<h3>Parameters</h3>${parameterTable(document, operation.parameters)}`,
    body === undefined ? '' : `<h3>Body</h3>${fieldTable(document, body.schema)}`,
    body === undefined ? '' : nestedTables(document, body.schema),
    block('Call', curl(placed)),
    answer === undefined ? '' : block(`Answer · ${Object.keys(operation.responses)[0]}`, json(answer.value)),
    content?.schema.$ref === undefined
      ? ''
      : `<details><summary>Fields of the answer</summary>${fieldTable(document, content.schema)}${nestedTables(document, content.schema)}</details>`,
    `<h3>What can refuse it</h3>${codeList(operation)}`,
    '</section>',
  ].join('')
}

/** What needs no key, in one table. */
export function serviceSection(open: readonly Placed[]): string {
  const rows = open.map(({ method, path, operation }) => [
    `${verb(method)} <code>${safe(path)}</code>`,
    `${prose(operation.summary)}. ${prose(operation.description)}`,
  ])
  return `<section id="service"><h2>Health and documents</h2><p>These need no key.</p>${table(['Path', 'What it is'], rows)}</section>`
}

export const verb = (method: string) => `<span class="verb ${method}">${method.toUpperCase()}</span>`

/** Every code, each row the target of a `docUrl`. */
export function codeTable(): string {
  const rows = (Object.keys(REFUSALS) as RefusalCode[]).map(code => {
    const { status, retryable } = REFUSALS[code]
    const { means, remedy } = CODE_NOTES[code]
    return `<tr id="${code}"><td><code>${code}</code><span class="type">${status}${retryable ? ' · retry' : ''}</span></td><td>${prose(means)}</td><td>${prose(remedy)}</td></tr>`
  })
  return `<div class="wide" tabindex="0"><table><thead><tr><th>Code</th><th>What it means</th><th>What to do</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function codeList(operation: OpenApiOperation): string {
  const items = Object.entries(operation.responses).flatMap(([status, answer]) =>
    Number(status) < 400 || status === '408' || status === '431'
      ? []
      : Object.keys(answer.content?.['application/json']?.examples ?? {}).map(
          code => `<li><a href="#${code}"><b>${status}</b>${code}</a></li>`,
        ),
  )
  return `<ul class="codes">${items.join('')}</ul>`
}

function parameterTable(document: OpenApi, parameters: readonly Parameter[]): string {
  return table(
    ['Name', 'What it is'],
    parameters.map(({ name, in: place, required, description, schema }) => [
      `<code>${safe(name)}</code>${required ? MUST : ''}<span class="type">${place}, ${typeOf(document, schema)}</span>`,
      prose(description) + rules(document, schema),
    ]),
  )
}

const MUST = '<span class="must">required</span>'

function fieldTable(document: OpenApi, schema: JsonSchema): string {
  const { properties = {}, required = [] } = resolve(document, schema)
  const answers = resolve(document, schema).properties?.requestId !== undefined
  return table(
    ['Field', 'What it is'],
    Object.entries(properties).map(([name, field]) => [
      `<code>${safe(name)}</code>${required.includes(name) && !answers ? MUST : ''}<span class="type">${typeOf(document, field)}</span>`,
      prose(field.description ?? resolve(document, field).description ?? '') + rules(document, field),
    ]),
  )
}

/** Tables for the objects that a shape is made of, each once. */
function nestedTables(document: OpenApi, schema: JsonSchema): string {
  const seen = new Set<string>(schema.$ref === undefined ? [] : [schema.$ref])
  const out: string[] = []
  const visit = (at: JsonSchema) => {
    for (const field of Object.values(resolve(document, at).properties ?? {})) {
      const inner = field.items ?? field
      if (inner.$ref !== undefined && !seen.has(inner.$ref)) {
        seen.add(inner.$ref)
        const named = resolve(document, inner)
        if (named.title !== 'Price')
          out.push(
            `<h3>${safe(named.title ?? '')}</h3>${named.description === undefined ? '' : `<p>${prose(named.description)}</p>`}${fieldTable(document, inner)}`,
          )
      }
      visit(inner)
    }
  }
  visit(schema)
  return out.join('')
}

function resolve(document: OpenApi, schema: JsonSchema): JsonSchema {
  return schema.$ref === undefined
    ? schema
    : (document.components.schemas[schema.$ref.split('/').at(-1)!] ?? schema)
}

function typeOf(document: OpenApi, schema: JsonSchema): string {
  if (schema.items !== undefined) return `list of ${typeOf(document, schema.items)}`
  if (schema.const !== undefined) return `<code>${safe(JSON.stringify(schema.const))}</code>`
  const { title, type, format } = resolve(document, schema)
  if (schema.$ref !== undefined && title !== undefined) return safe(title.toLowerCase())
  if (schema.anyOf !== undefined) return schema.anyOf.map(one => typeOf(document, one)).join(' or ')
  return safe(format === 'date' || format === 'date-time' ? `string, ${format}` : String(type ?? 'any'))
}

function rules(document: OpenApi, field: JsonSchema): string {
  const {
    enum: choices,
    minimum,
    maximum,
    minLength,
    maxLength,
    minItems,
    maxItems,
    default: fallback,
    type,
  } = resolve(document, field)
  const out: string[] = []
  if (choices !== undefined)
    out.push(`one of ${choices.map(choice => `<code>${safe(String(choice))}</code>`).join(', ')}`)
  if (type === 'integer' && minimum !== undefined && maximum !== undefined && maximum < 1e6)
    out.push(`${minimum} to ${maximum}`)
  if (minLength !== undefined && maxLength !== undefined) out.push(`${minLength} to ${maxLength} characters`)
  else if (maxLength !== undefined) out.push(`at most ${maxLength} characters`)
  if (minItems !== undefined && maxItems !== undefined) out.push(`${minItems} to ${maxItems} entries`)
  if (fallback !== undefined) out.push(`default <code>${safe(String(fallback))}</code>`)
  return out.length === 0 ? '' : `<span class="rule">${out.join(' · ')}</span>`
}

/** The first example as a call that works once base address and key are set. */
function curl({ method, path, operation }: Placed): string {
  const body = Object.values(operation.requestBody?.content['application/json']?.examples ?? {})[0]
  const key = operation.parameters?.some(({ name }) => name === 'Idempotency-Key')
    ? ` \\\n  -H <span class="s">"Idempotency-Key: $(uuidgen)"</span>`
    : ''
  const example = operation.parameters?.find(({ in: place }) => place === 'path')?.schema.examples?.[0]
  const address = path.replace('/v1', '').replace(/\{\w+\}/, String(example ?? ''))
  const call = `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} <span class="s">"$BASE_URL${safe(address)}"</span> \\\n  -H <span class="s">"Authorization: Bearer $API_KEY"</span>${key}`
  if (body === undefined) return call
  return `${call} \\\n  -H <span class="s">"Content-Type: application/json"</span> \\\n  -d '${json(body.value)}'`
}
