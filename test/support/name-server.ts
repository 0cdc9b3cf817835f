import { createSocket, type RemoteInfo } from 'node:dgram'

/** What a name server says of a name: addresses, a name instead, a code, or nothing at all. */
export type Saying = readonly string[] | { alias: string } | 'servfail' | 'nxdomain' | 'silence'

export type NameServer = {
  /** For `AIRSIDE_WEBHOOK_DNS`. */
  address: string
  /** From now on the name is this; a function is asked anew at each question. */
  say(name: string, saying: Saying | (() => Saying)): void
  /** Questions asked for a name. */
  asked(name: string): number
  close(): Promise<void>
}

const A = 1
const CNAME = 5
const AAAA = 28

/** A name server on loopback that says what it is told, with a time to live of 0. Names it does not know do not exist. */
export async function startNameServer(): Promise<NameServer> {
  const sayings = new Map<string, Saying | (() => Saying)>()
  const counts = new Map<string, number>()
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => answer(query, from))
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))

  function answer(query: Buffer, from: RemoteInfo): void {
    const { name, type, end } = question(query)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    const told = sayings.get(name) ?? 'nxdomain'
    const saying = typeof told === 'function' ? told() : told
    if (saying === 'silence') return
    const code = saying === 'servfail' ? 2 : saying === 'nxdomain' ? 3 : 0
    const records: Buffer[] = []
    if (typeof saying === 'object') {
      if ('alias' in saying) records.push(record(CNAME, encode((saying as { alias: string }).alias)))
      else
        for (const address of saying as readonly string[]) {
          const six = address.includes(':')
          if (six === (type === AAAA))
            records.push(record(six ? AAAA : A, six ? sixteen(address) : four(address)))
        }
    }
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8580 | code, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), from.port, from.address)
  }

  return {
    address: `127.0.0.1:${socket.address().port}`,
    say: (name, saying) => void sayings.set(name, saying),
    asked: name => counts.get(name) ?? 0,
    close: () => new Promise(resolve => socket.close(() => resolve())),
  }
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  while (query[at]! > 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!).toLowerCase())
    at += 1 + query[at]!
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** A record of the name that was asked for. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, 0])
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

const four = (address: string) => Buffer.from(address.split('.').map(Number))

function sixteen(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::')
  const words = (text: string) => (text === '' ? [] : text.split(':').map(word => Number.parseInt(word, 16)))
  const [first, last] = [words(head), words(tail)]
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
  return Buffer.from(all.flatMap(word => [word >> 8, word & 255]))
}

function encode(name: string): Buffer {
  const labels = name
    .split('.')
    .map(label => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]))
  return Buffer.concat([...labels, Buffer.from([0])])
}
