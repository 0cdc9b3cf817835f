import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket, TlsOptions } from 'node:tls'

/** A POST that has arrived. */
export type Receipt = {
  path: string
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** When it had arrived in full, by the monotonic clock. */
  at: number
  /** The connection it came on: the same number, the same connection. */
  connection: number
}

/** Answers a POST; `socket` is for what no library would send. */
export type Behaviour = (response: ServerResponse, receipt: Receipt, socket: TLSSocket) => void

export type Receiver = {
  port: number
  /** `https://127.0.0.1:PORT/path`, or under another host. */
  url(path: string, host?: string): string
  receipts: Receipt[]
  /** The receipts of one path. */
  of(path: string): Receipt[]
  /** From now on a path behaves so; without it, 200 at once. */
  behave(path: string, behaviour: Behaviour): void
  /** Connections accepted so far, whether or not anything came on them. */
  connections(): number
  /** Requests being answered at most at once on a path. */
  most(path: string): number
  /** Resets the connection that a request came on. */
  reset(socket: TLSSocket): void
  /** Cuts all idle and busy connections. */
  cutAll(how?: 'end' | 'destroy' | 'reset'): void
  close(): Promise<void>
}

export const ok: Behaviour = response => void response.end('ok')
export const status =
  (code: number, headers: Record<string, string> = {}): Behaviour =>
  response =>
    void response.writeHead(code, headers).end()
export const never: Behaviour = () => {}

/** A receiver of webhooks over TLS on loopback. */
export async function startReceiver(
  options: TlsOptions & { host?: string; port?: number },
): Promise<Receiver> {
  const receipts: Receipt[] = []
  const byPath = new Map<string, Receipt[]>()
  const behaviours = new Map<string, Behaviour>()
  const sockets = new Map<TLSSocket, number>()
  /** What is under them, by the port at the other end. */
  const plain = new Map<number, Socket>()
  const busy = new Map<string, { now: number; most: number }>()
  let connections = 0
  const server = createServer(
    { keepAlive: true, ...options },
    (request, response) => void receive(request, response),
  )
  server.keepAliveTimeout = 0
  server.headersTimeout = 0
  server.requestTimeout = 0
  server.on('connection', (socket: Socket) => {
    const port = socket.remotePort ?? 0
    plain.set(port, socket)
    socket.on('close', () => plain.delete(port))
    socket.on('error', () => {})
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    sockets.set(socket, ++connections)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  server.on('tlsClientError', () => {})

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!
    const count = busy.get(path) ?? { now: 0, most: 0 }
    busy.set(path, count)
    count.most = Math.max(count.most, ++count.now)
    response.on('close', () => count.now--)
    response.on('error', () => {})
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    const socket = request.socket as TLSSocket
    const receipt: Receipt = {
      path,
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(chunks),
      at: performance.now(),
      connection: sockets.get(socket) ?? 0,
    }
    receipts.push(receipt)
    const own = byPath.get(path)
    if (own === undefined) byPath.set(path, [receipt])
    else own.push(receipt)
    ;(behaviours.get(path) ?? ok)(response, receipt, socket)
  }

  await new Promise<void>(resolve => server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: (path, host = options.host ?? '127.0.0.1') => `https://${host}:${port}${path}`,
    receipts,
    of: path => byPath.get(path) ?? [],
    behave: (path, behaviour) => void behaviours.set(path, behaviour),
    connections: () => connections,
    most: path => busy.get(path)?.most ?? 0,
    reset: socket => void plain.get(socket.remotePort ?? 0)?.resetAndDestroy(),
    cutAll(how = 'destroy') {
      for (const socket of sockets.keys()) {
        if (how === 'end') socket.end()
        else if (how === 'reset') plain.get(socket.remotePort ?? 0)?.resetAndDestroy()
        else socket.destroy()
      }
    },
    async close() {
      for (const socket of sockets.keys()) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
