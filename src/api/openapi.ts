import { z } from 'zod'
import { REFUSALS, Refusal, type RefusalCode } from '../refusal.ts'
import type { Region, Settings } from '../settings.ts'
import * as answers from './answer.ts'
import { CODE_NOTES } from './reference/codes.ts'
import { EXAMPLE_REQUEST_ID } from './reference/example.ts'
import { OPERATIONS } from './reference/operations.ts'
import type {
  Answer,
  JsonSchema,
  OpenApi,
  OpenApiOperation,
  Operation,
  PathItem,
  SchemaName,
} from './reference/shapes.ts'
import { renderRefusal } from './reply.ts'
import { BookingRequest, PassengerRequest, SearchRequest } from './schema.ts'
import * as webhookAnswers from './webhook-answer.ts'
import * as webhookRequests from './webhook-schema.ts'

const REGION_NAMES: Readonly<Record<Region, string>> = { intl: 'International', cn: 'China' }

/** The shapes by the names they have in the document. */
const SCHEMAS: Readonly<Record<SchemaName, z.ZodType>> = {
  SearchRequest,
  SearchAnswer: answers.SearchAnswerBody,
  Offer: answers.OfferAnswer,
  Slice: answers.SliceAnswer,
  Segment: answers.SegmentAnswer,
  Price: answers.Price,
  BookingRequest,
  Passenger: PassengerRequest,
  BookingAnswer: answers.BookingAnswer,
  BookedPassenger: answers.PassengerAnswer,
  Booking: answers.BookingItem,
  BookingsAnswer: answers.BookingsAnswer,
  WebhookRequest: webhookRequests.WebhookRequest,
  TestRequest: webhookRequests.TestRequest,
  RotationRequest: webhookRequests.RotationRequest,
  RecoveryRequest: webhookRequests.RecoveryRequest,
  RedeliveryRequest: webhookRequests.RedeliveryRequest,
  Webhook: webhookAnswers.WebhookItem,
  WebhookAnswer: webhookAnswers.WebhookAnswer,
  WebhooksAnswer: webhookAnswers.WebhooksAnswer,
  WebhookDeleted: webhookAnswers.WebhookDeleted,
  TestAnswer: webhookAnswers.TestAnswer,
  RotationAnswer: webhookAnswers.RotationAnswer,
  EnableAnswer: webhookAnswers.EnableAnswer,
  RecoveryAnswer: webhookAnswers.RecoveryAnswer,
  Attempt: webhookAnswers.AttemptItem,
  Delivery: webhookAnswers.DeliveryItem,
  DeliveriesAnswer: webhookAnswers.DeliveriesAnswer,
  EventBody: webhookAnswers.EventBody,
  Event: webhookAnswers.EventItem,
  EventAnswer: webhookAnswers.EventAnswer,
  EventsAnswer: webhookAnswers.EventsAnswer,
  RedeliveryAnswer: webhookAnswers.RedeliveryAnswer,
  HealthAnswer: answers.HealthAnswer,
  ErrorAnswer: answers.ErrorAnswer,
}

/** The API described by the very shapes that check it. */
export function openApiDocument(settings: Settings): OpenApi {
  const paths: Record<string, PathItem> = {}
  for (const operation of OPERATIONS) {
    const versioned = operation.path.startsWith('/v1/')
    const path = versioned ? operation.path.slice('/v1'.length) : operation.path
    paths[path] ??= versioned ? {} : { servers: [{ url: '/' }] }
    paths[path][operation.method] = describe(operation)
  }
  return {
    openapi: '3.1.1',
    info: {
      title: `${settings.brand} API`,
      version: '1',
      description: 'Search flights, book offers, follow bookings and be told of their changes.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/v1', description: 'The address this document came from' }, ...regionServers(settings)],
    tags: [
      { name: 'Search', description: 'Find what is for sale.' },
      { name: 'Bookings', description: 'Buy an offer and follow what became of it.' },
      { name: 'Webhooks', description: 'Be told of every change of a booking.' },
      { name: 'Events', description: 'What happened, and sending it again.' },
      { name: 'Service', description: 'What needs no key: documentation, health and metrics.' },
    ],
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `An API key: \`${settings.keyPrefix}_test_…\` for tests, \`${settings.keyPrefix}_live_…\` for real bookings. Keep it on your servers.`,
        },
      },
      headers: HEADERS,
      schemas: schemas(),
    },
  }
}

function regionServers(settings: Settings): OpenApi['servers'] {
  return (Object.keys(settings.regions) as Region[]).map(region => ({
    url: `{${region}}/v1`,
    description: `${REGION_NAMES[region]} address`,
    variables: {
      [region]: {
        default: `http://${settings.host}:${settings.regions[region]!.port}`,
        description: `Where the ${REGION_NAMES[region]} region is reached`,
      },
    },
  }))
}

function schemas(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id })
  const made = z.toJSONSchema(registry, { io: 'input', uri: id => `#/components/schemas/${id}` }).schemas
  return Object.fromEntries(
    Object.entries(made).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema as JsonSchema]),
  )
}

function describe(operation: Operation): OpenApiOperation {
  const described: OpenApiOperation = {
    operationId: operation.id,
    summary: operation.summary,
    description: operation.description,
    tags: [operation.tag],
    responses: { ...succeeding(operation), ...refusing(operation) },
  }
  if (operation.open) described.security = []
  if (operation.parameters !== undefined) described.parameters = operation.parameters
  if (operation.body !== undefined) {
    const { schema, optional, examples } = operation.body
    described.requestBody = {
      required: optional !== true,
      content: { 'application/json': { schema: ref(schema), examples: valued(examples) } },
    }
  }
  return described
}

function succeeding({ success }: Operation): Record<string, Answer> {
  const headers = { ...headerRefs(['X-Request-Id']), ...headerRefs(success.headers ?? []) }
  const answer: Answer = { description: success.description, headers }
  if (success.content !== undefined) {
    const { type, schema, examples } = success.content
    answer.content = {
      [type]: {
        schema: schema === undefined ? { type: 'string' } : ref(schema),
        ...(examples && { examples: valued(examples) }),
      },
    }
  }
  return { [String(success.status)]: answer }
}

/** One answer a status, with one example a code. */
function refusing(operation: Operation): Record<string, Answer> {
  const byStatus = new Map<string, Answer>()
  const add = (status: number, code: RefusalCode) => {
    const { means, message } = CODE_NOTES[code]
    const example = {
      summary: code,
      value: JSON.parse(renderRefusal(new Refusal(code, message), EXAMPLE_REQUEST_ID).body) as unknown,
    }
    const known = byStatus.get(String(status))
    if (known !== undefined) {
      known.description += ` \`${code}\`: ${means}`
      known.content!['application/json']!.examples![code] = example
      return
    }
    const headers = ['X-Request-Id', ...(operation.limited && AFTER_LIMIT.has(status) ? LIMIT_HEADERS : [])]
    byStatus.set(String(status), {
      description: `\`${code}\`: ${means}`,
      headers: headerRefs([...headers, ...(ALSO[status] ?? [])]),
      content: { 'application/json': { schema: ref('ErrorAnswer'), examples: { [code]: example } } },
    })
  }
  for (const code of operation.errors) add(REFUSALS[code].status, code)
  add(408, 'invalid_params')
  add(431, 'payload_too_large')
  return Object.fromEntries([...byStatus].sort(([a], [b]) => Number(a) - Number(b)))
}

const ALSO: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}
/** Statuses of what is checked after the allowance. */
const AFTER_LIMIT: ReadonlySet<number> = new Set([400, 413, 415, 422, 429])
const LIMIT_HEADERS = ['RateLimit-Policy', 'RateLimit']

const text = { type: 'string' }
const HEADERS: Record<string, object> = {
  'X-Request-Id': {
    description: 'Names this request; the same as `requestId` in the body.',
    schema: text,
    example: EXAMPLE_REQUEST_ID,
  },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
  'RateLimit-Policy': {
    description: 'The allowance: `q` requests in `w` seconds.',
    schema: text,
    example: '"search";q=60;w=60',
  },
  RateLimit: {
    description: 'What is left of it: `r` requests now, all of it again in `t` seconds.',
    schema: text,
    example: '"search";r=59;t=1',
  },
  'WWW-Authenticate': { description: 'The scheme that the API takes.', schema: text, example: 'Bearer' },
  Allow: { description: 'The methods that the path takes.', schema: text, example: 'POST' },
  Location: { description: 'Where to go instead.', schema: text, example: '/docs' },
  'Idempotent-Replayed': {
    description: '`true` when this is the kept answer to an earlier request.',
    schema: { type: 'string', const: 'true' },
  },
}

function headerRefs(names: readonly string[]): Record<string, object> {
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
}

function ref(name: SchemaName): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

function valued(examples: Record<string, unknown>): Record<string, { value: unknown }> {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]))
}
