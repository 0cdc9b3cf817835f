import { setTimeout as sleep } from 'node:timers/promises'
import { REFUSALS, Refusal } from '../refusal.ts'
import { makeSecret } from '../webhook/endpoint.ts'
import { EVENT_TYPES } from '../webhook/event.ts'
import { signatureHeaders } from '../webhook/signature.ts'
import {
  type Arguments,
  type CommandResult,
  faulty,
  noPositionals,
  type RemoteCommand,
  requiredText,
  text,
} from './command.ts'
import { API_OPTIONS, apiOf, httpUrl, type PartnerApi, reach, refusalOf } from './partner-api.ts'

/** As for webhooks: what takes longer has failed. */
const ANSWER_WITHIN_MS = 5_000
/** Waits before the retries; a developer looks on, so they are shorter than a server's. */
const RETRY_MS = [1_000, 5_000, 25_000]
/** Waits before the stream is opened again; the last one repeats. */
const RECONNECT_MS = [500, 1_000, 2_000, 5_000]
/** A stream sends something every 15 s. */
const SILENCE_MAX_MS = 45_000
/** Events remembered, so that one that comes again after a lost connection is not forwarded twice. */
const REMEMBERED = 1_000

/** `airside listen` */
export const commands: readonly RemoteCommand[] = [
  {
    name: 'listen',
    usage: `--forward-to http://localhost:3000/hook --key KEY [--secret whsec_…] [--events ${EVENT_TYPES[0]},…] [--url URL]`,
    summary:
      "Bring the events of a test key to this machine, signed as webhooks are; needs nothing but the server's address",
    options: {
      ...API_OPTIONS,
      'forward-to': { type: 'string' },
      secret: { type: 'string' },
      events: { type: 'string' },
    },
    remote: true,
    async run(context, args) {
      noPositionals(args)
      const api = apiOf(context, args)
      const target = httpUrl(
        '--forward-to',
        requiredText(
          args,
          'forward-to',
          'give the address of your receiver, such as http://localhost:3000/hook',
        ),
      )
      const types = typesOf(args)
      const given = text(args, 'secret')
      if (given === '') throw faulty('--secret', 'is empty; give a secret, or leave it out')
      const secret = given ?? makeSecret()
      const stop = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort())
      const told = given === undefined ? `\nSigning secret: ${secret}` : ''
      context.say({
        json: { listening: api.url, forwardTo: target, ...(given === undefined ? { secret } : {}) },
        text: `Events of ${api.key.slice(0, 9)}…${api.key.slice(-4)} at ${api.url} go to ${target}${told}`,
      })
      await follow({ api, target, secret, types, say: context.say, stop: stop.signal })
      return undefined
    },
  },
]

/** @throws Refusal for a type that there is not */
function typesOf(args: Arguments): string {
  const list = text(args, 'events')
  if (list === undefined) return ''
  const types = list.split(',').map(word => word.trim())
  const wrong = types.find(word => !(EVENT_TYPES as readonly string[]).includes(word))
  if (wrong !== undefined)
    throw faulty('--events', `cannot hold ${JSON.stringify(wrong)}; give some of ${EVENT_TYPES.join(',')}`)
  return `?type=${types.join(',')}`
}

type Listening = {
  api: PartnerApi
  target: string
  secret: string
  /** A query string, or nothing. */
  types: string
  say(result: CommandResult): void
  stop: AbortSignal
}

/** Follows the stream until it is told to stop, opening it again where it breaks. @throws Refusal where that is of no use */
async function follow(listening: Listening): Promise<void> {
  const { api, say, stop } = listening
  const handled = new Set<string>()
  let lastId: string | undefined
  let brand = 'Airside'
  for (let failures = 0; !stop.aborted; ) {
    try {
      for await (const message of stream(listening, lastId)) {
        failures = 0
        if (message.event === 'ready') {
          brand = /^X-(.+)-Signature$/.exec(JSON.parse(message.data).signatureHeader)?.[1] ?? brand
          say({ json: { ready: true }, text: 'Ready. Ctrl-C stops.' })
          continue
        }
        if (message.id === '' || handled.has(message.id)) continue
        lastId = message.id
        handled.add(message.id)
        if (handled.size > REMEMBERED) handled.delete(handled.values().next().value!)
        void forward(listening, brand, message)
      }
    } catch (error) {
      if (stop.aborted) return
      const last = error instanceof Refusal && !REFUSALS[error.code].retryable
      if (last) throw error
      if (failures === 0) say({ json: { lost: api.url }, text: `${(error as Error).message} Trying again.` })
    }
    const wait = RECONNECT_MS[Math.min(failures++, RECONNECT_MS.length - 1)]!
    await sleep(wait, undefined, { signal: stop }).catch(() => {})
  }
}

type Message = { id: string; event: string; data: string }

/** The messages of one connection to the stream. @throws Refusal when it is refused or breaks */
async function* stream({ api, types, stop }: Listening, lastId: string | undefined): AsyncGenerator<Message> {
  const quiet = new AbortController()
  let timer = setTimeout(() => quiet.abort(), SILENCE_MAX_MS)
  try {
    const response = await reach(api, `/events/stream${types}`, {
      headers: {
        authorization: `Bearer ${api.key}`,
        accept: 'text/event-stream',
        ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
      },
      signal: AbortSignal.any([stop, quiet.signal]),
    })
    if (!response.ok) throw await refusalOf(response)
    let rest = ''
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer)
      timer = setTimeout(() => quiet.abort(), SILENCE_MAX_MS)
      const blocks = (rest + text).split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks) {
        const message = read(block)
        if (message.data !== '') yield message
      }
    }
  } catch (error) {
    if (error instanceof Refusal || stop.aborted) throw error
    throw new Refusal('service_unavailable', 'The connection to the server was lost.')
  } finally {
    clearTimeout(timer)
  }
  throw new Refusal('service_unavailable', 'The server ended the stream.')
}

function read(block: string): Message {
  const message: Message = { id: '', event: '', data: '' }
  for (const line of block.split('\n')) {
    const at = line.indexOf(': ')
    const name = line.slice(0, at)
    if (name === 'id' || name === 'event' || name === 'data') message[name] = line.slice(at + 2)
  }
  return message
}

/** Forwards one event as a webhook would be sent: the same bytes, signed anew for each attempt. */
async function forward(listening: Listening, brand: string, { id, event, data }: Message): Promise<void> {
  const { target, secret, say, stop } = listening
  const body = Buffer.from(data)
  for (let n = 1; n <= RETRY_MS.length + 1 && !stop.aborted; n++) {
    const startedAt = performance.now()
    const outcome = await post(target, body, {
      'content-type': 'application/json',
      'user-agent': `${brand}-Webhooks/1`,
      ...signatureHeaders(brand, { current: { text: secret, given: true } }, { id, at: Date.now(), body }),
      [`X-${brand}-Attempt`]: String(n),
    })
    const ms = Math.round(performance.now() - startedAt)
    const delivered = outcome === 200
    const wait = delivered ? undefined : RETRY_MS[n - 1]
    const at = new Date().toISOString().slice(11, 19)
    const then = delivered
      ? ''
      : wait === undefined
        ? '  failed, no more attempts'
        : `  failed, again in ${wait / 1000} s`
    say({
      json: { eventId: id, event, attempt: n, outcome, ms, delivered, retryInMs: wait ?? null },
      text: `${at}  ${event.padEnd(17)}  ${id}  ${outcome}  ${ms} ms${then}`,
    })
    if (wait === undefined) return
    await sleep(wait, undefined, { signal: stop }).catch(() => {})
  }
}

/** The status of the answer, or why there is none. */
async function post(
  target: string,
  body: Buffer<ArrayBuffer>,
  headers: Record<string, string>,
): Promise<number | string> {
  try {
    const response = await fetch(target, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') return 'timeout'
    const { cause } = error as { cause?: { code?: string } }
    return cause?.code ?? 'unreachable'
  }
}
