import type { RefusalCode } from '../../refusal.ts'

/** A route as the reference tells of it. */
export type Operation = {
  id: string
  method: 'get' | 'post' | 'delete'
  path: string
  tag: 'Search' | 'Bookings' | 'Webhooks' | 'Events' | 'Service'
  summary: string
  description: string
  /** Needs no key. */
  open?: true
  /** Counts against an allowance. */
  limited?: true
  parameters?: Parameter[]
  /** Optional: the operation can do without one. */
  body?: { schema: SchemaName; optional?: true; examples: Record<string, unknown> }
  success: {
    status: 200 | 302
    description: string
    headers?: string[]
    content?: { type: string; schema?: SchemaName; examples?: Record<string, unknown> }
  }
  errors: readonly RefusalCode[]
}

/** The shapes by the names they have in the document. */
export type SchemaName =
  | 'SearchRequest'
  | 'SearchAnswer'
  | 'Offer'
  | 'Slice'
  | 'Segment'
  | 'Price'
  | 'BookingRequest'
  | 'Passenger'
  | 'BookingAnswer'
  | 'BookedPassenger'
  | 'Booking'
  | 'BookingsAnswer'
  | 'WebhookRequest'
  | 'TestRequest'
  | 'RotationRequest'
  | 'RecoveryRequest'
  | 'RedeliveryRequest'
  | 'Webhook'
  | 'WebhookAnswer'
  | 'WebhooksAnswer'
  | 'WebhookDeleted'
  | 'TestAnswer'
  | 'RotationAnswer'
  | 'EnableAnswer'
  | 'RecoveryAnswer'
  | 'Attempt'
  | 'Delivery'
  | 'DeliveriesAnswer'
  | 'EventBody'
  | 'Event'
  | 'EventAnswer'
  | 'EventsAnswer'
  | 'RedeliveryAnswer'
  | 'HealthAnswer'
  | 'ErrorAnswer'

/** The parts of an OpenAPI 3.1 document that we write and read. */
export type OpenApi = {
  openapi: string
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  servers: {
    url: string
    description: string
    variables?: Record<string, { default: string; description: string }>
  }[]
  tags: { name: string; description: string }[]
  security: Record<string, string[]>[]
  paths: Record<string, PathItem>
  components: {
    securitySchemes: Record<string, object>
    headers: Record<string, object>
    schemas: Record<string, JsonSchema>
  }
}
export type PathItem = { servers?: { url: string }[] } & Partial<
  Record<'get' | 'post' | 'delete', OpenApiOperation>
>
export type OpenApiOperation = {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security?: never[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Answer>
}
export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  schema: JsonSchema
}
export type Answer = { description: string; headers: Record<string, object>; content?: Content }
export type Content = Record<
  string,
  { schema: JsonSchema; examples?: Record<string, { summary?: string; value: unknown }> }
>
export type JsonSchema = {
  $ref?: string
  type?: string | string[]
  title?: string
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}
