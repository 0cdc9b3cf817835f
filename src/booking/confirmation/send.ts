import { Readable } from 'node:stream'
import { createTransport } from 'nodemailer'
import type { Letter } from './letter.ts'

/** How long the mail server may be silent, and how long it may take for one letter in all. */
const SILENCE_MS = 20_000
export const DELIVERY_DEADLINE_MS = 60_000

/** What became of a letter. `refused`: the mail server certainly did not take it. `uncertain`: it may have. */
export type Delivery =
  | { kind: 'sent' }
  | { kind: 'refused'; problem: string }
  | { kind: 'uncertain'; problem: string }

/** Hands letters over. A house without SMTP has none. */
export type Postman = { from: string; send(letter: Letter): Promise<Delivery> }

/** Deadlines, shorter in tests. */
export type Patience = { silenceMs?: number; deadlineMs?: number }

/** A postman for an SMTP server, `smtp://user:password@host:port` or `smtps://…`. */
export function createPostman(smtpUrl: string, from: string, patience: Patience = {}): Postman {
  const { silenceMs = SILENCE_MS, deadlineMs = DELIVERY_DEADLINE_MS } = patience
  const transport = createTransport(
    {
      url: smtpUrl,
      connectionTimeout: silenceMs,
      greetingTimeout: silenceMs,
      socketTimeout: silenceMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  )
  // The server's yes to DATA is the moment from which it may have the letter: only then is the letter's text asked for.
  const handedOver = new Set<string>()
  transport.use('stream', (mail, done) => {
    const { message, data } = mail
    const read = message.createReadStream.bind(message)
    message.createReadStream = () => Readable.from(text(read, String(data.messageId)))
    done()
  })
  async function* text(read: () => Readable, messageId: string): AsyncGenerator<Uint8Array> {
    handedOver.add(messageId)
    yield* read() as AsyncIterable<Uint8Array>
  }
  return {
    from,
    async send({ to, subject, text, messageId }) {
      try {
        await transport.sendMail({
          // An address as data is not read as a list of addresses.
          to: { name: '', address: to },
          subject,
          text,
          messageId,
          headers: { 'auto-submitted': 'auto-generated' },
          signal: AbortSignal.timeout(deadlineMs),
        })
        return { kind: 'sent' }
      } catch (error) {
        return judge(error, handedOver.has(messageId))
      } finally {
        handedOver.delete(messageId)
      }
    },
  }
}

/**
 * A server's own "no", or a failure before the letter was handed over, proves that it was not taken. The server's text may quote the address
 * and is not kept.
 */
function judge(error: unknown, handedOver: boolean): Delivery {
  const {
    code = 'failed',
    command = '',
    responseCode,
  } = error as {
    code?: string
    command?: string
    responseCode?: number
  }
  const problem = [code, command, responseCode].filter(part => part !== undefined && part !== '').join(' ')
  const proven = !handedOver || (responseCode !== undefined && responseCode >= 400)
  return { kind: proven ? 'refused' : 'uncertain', problem }
}
