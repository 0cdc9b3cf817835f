import type { FastifyInstance } from 'fastify'
import type { Caller } from '../partner/account.ts'
import type { LimitName } from '../settings.ts'
import { crowdLimit } from './crowd.ts'
import type { ApiHouse } from './house.ts'
import { parseSearch } from './parse.ts'
import { renderSearch } from './render.ts'
import { JSON_TYPE } from './reply.ts'

/** Searches that wait for suppliers at once, in this thread. */
const SEARCHES_MAX = 256

/** POST /v1/travel/search. */
export function searchRoutes(app: FastifyInstance, house: ApiHouse): void {
  const amongSearches = crowdLimit(SEARCHES_MAX)
  app.post(
    '/v1/travel/search',
    { config: { access: { scope: 'search', limit: searchLimit } } },
    async (request, reply) => {
      const caller = request.caller!
      const query = parseSearch(request.body, house.settings.regions[house.region]!.currency)
      const answer = await amongSearches(() => house.search(caller, query))
      return reply.header('content-type', JSON_TYPE).send(renderSearch(answer, request.id))
    },
  )
}

/** Test keys share one allowance; live ones have their plan's. */
function searchLimit(caller: Caller): LimitName {
  return caller.mode === 'test' ? 'search.test' : `search.${caller.plan}`
}
