import type { FastifyInstance } from 'fastify'
import { Refusal } from '../refusal.ts'
import type { ApiHouse } from './house.ts'
import { openApiDocument } from './openapi.ts'
import { docsPage } from './reference/page.ts'
import { DOCS_PATH, JSON_TYPE } from './reply.ts'

/** Seconds for which the description of the API may be kept. */
const DOCUMENT_AGE_SECONDS = 300

/** What needs no key: the page at the root, the documentation, and what an operator's machines ask. */
export function openRoutes(app: FastifyInstance, house: ApiHouse): void {
  const open = { config: { access: 'open' as const } }
  // Container health checks often ask by HEAD.
  const headToo = { ...open, exposeHeadRoute: true }
  const document = openApiDocument(house.settings)
  const documentText = JSON.stringify(document)
  const page = docsPage(document, house.settings)
  const cache = `public, max-age=${DOCUMENT_AGE_SECONDS}`

  app.get('/', open, (_request, reply) => reply.redirect(DOCS_PATH))

  app.get(DOCS_PATH, open, (_request, reply) =>
    reply
      .headers(page.headers)
      .header('cache-control', cache)
      .header('content-type', 'text/html; charset=utf-8')
      .send(page.html),
  )

  app.get('/v1/openapi.json', open, (_request, reply) =>
    reply.header('cache-control', cache).header('content-type', JSON_TYPE).send(documentText),
  )

  app.get('/healthz', headToo, (request, reply) =>
    reply.header('content-type', JSON_TYPE).send(healthy(request.id)),
  )

  app.get('/readyz', headToo, async (request, reply) => {
    if (!(await house.ready()))
      throw new Refusal('service_unavailable', 'Not ready yet; try again in a few seconds.')
    return reply.header('content-type', JSON_TYPE).send(healthy(request.id))
  })

  app.get('/metrics', open, async (_request, reply) =>
    reply.header('content-type', 'text/plain; version=0.0.4; charset=utf-8').send(await house.metrics()),
  )
}

const healthy = (requestId: string) => JSON.stringify({ status: 'ok', requestId })
