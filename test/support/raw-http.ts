import { connect } from 'node:net'

/** An answer read from a socket: undefined status when the other side closed without one. */
export type RawAnswer =
  | { status: number; headers: Headers; text: string }
  | { status: undefined; why: 'closed' | 'silent' }

/**
 * Writes bytes as they are on a new connection and reads one answer; the connection is not used again.
 * @param half closes our side after writing, as a sender that gives up does
 */
export function exchange(
  port: number,
  bytes: Buffer,
  method: string,
  half: boolean,
  patienceMs: number,
): Promise<RawAnswer> {
  return new Promise(resolve => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const chunks: Buffer[] = []
    const finish = (answer: RawAnswer) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const look = (closed: boolean) => {
      const answer = parse(Buffer.concat(chunks), method, closed)
      if (answer !== undefined) finish(answer)
      else if (closed) finish({ status: undefined, why: 'closed' })
    }
    const timer = setTimeout(() => finish({ status: undefined, why: 'silent' }), patienceMs)
    socket.on('data', chunk => {
      chunks.push(chunk as Buffer)
      look(false)
    })
    socket.on('end', () => look(true))
    socket.on('error', () => look(true))
    socket.write(bytes)
    if (half) socket.end()
  })
}

/** One answer with a length, or one that the end of the connection ends; undefined while some is missing. */
function parse(bytes: Buffer, method: string, closed: boolean): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first, ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first!)?.[1])
  const rest = bytes.subarray(end + 4)
  if (status === 100) return parse(rest, method, closed)
  const headers = new Headers(
    lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const length = headers.get('content-length')
  const wanted = method === 'HEAD' || status === 304 ? 0 : length === null ? undefined : Number(length)
  if (wanted === undefined ? !closed : rest.length < wanted) return undefined
  return { status, headers, text: rest.toString('utf8', 0, wanted ?? rest.length) }
}
