import { createTransport } from 'nodemailer'
import type { Database } from '../../db/database.ts'
import type { BookingId } from '../../id.ts'
import type { Logger } from '../../log.ts'
import { findAnyBooking } from '../store.ts'
import type { TravellerKey } from '../travellers.ts'
import { confirmationLetter, type Letter } from './letter.ts'
import { findUncertain, postponeConfirmation, settleConfirmation, takeDueConfirmations } from './store.ts'

/** Confirmations sent in one round. */
const BATCH = 20
/** Waits before the next attempt; the last one repeats. */
const WAITS_SECONDS = [30, 120, 600, 3_600]
const SMTP_TIMEOUT_MS = 20_000

/** What became of a letter. `refused`: the mail server certainly did not take it. */
export type Sent =
  | { kind: 'sent' }
  | { kind: 'refused'; problem: string }
  | { kind: 'uncertain'; problem: string }

/** Sends letters. Undefined in a house without SMTP. */
export type Postman = { from: string; send(letter: Letter): Promise<Sent> }

export type SendHouse = {
  database: Database
  travellerKey: TravellerKey
  postman: Postman | undefined
  log: Logger
}

/** A postman for an SMTP server, `smtp://user:password@host:port` or `smtps://…`. */
export function createPostman(smtpUrl: string, from: string): Postman {
  const transport = createTransport(
    {
      url: smtpUrl,
      connectionTimeout: SMTP_TIMEOUT_MS,
      greetingTimeout: SMTP_TIMEOUT_MS,
      socketTimeout: SMTP_TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  )
  return {
    from,
    async send({ to, subject, text, messageId }) {
      try {
        await transport.sendMail({ to, subject, text, messageId })
        return { kind: 'sent' }
      } catch (error) {
        return judge(error)
      }
    },
  }
}

/** Steps of an SMTP dialogue before the letter itself is handed over. */
const BEFORE_DATA = ['CONN', 'EHLO', 'HELO', 'STARTTLS', 'AUTH', 'MAIL FROM', 'RCPT TO']

/** A server's own "no", or a failure before the letter was handed over, proves that it was not taken. The server's text may quote the address and is not kept. */
function judge(error: unknown): Sent {
  const {
    code = 'failed',
    command = '',
    responseCode,
  } = error as { code?: string; command?: string; responseCode?: number }
  const problem = [code, command, responseCode].filter(part => part !== undefined && part !== '').join(' ')
  const proven =
    responseCode !== undefined || BEFORE_DATA.some(step => command.startsWith(step)) || code === 'EDNS'
  return { kind: proven ? 'refused' : 'uncertain', problem }
}

/** Sends what is due. Returns how many confirmations were taken up. */
export async function sendConfirmations(house: SendHouse): Promise<number> {
  const due = await takeDueConfirmations(house.database, BATCH)
  for (const { id, attempts } of due) await sendOne(house, id, attempts)
  return due.length
}

async function sendOne(house: SendHouse, id: BookingId, attempts: number): Promise<void> {
  const { database, postman, log } = house
  if (postman === undefined) {
    await settleConfirmation(database, id, 'logged', null)
    log.info({ bookingId: id }, 'confirmation not e-mailed: AIRSIDE_SMTP_URL is not set')
    return
  }
  const booking = await findAnyBooking(database, house.travellerKey, id)
  if (booking === undefined) return
  const sent = await postman.send(confirmationLetter(booking, domainOf(postman.from)))
  if (sent.kind === 'refused') {
    const wait = WAITS_SECONDS[Math.min(attempts - 1, WAITS_SECONDS.length - 1)]!
    await postponeConfirmation(database, id, wait, sent.problem)
    log.warn(
      { bookingId: id, problem: sent.problem, attempts, waitSeconds: wait },
      'confirmation not accepted',
    )
    return
  }
  await settleConfirmation(database, id, sent.kind, sent.kind === 'sent' ? null : sent.problem)
  log.info({ bookingId: id, attempts, ...sent }, 'confirmation')
}

/** Brings to light confirmations whose sender vanished while sending. */
export async function markUncertain(house: SendHouse): Promise<void> {
  for (const bookingId of await findUncertain(house.database)) {
    house.log.warn(
      { bookingId },
      'it is unknown whether this confirmation was sent; send it again with: booking confirm',
    )
  }
}

const domainOf = (from: string) => /@([^\s>]+)/.exec(from)?.[1] ?? 'localhost'
