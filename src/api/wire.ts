import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { newId } from '../id.ts'
import { invalidParams, Refusal, type RefusalCode } from '../refusal.ts'
import { BODY_MAX } from './body.ts'
import { renderRefusal, tooLarge, wrongMedia } from './reply.ts'

/**
 * What the wire may carry. Node's own checks are as strict as they can be; where it would answer by itself, or keep one of two contradicting
 * headers, these functions answer instead.
 */
const HEADER_BYTES_MAX = 8192
const HEADERS_MAX = 64
const URL_MAX = 2048
const HEADERS_TIMEOUT_MS = 5_000
const REQUEST_TIMEOUT_MS = 10_000
const REQUESTS_PER_SOCKET = 1_000
const CHECK_EVERY_MS = 500
/** An unread body up to this size is read and dropped, so that a connection survives a refusal; a larger one ends the connection. */
const DRAIN_MAX = 1 << 20

/** Requests that wait for `100 Continue`, and those with an Expect that nobody can meet. */
const awaiting = new WeakSet<IncomingMessage>()
const unmet = new WeakSet<IncomingMessage>()

/** The HTTP server under the API. Requests that expect something are let in as well: they are authenticated like all others. */
export function createWire(listener: RequestListener): Server {
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_EVERY_MS,
      keepAliveTimeout: 72_000,
      requireHostHeader: false,
      insecureHTTPParser: false,
    },
    listener,
  )
  server.maxRequestsPerSocket = REQUESTS_PER_SOCKET
  // Node would drop what comes after this many, and a second Authorization among it; `checkHead` counts instead.
  server.maxHeadersCount = 0
  server.on('checkContinue', (request, response) => {
    awaiting.add(request)
    listener(request, response)
  })
  server.on('checkExpectation', (request, response) => {
    unmet.add(request)
    listener(request, response)
  })
  return server
}

/** Whether the sender holds its body back until it gets `100 Continue`. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return awaiting.has(request)
}

/** To be called once `100 Continue` was sent. */
export function continued(request: IncomingMessage): void {
  awaiting.delete(request)
}

/** Whether so much of a body is, or may be, still to come that the connection should rather end. */
export function leavesMuchUnread(request: IncomingMessage): boolean {
  if (request.complete) return false
  if (awaiting.has(request) || request.headers['transfer-encoding'] !== undefined) return true
  return Number(request.headers['content-length'] ?? 0) > DRAIN_MAX
}

/**
 * Refuses a request for what its head says, before its body is read.
 * @param takesBody whether the operation reads one
 * @throws Refusal invalid_params, payload_too_large or unsupported_media_type
 */
export function checkHead(request: IncomingMessage, takesBody: boolean): void {
  const { rawHeaders, headers } = request
  if (request.httpVersionMajor !== 1) throw faulty('This is not a well-formed HTTP/1.1 request.')
  if (rawHeaders.length > 2 * HEADERS_MAX)
    throw faulty(`There are more than ${HEADERS_MAX} headers; send fewer.`)
  let hosts = 0
  let types = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
    else if (name.length === 12 && name.toLowerCase() === 'content-type') types++
  }
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1'))
    throw faulty('Send exactly one Host header.', 'Host')
  if (unmet.has(request)) throw faulty('The only expectation that can be met is "100-continue".', 'Expect')
  const url = request.url ?? ''
  if (url.length > URL_MAX) throw faulty(`The address is longer than ${URL_MAX} characters.`)
  checkQuery(url)
  if (!takesBody) return
  if (Number(headers['content-length'] ?? 0) > BODY_MAX) throw tooLarge()
  if (types > 1) throw wrongMedia()
  const type = headers['content-type']
  if (type === undefined ? bodyAnnounced(request) : !JSON_UTF8.test(type)) throw wrongMedia()
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw wrongMedia()
}

const JSON_UTF8 = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i

/** The query of a URL. */
export function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
}

/** Answers what Node's parser or its clocks refuse: there is no request to authenticate, only a socket. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const { status, code, message } = BROKEN[error.code ?? ''] ?? MALFORMED
  const requestId = newId('req')
  const { body } = renderRefusal(new Refusal(code, message), requestId)
  if (socket.writable && !answering(socket)) {
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `X-Request-Id: ${requestId}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}

type Broken = { status: number; code: RefusalCode; message: string }
const MALFORMED: Broken = {
  status: 400,
  code: 'invalid_params',
  message: 'This is not a well-formed HTTP/1.1 request.',
}
/** 408 and 431 say more than the status that usually goes with the code. */
const BROKEN: Record<string, Broken> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'invalid_params',
    message: 'The request did not arrive whole in time; send it again.',
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'payload_too_large',
    message: 'The headers are larger than 8 KiB; send fewer or shorter ones.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    code: 'payload_too_large',
    message: 'The chunk extensions are too large; leave them out.',
  },
}

/** Whether an answer is on its way already, so that nothing may be written between its bytes. Node keeps it where its own default looks. */
function answering(socket: Socket): boolean {
  return (
    (socket as Socket & { _httpMessage?: { headersSent?: boolean } | null })._httpMessage?.headersSent ===
    true
  )
}

function checkQuery(url: string): void {
  if (!url.includes('?')) return
  const seen = new Set<string>()
  for (const [name, value] of queryOf(url)) {
    if (seen.has(name)) throw faulty('A query parameter stands there twice; send it once.')
    if (name.includes('\0') || value.includes('\0'))
      throw faulty('A query parameter holds a NUL character; leave it out.')
    seen.add(name)
  }
}

function bodyAnnounced(request: IncomingMessage): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  )
}

function faulty(message: string, param?: string): Refusal {
  return param === undefined
    ? new Refusal('invalid_params', message)
    : invalidParams([{ param, code: 'invalid_format', message }])
}
