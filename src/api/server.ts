import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { newId, type RequestId } from '../id.ts'
import type { Caller } from '../partner/account.ts'
import { requireScope } from '../partner/admit.ts'
import type { RequestEntry } from '../partner/store.ts'
import { Refusal } from '../refusal.ts'
import type { LimitName } from '../settings.ts'
import { BODY_MAX, readJsonOnly } from './body.ts'
import { bookingRoutes } from './booking.ts'
import { eventRoutes } from './events.ts'
import type { ApiHouse } from './house.ts'
import { openRoutes } from './open.ts'
import { JSON_TYPE, NOT_FOUND, refusalOf, renderRefusal, retryAfter } from './reply.ts'
import { searchRoutes } from './search.ts'
import { webhookRoutes } from './webhooks.ts'
import {
  answerBrokenRequest,
  awaitsContinue,
  checkHead,
  continued,
  createWire,
  leavesMuchUnread,
} from './wire.ts'

/** The longest an operation may take, unless its route says otherwise. The body is read within it, and has 10 s to come. */
const HANDLER_TIMEOUT_MS = 11_000
/** Longest part of a path that stands for an id. */
const PARAM_MAX = 1_000
/** Logged where the partner hung up before the answer was out. */
const HUNG_UP = 499

/**
 * The door for programs: the API of one region, ready to listen. Every request passes the same checks in the same order before its body is
 * read: key (401), scope (403), allowance (429), then path, method and headers (400 to 415).
 */
export function createApi(house: ApiHouse): FastifyInstance {
  const app = Fastify({
    logger: false,
    serverFactory: createWire,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => void refuseUnrouted(error, request, reply),
    rewriteUrl: request => originForm(request.url ?? '/'),
    genReqId: () => newId('req'),
    requestIdHeader: false,
    bodyLimit: BODY_MAX,
    handlerTimeout: HANDLER_TIMEOUT_MS,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    trustProxy: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: PARAM_MAX },
  }) as unknown as FastifyInstance
  app.decorateRequest('caller', undefined)
  app.decorateRequest('refused', undefined)
  readJsonOnly(app)
  // Nothing is deleted by a body: whatever comes with a DELETE is dropped unread.
  app.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })

  /** Methods by path, as registered. */
  const methods = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method }) => {
    methods.set(url, [...(methods.get(url) ?? []), ...[method].flat()])
  })

  app.addHook('onRequest', async (request, reply) => {
    begin(request, reply)
    const access = request.routeOptions.config.access
    if (access !== 'open') {
      const caller = await house.admit(request.raw.rawHeaders, house.now())
      request.caller = caller
      if (access !== undefined) {
        requireScope(caller, access.scope)
        if (access.limit !== undefined) limit(reply, access.limit(caller), caller)
      }
    }
    checkHead(request.raw, request.method === 'POST' && !request.is404)
    if (request.is404) throw noRoute(request, reply)
    if (awaitsContinue(request.raw)) {
      reply.raw.writeContinue()
      continued(request.raw)
    }
  })

  app.addHook('onSend', (request, reply, payload, done) => {
    if (leavesMuchUnread(request.raw)) reply.header('connection', 'close')
    done(null, payload)
  })

  app.setErrorHandler((error, request, reply) => refuse(error, request, reply))
  // Never reached: `onRequest` refuses first. Without it the framework would answer by itself.
  app.setNotFoundHandler((request, reply) => refuse(noRoute(request, reply), request, reply))

  openRoutes(app, house)
  searchRoutes(app, house)
  bookingRoutes(app, house)
  webhookRoutes(app, house)
  eventRoutes(app, house)
  return app

  function begin(request: FastifyRequest, reply: FastifyReply): void {
    const at = house.now()
    const startedMs = performance.now()
    reply.header('x-request-id', request.id)
    reply.header('cache-control', 'no-store')
    reply.header('x-content-type-options', 'nosniff')
    reply.raw.once('close', () => {
      const entry: RequestEntry = {
        requestId: request.id as RequestId,
        accountId: request.caller?.accountId,
        keyId: request.caller?.keyId,
        mode: request.caller?.mode,
        method: request.method,
        route: routeOf(request),
        status: reply.raw.writableFinished ? reply.statusCode : HUNG_UP,
        code: request.refused,
        durationMs: Math.round((performance.now() - startedMs) * 100) / 100,
        at,
      }
      house.log.info(entry, 'request')
      house.logRequest(entry)
    })
  }

  /** @throws Refusal rate_limited */
  function limit(reply: FastifyReply, name: LimitName, caller: Caller): void {
    const { allowed, headers } = house.take(name, caller)
    reply.headers(headers)
    if (!allowed)
      throw new Refusal(
        'rate_limited',
        'The rate limit is used up; send again after the seconds in Retry-After.',
      )
  }

  /** A path that is not there, or is there for other methods only. */
  function noRoute(request: FastifyRequest, reply: FastifyReply): Refusal {
    const path = request.url.split('?', 1)[0]!
    const allowed = [...methods].filter(([url]) => matches(url, path)).flatMap(([, names]) => names)
    if (allowed.length === 0) return new Refusal('not_found', NOT_FOUND)
    const allow = [...new Set(allowed)].join(', ')
    reply.header('allow', allow)
    return new Refusal('method_not_allowed', `This path takes ${allow} only.`)
  }

  /** For what the router cannot route: the key is asked for first here too. */
  async function refuseUnrouted(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    begin(request, reply)
    try {
      request.caller = await house.admit(request.raw.rawHeaders, house.now())
      checkHead(request.raw, false)
      refuse(error, request, reply)
    } catch (sooner) {
      refuse(sooner, request, reply)
    }
  }

  /** The one place where something thrown becomes an answer. What is no refusal is a defect: logged, and told nothing of. */
  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    let refusal = refusalOf(error)
    const about = { requestId: request.id, route: routeOf(request), err: error }
    if (refusal?.code === 'service_unavailable' && error !== refusal) house.log.warn(about, 'unavailable')
    if (refusal === undefined) {
      house.log.error(about, 'defect')
      refusal = new Refusal(
        'internal_error',
        'Something failed on our side; try again, and quote the requestId if it stays.',
      )
    }
    request.refused = refusal.code
    const { status, body } = renderRefusal(refusal, request.id)
    const after = retryAfter(refusal)
    if (after !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', after)
    if (status === 401) reply.header('www-authenticate', 'Bearer')
    return reply.code(status).header('content-type', JSON_TYPE).send(body)
  }
}

/** The pattern that a request matched, such as `/v1/travel/booking/{id}`: never its own path or query, which may hold anything. */
function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url?.replace(/:(\w+)/g, '{$1}') ?? '-'
}

/** `/v1/travel/booking/:id` matches a path with anything in the place of `:id`. */
function matches(url: string, path: string): boolean {
  const parts = path.split('/')
  const pattern = url.split('/')
  return (
    parts.length === pattern.length &&
    pattern.every((part, i) => (part.startsWith(':') ? parts[i] !== '' : part === parts[i]))
  )
}

/** HTTP lets a client send a whole URL as well; what counts is its path. `*` stands for the server and is no path of ours. */
function originForm(url: string): string {
  if (url.startsWith('/')) return url
  const path = /^https?:\/\/[^/?#]*(\/.*)?$/i.exec(url)
  return path === null ? `/${url}` : (path[1] ?? '/')
}
