/** One keep-alive connection to a server, as thin as can be, so that a load generator takes little from what it measures. */
import { connect, type Socket } from 'node:net'

export type Answer = { status: number; body: Buffer }

export type Line = {
  /** Sends a request and waits for its answer; one at a time. Rejects when the connection is lost before the answer is whole. */
  ask(request: string): Promise<Answer>
  close(): void
}

const HEAD_END = Buffer.from('\r\n\r\n')

/** A connection to a port of this machine; made when it is needed, and again after the server has closed it. */
export function dial(port: number): Line {
  let socket: Socket | undefined
  let waiting: PromiseWithResolvers<Answer> | undefined
  let chunks: Buffer[] = []
  let received = 0
  /** Bytes of the whole answer; 0 while its head is incomplete. */
  let expected = 0
  let headEnd = 0
  let status = 0
  let last = false

  function open(): Socket {
    const made = connect({ port, host: '127.0.0.1', noDelay: true })
    made.on('data', (chunk: Buffer) => receive(made, chunk))
    made.on('error', error => lost(made, error))
    made.on('close', () => lost(made, new Error('the server closed the connection')))
    return made
  }

  function lost(of: Socket, error: Error): void {
    if (socket === of) socket = undefined
    else return
    waiting?.reject(error)
    waiting = undefined
  }

  function receive(from: Socket, chunk: Buffer): void {
    if (from !== socket) return
    chunks.push(chunk)
    received += chunk.length
    if (expected === 0) {
      const all = chunks.length === 1 ? chunk : Buffer.concat(chunks)
      chunks = [all]
      headEnd = all.indexOf(HEAD_END)
      if (headEnd < 0) return
      const head = all.toString('latin1', 0, headEnd)
      status = Number(head.slice(9, 12))
      expected = headEnd + HEAD_END.length + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      last = /\r\nconnection: *close/i.test(head)
    }
    if (received < expected) return
    const body = Buffer.concat(chunks).subarray(headEnd + HEAD_END.length, expected)
    const asked = waiting
    waiting = undefined
    chunks = []
    received = expected = 0
    if (last) {
      socket = undefined
      from.destroy()
    }
    asked?.resolve({ status, body })
  }

  return {
    ask(request) {
      waiting = Promise.withResolvers()
      if (socket === undefined) {
        chunks = []
        received = expected = 0
        socket = open()
      }
      socket.write(request)
      return waiting.promise
    },
    close() {
      const closing = socket
      socket = undefined
      closing?.destroy()
    },
  }
}

/** The text of a POST with a JSON body. @param more further header lines */
export function post(path: string, key: string, body: string, more = ''): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}
