import { Resolver } from 'node:dns/promises'

/** Asks name servers directly, without the threads and files of the system's look-up: four slow names would stall those for everybody. */
export type NameResolver = Pick<Resolver, 'resolve4' | 'resolve6'>

/** First wait for an answer; c-ares doubles it at the second try, which is beyond the deadline of an attempt: that one decides. */
const ANSWER_WITHIN_MS = 2_000
const TRIES = 2
/** Answers looked at; a name with more is refused. */
export const ADDRESSES_MAX = 256

/** @param servers `address` or `address:port` of name servers; the system's own when there are none */
export function createResolver(servers: readonly string[] = []): NameResolver {
  const resolver = new Resolver({ timeout: ANSWER_WITHIN_MS, tries: TRIES })
  if (servers.length > 0) resolver.setServers([...servers])
  return resolver
}

/**
 * All addresses of a name, IPv4 first.
 * @throws Error when there is none, or when nobody answers
 */
export async function addressesOf(resolver: NameResolver, host: string): Promise<string[]> {
  if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1']
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = [
    ...(four.status === 'fulfilled' ? four.value : []),
    ...(six.status === 'fulfilled' ? six.value : []),
  ]
  if (found.length === 0) throw four.status === 'rejected' ? four.reason : new Error(`${host} has no address`)
  if (found.length > ADDRESSES_MAX) throw new Error(`${host} has too many addresses`)
  return found
}
