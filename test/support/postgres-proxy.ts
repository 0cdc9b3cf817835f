import { connect, createServer, type Socket } from 'node:net'

/**
 * A proxy before PostgreSQL that understands as much of the wire as it takes to name a moment: before a statement reaches the server, or
 * after the server carried it out and before its answer comes back.
 */
export type PostgresProxy = {
  /** The address of the database behind it. */
  url: string
  /** Statements that the API's connections have run since the last `forget`, in order. */
  statements(): readonly string[]
  forget(): void
  /** Sets a trap: at that moment the connection falls silent and `spring` is called, once. */
  arm(trap: Trap): void
  /** Holds back every answer to COMMIT for so long. */
  delayCommits(ms: number): void
  close(): Promise<void>
}

export type Moment = 'before' | 'after'
export type Trap = {
  moment: Moment
  /** The statement; only those of the API's connections are looked at. */
  matches(statement: string): boolean
  /** @param sever cuts the connection on both sides */
  spring(sever: () => void): void
}

type State = {
  armed: Trap | undefined
  statements: string[]
  commitDelayMs: number
}

/** Starts a proxy before the database that `databaseUrl` names, by TCP or by the socket in its `host` parameter. */
export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl)
  const directory = target.searchParams.get('host')
  const port = Number(target.port || 5432)
  const reach = () =>
    directory === null ? connect(port, target.hostname) : connect(`${directory}/.s.PGSQL.${port}`)
  const state: State = { armed: undefined, statements: [], commitDelayMs: 0 }
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const upstream = reach()
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      socket.setNoDelay(true)
    }
    relay(client, upstream, state)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const own = new URL(target)
  own.hostname = '127.0.0.1'
  own.port = String((server.address() as { port: number }).port)
  own.search = ''
  return {
    url: own.href,
    statements: () => state.statements,
    forget() {
      state.statements = []
    },
    arm(trap) {
      state.armed = trap
    },
    delayCommits(ms) {
      state.commitDelayMs = ms
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** What the server has still to answer: a statement, or the end of a group of them. */
type Owed = { statement: string; trap?: Trap } | 'end of group'

function relay(client: Socket, upstream: Socket, state: State): void {
  const texts = new Map<string, string>()
  const owed: Owed[] = []
  let isApi = false
  let bound: { statement: string; trap?: Trap } = { statement: '' }
  let silent = false
  let sprung: Trap | undefined
  let heldUntil = 0

  const sever = () => {
    client.destroy()
    upstream.destroy()
  }
  const spring = (trap: Trap) => {
    silent = true
    trap.spring(sever)
  }

  /** Looks at what the client says, one message at a time; false keeps it and all that follows. */
  function fromClient(type: string, body: Buffer): boolean {
    if (silent) return false
    if (type === '') isApi = / api$/.test(applicationName(body))
    else if (type === 'P') {
      const [name, text] = strings(body, 2)
      texts.set(name!, text!)
    } else if (type === 'B') {
      const statement = texts.get(strings(body, 2)[1]!) ?? ''
      bound = { statement }
      if (isApi) {
        state.statements.push(statement)
        const trap = state.armed
        if (trap?.matches(statement)) {
          state.armed = undefined
          if (trap.moment === 'before') {
            spring(trap)
            return false
          }
          bound = { statement, trap }
        }
      }
    } else if (type === 'E') owed.push(bound)
    else if (type === 'S') owed.push('end of group')
    else if (type === 'Q') owed.push({ statement: strings(body, 1)[0]! }, 'end of group')
    return true
  }

  /** The same for the server: a trap springs when the group that its statement stands in is over, and so committed. */
  function fromServer(type: string): boolean {
    if (type === 'C' || type === 'I' || type === 's') {
      const answered = owed.shift()
      if (answered !== undefined && answered !== 'end of group') {
        if (answered.trap !== undefined) sprung = answered.trap
        if (isApi && /^commit$/i.test(answered.statement) && state.commitDelayMs > 0)
          heldUntil = Date.now() + state.commitDelayMs
      }
    } else if (type === 'Z') {
      // An error skips the rest of its group.
      while (owed.length > 0 && owed.shift() !== 'end of group');
    }
    if (sprung === undefined) return true
    if (silent) return false
    if (type === 'Z') spring(sprung)
    return false
  }

  const readClient = messages(true, fromClient)
  const readServer = messages(false, fromServer)
  client.on('data', (chunk: Buffer) => {
    if (!silent) upstream.write(readClient(chunk))
  })
  upstream.on('data', (chunk: Buffer) => {
    if (silent) return
    const through = readServer(chunk)
    const wait = heldUntil - Date.now()
    if (wait <= 0) client.write(through)
    else setTimeout(() => client.destroyed || client.write(through), wait)
  })
  for (const socket of [client, upstream]) {
    socket.on('error', sever)
    socket.on('close', sever)
  }
}

/** Cuts a stream into messages and returns those that may pass: all until `look` says no. The first of a client has no type. */
function messages(first: boolean, look: (type: string, body: Buffer) => boolean): (chunk: Buffer) => Buffer {
  let rest = Buffer.alloc(0)
  let untyped = first
  let stopped = false
  return chunk => {
    rest = Buffer.concat([rest, chunk])
    const passing: Buffer[] = []
    for (;;) {
      const head = untyped ? 0 : 1
      if (rest.length < head + 4) break
      const length = head + rest.readUInt32BE(head)
      if (rest.length < length) break
      const message = rest.subarray(0, length)
      rest = rest.subarray(length)
      const type = untyped ? '' : String.fromCharCode(message[0]!)
      untyped = false
      stopped = !look(type, message.subarray(head + 4)) || stopped
      if (!stopped) passing.push(message)
    }
    return Buffer.concat(passing)
  }
}

/** The first `count` zero-ended texts of a message. */
function strings(body: Buffer, count: number): string[] {
  const out: string[] = []
  for (let at = 0; out.length < count; ) {
    const end = body.indexOf(0, at)
    out.push(body.toString('utf8', at, end))
    at = end + 1
  }
  return out
}

function applicationName(startup: Buffer): string {
  const words = startup.toString('utf8', 4).split('\0')
  return words[words.indexOf('application_name') + 1] ?? ''
}
