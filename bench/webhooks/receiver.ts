/** A partner's end as thin as can be, a process of its own: it reads a POST, counts it and says 200, on any loopback address, with TLS and without. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { monotonic, obey } from './child.ts'

export type Ports = { plain: number; tls: number }
/** How many POSTs have come since the last `count`, and when the first and the last of them. */
export type Count = { receipts: number; firstAt: number; lastAt: number }
export type Arrival = { id: string; at: number }

const HEAD_END = Buffer.from('\r\n\r\n')
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

let receipts = 0
let firstAt = 0
let lastAt = 0
let wanted: { receipts: number; resolve(): void } | undefined
let noting: Arrival[] | undefined
let hanging: ReadonlySet<string> = new Set()
/** How long connections that got no answer stayed open after their request, in milliseconds. */
let hung: number[] = []

function serve(socket: Socket): void {
  let rest: Buffer | undefined
  let unansweredSince: number | undefined
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('close', () => {
    if (unansweredSince !== undefined) hung.push(monotonic() - unansweredSince)
  })
  socket.on('data', (chunk: Buffer) => {
    let bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      const headEnd = bytes.indexOf(HEAD_END)
      if (headEnd < 0) break
      const head = bytes.toString('latin1', 0, headEnd)
      const end = headEnd + HEAD_END.length + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      if (bytes.length < end) break
      bytes = bytes.subarray(end)
      if (hanging.has(socket.localAddress!)) unansweredSince = monotonic()
      else {
        socket.write(OK)
        count(head)
      }
    }
    rest = bytes.length === 0 ? undefined : bytes
  })
}

function count(head: string): void {
  lastAt = monotonic()
  if (receipts++ === 0) firstAt = lastAt
  if (noting !== undefined) noting.push({ id: /\r\nwebhook-id: *(\S+)/i.exec(head)?.[1] ?? '', at: lastAt })
  if (wanted !== undefined && receipts >= wanted.receipts) wanted.resolve()
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '0.0.0.0', 8192, resolve))
  return (server.address() as AddressInfo).port
}

obey({
  async open({ key, cert }: { key: string; cert: string }): Promise<Ports> {
    return {
      plain: await listen(createServer(serve)),
      tls: await listen(createTlsServer({ key, cert }, serve)),
    }
  },
  /** From now on these addresses read and never answer. */
  hang(addresses: readonly string[]): void {
    hanging = new Set(addresses)
    hung = []
  },
  hung: (): number[] => hung,
  /** Starts a new count; `note` keeps the id and moment of each. */
  reset({ note }: { note: boolean }): void {
    receipts = 0
    noting = note ? [] : undefined
  },
  /** Resolves when so many have come, or after a while. */
  async expect({ number, withinMs }: { number: number; withinMs: number }): Promise<Count> {
    if (receipts < number) {
      const { promise, resolve } = Promise.withResolvers<void>()
      wanted = { receipts: number, resolve }
      const timer = setTimeout(resolve, withinMs)
      await promise
      clearTimeout(timer)
      wanted = undefined
    }
    return { receipts, firstAt, lastAt }
  },
  arrivals: (): Arrival[] => noting ?? [],
})
