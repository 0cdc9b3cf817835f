import { isIP } from 'node:net'
import { type ConnectionOptions, connect, type SecureContext, type TLSSocket } from 'node:tls'
import { type buildConnector, Client } from 'undici'
import { hostOf, judgeAddress, judgeUrl, type Networks } from '../address.ts'
import { addressesOf, type NameResolver } from '../resolve.ts'
import { BlockedAddress, type Phase, type Timing } from './outcome.ts'

/** Connections stay open so long after an answer, unless the receiver says less. */
const KEEP_ALIVE_MS = 30_000
/** The first address of a name gets this long before the next is tried beside it. */
const NEXT_ADDRESS_AFTER_MS = 300
/** Addresses of one name tried, of all that were judged. */
const TRIED_MAX = 6

/** How endpoints are reached. */
export type Reach = {
  resolver: NameResolver
  allow: Networks
  /** Which authorities are trusted, and the least version of TLS. */
  secure: SecureContext
}

/** One connection to an endpoint: made when it is needed, one request at a time. */
export type Wire = {
  client: Client
  /** Whether a connection is open now. */
  isOpen(): boolean
  /** How far the connection being made has come, and what it took; undefined until one is. */
  making: { phase: Phase; timing: Timing } | undefined
  peer: string | null
  tls: string | null
  /** Bytes received on the connection so far. */
  received(): number
  /** Cuts it at once, whatever it is doing. */
  cut(error: Error): void
}

/**
 * A wire to the host of `url`. Every new connection resolves the name, judges all its answers, connects to judged addresses only with the name
 * kept for TLS, and checks the address it has really reached.
 * @param sessions keeps TLS sessions of this endpoint for its next connections
 */
export function createWire(url: URL, reach: Reach, sessions: { last?: Buffer }): Wire {
  const host = hostOf(url)
  const port = url.port === '' ? 443 : Number(url.port)
  let socket: TLSSocket | undefined
  let gone = false

  async function reached(): Promise<string[]> {
    const judged = judgeUrl(url.href, reach.allow)
    if (!judged.ok) throw new BlockedAddress(judged.message)
    if (isIP(host) !== 0) return [host]
    const found = await addressesOf(reach.resolver, host)
    if (!found.every(address => judgeAddress(address, reach.allow)))
      throw new BlockedAddress(`${host} has an address that is not public`)
    return found.slice(0, TRIED_MAX)
  }

  async function make(callback: buildConnector.Callback): Promise<void> {
    const timing: Timing = { dnsMs: null, connectMs: null, tlsMs: null, headersMs: null }
    const making: NonNullable<Wire['making']> = { phase: 'dns', timing }
    wire.making = making
    let since = performance.now()
    const lap = () => {
      const began = since
      since = performance.now()
      return since - began
    }
    const addresses = await reached()
    if (gone) throw new Error('the attempt is over')
    timing.dnsMs = lap()
    making.phase = 'connect'
    const options: ConnectionOptions & { autoSelectFamily: true; autoSelectFamilyAttemptTimeout: number } = {
      host: addresses.length === 1 ? addresses[0]! : host,
      port,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      secureContext: reach.secure,
      ALPNProtocols: ['http/1.1'],
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
      lookup: (_name, _options, answer) =>
        (answer as unknown as (error: null, all: { address: string; family: number }[]) => void)(
          null,
          addresses.map(address => ({ address, family: isIP(address) })),
        ),
      ...(sessions.last === undefined ? {} : { session: sessions.last }),
    }
    const fresh = connect(options)
    socket = fresh
    fresh.setNoDelay(true)
    fresh.setKeepAlive(true, KEEP_ALIVE_MS)
    fresh.on('session', session => {
      sessions.last = session
    })
    let answered = false
    const answer = (error: Error | null) => {
      if (answered) return
      answered = true
      if (error !== null) {
        delete sessions.last
        callback(error, null)
      } else callback(null, fresh)
    }
    fresh.on('error', answer)
    fresh.on('close', () =>
      answer(Object.assign(new Error('closed while connecting'), { code: 'ECONNRESET' })),
    )
    fresh.once('connect', () => {
      timing.connectMs = lap()
      making.phase = 'tls'
      wire.peer = fresh.remoteAddress ?? null
      if (wire.peer === null) fresh.destroy(lost('the connection was closed at once'))
      else if (!judgeAddress(wire.peer, reach.allow))
        fresh.destroy(new BlockedAddress('the connection reached an address that is not public'))
    })
    fresh.once('secureConnect', () => {
      timing.tlsMs = lap()
      making.phase = 'headers'
      wire.tls = fresh.getProtocol()
      answer(null)
    })
  }

  const client = new Client(url.origin, {
    connect: (_options, callback) => {
      make(callback).catch(error => callback(error as Error, null))
    },
    pipelining: 1,
    allowH2: false,
    // The attempt has one deadline of its own over all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  })
  const wire: Wire = {
    client,
    isOpen: () =>
      socket !== undefined && !socket.destroyed && !socket.closed && wire.making?.phase === 'headers',
    making: undefined,
    peer: null,
    tls: null,
    received: () => socket?.bytesRead ?? 0,
    cut(error) {
      gone = true
      socket?.destroy()
      void client.destroy(error).catch(() => {})
    },
  }
  return wire
}

const lost = (message: string): Error => Object.assign(new Error(message), { code: 'ECONNRESET' })
