/**
 * A process that sends as the roof does: the engine in a thread of its own, told of commits through a port. It can also commit events itself, as an
 * API thread does beside it; and one that was not told to `send` commits as a process without the worker's role.
 */
import type { MessagePort } from 'node:worker_threads'
import { connect, type Database } from '../../src/db/database.ts'
import { type AccountId, newId } from '../../src/id.ts'
import type { Due } from '../../src/messages.ts'
import { readSettings } from '../../src/settings.ts'
import { type Sender, startSender } from '../../src/start-sender.ts'
import { renderBody } from '../../src/webhook/event.ts'
import { publish } from '../../src/webhook/publish.ts'
import { dueIn, notifier } from '../../src/webhook/wake.ts'
import { monotonic, obey } from './child.ts'
import { createPost } from './post.ts'

export type SendOrder = { url: string; secret: string; authority: string }
/**
 * `told`: how the sender hears of a commit; `directly` is for comparison: nothing is stored but an empty commit, and the same bytes are POSTed by
 * undici as soon as it is through. `rate` a second, for `seconds`, of these accounts in turn.
 */
export type BookOrder = {
  url: string
  accounts: readonly string[]
  urls: readonly string[]
  authority: string
  secret: string
  rate: number
  seconds: number
  told: 'in process' | 'by NOTIFY' | 'by nobody' | 'directly'
}
/** When a booking's commit was known, and how many could not be begun on time. */
export type Committed = { at: readonly { bookingId: string; at: number }[]; late: number }

/** Connections of one API thread. */
const CONNECTIONS = 10
/** A booking that begins so much later than it should shows a generator that cannot keep up. */
const LATE_MS = 50

let sender: Sender | undefined
let port: MessagePort | undefined

async function book({
  url,
  accounts,
  urls,
  authority,
  secret,
  rate,
  seconds,
  told,
}: BookOrder): Promise<Committed> {
  const notices = told === 'by NOTIFY' ? connect({ url, poolMax: 1 }) : undefined
  const post = createPost(authority, secret)
  const tell = notices && notifier(notices)
  const database: Database = connect({
    url,
    poolMax: CONNECTIONS,
    queueMax: 10_000,
    queueTimeoutMs: 5_000,
    committed(notes) {
      const endpoints = dueIn(notes)
      if (told === 'in process') port!.postMessage({ region: 'intl', endpoints } satisfies Due)
      else tell?.due(endpoints)
    },
  })
  const at: { bookingId: string; at: number }[] = []
  const running: Promise<void>[] = []
  let late = 0

  async function one(place: number): Promise<void> {
    const bookingId = newId('bkg')
    const change = {
      accountId: accounts[place]! as AccountId,
      mode: 'live' as const,
      bookingId,
      status: 'confirmed',
      recordLocator: 'ABC123',
      version: 2,
      at: new Date(),
    }
    if (told !== 'directly') {
      await database.transaction(tx => publish(tx, change, 'booking.confirmed'))
      at.push({ bookingId, at: monotonic() })
    } else {
      await database.transaction(tx => tx.query('select txid_current()'))
      at.push({ bookingId, at: monotonic() })
      await post(urls[place]!, bookingId, renderBody(newId('evt'), 'booking.confirmed', change))
    }
  }

  const startedAt = monotonic()
  let due = startedAt
  for (let i = 0; due < startedAt + seconds * 1000; i++) {
    const wait = due - monotonic()
    if (wait > 0) await new Promise(resolve => setTimeout(resolve, wait))
    if (monotonic() - due > LATE_MS) late++
    running.push(one(i % accounts.length))
    // Independent callers: gaps of every length, the short ones the likeliest.
    due += (-Math.log(1 - Math.random()) * 1000) / rate
  }
  await Promise.all(running)
  await tell?.settled()
  await Promise.all([database.close(), notices?.close()])
  return { at, late }
}

obey({
  async send({ url, secret, authority }: SendOrder): Promise<void> {
    const settings = readSettings({
      AIRSIDE_SECRET: secret,
      AIRSIDE_WEBHOOK_ALLOW: '127.0.0.0/8',
      AIRSIDE_WEBHOOK_CA: authority,
      AIRSIDE_LOG: 'warn',
    })
    sender = await startSender(
      { settings, secret, regions: [{ region: 'intl', database: { url } }] },
      error => {
        console.error(error)
        process.exit(1)
      },
    )
    port = sender.port()
  },
  due(endpoints: readonly number[]): void {
    port!.postMessage({ region: 'intl', endpoints } satisfies Due)
  },
  book,
  async stop(): Promise<void> {
    port?.close()
    await sender?.stop()
  },
})
