/** Compares what partners were told, as their journal has it, with what is there in the end. Shares no code with the service. */
import type { BookingFields } from '../support/client.ts'
import type { Finding } from './checker.ts'

/** One line of a partner's journal. */
export type Entry =
  | { what: 'send'; mark: string; key: string | undefined; party: number; price: string }
  | {
      what: 'answer'
      mark: string
      kind: 'ok'
      bookingId: string
      status: string
      pnr: string
      price: string
      digest: string
      resent: boolean
    }
  | { what: 'answer'; mark: string; kind: 'refused'; code: string }
  | { what: 'answer'; mark: string; kind: 'unknown'; why: string }
  | { what: 'read'; mark: string; status: string }
  | { what: 'fault'; fault: string }

export type JournalFigures = {
  attempts: number
  acked: number
  refused: number
  unknowns: number
  givenUp: number
  unknownYetBooked: number
  replays: number
}

/** Rules R1 to R4 and R10 on a journal and the bookings that the account lists in the end. */
export function checkJournal(
  entries: readonly Entry[],
  listed: readonly BookingFields[],
): { figures: JournalFigures; findings: Finding[] } {
  const findings: Finding[] = []
  const fault = (rule: string, what: string) => findings.push({ rule, what })
  const rows = Map.groupBy(listed, booking => booking.confirmationEmail)
  const figures: JournalFigures = {
    attempts: 0,
    acked: 0,
    refused: 0,
    unknowns: 0,
    givenUp: 0,
    unknownYetBooked: 0,
    replays: 0,
  }
  const known = new Set<string>()

  for (const [mark, lines] of Map.groupBy(
    entries.filter(entry => entry.what !== 'fault'),
    entry => entry.mark,
  )) {
    figures.attempts++
    const email = `${mark.toLowerCase()}@example.com`
    known.add(email)
    const booked = rows.get(email) ?? []
    const sent = lines.find(line => line.what === 'send')!
    const answers = lines.filter(line => line.what === 'answer')
    const acks = answers.filter(answer => answer.kind === 'ok')
    const refusals = answers
      .filter(answer => answer.kind === 'refused')
      .filter(({ code }) => code !== 'conflict')
    figures.unknowns += answers.filter(answer => answer.kind === 'unknown').length
    if (booked.length > 1)
      fault('R3 at most one booking for a key or an offer', `${mark} has ${booked.length}`)

    const first = acks[0]
    if (first === undefined) {
      if (refusals.length > 0) {
        figures.refused++
        if (booked.length > 0) fault('R2 refused means not booked', `${mark} is ${booked[0]!.bookingId}`)
      } else {
        figures.givenUp++
        figures.unknownYetBooked += booked.length
      }
      continue
    }
    figures.acked++
    const row = booked[0]
    const price = row && `${row.totalPrice.amount} ${row.totalPrice.currency}`
    if (row === undefined) fault('R1 an answered booking is there', `${mark} was ${first.bookingId}`)
    else if (acks.some(ack => ack.bookingId !== row.bookingId))
      fault('R1 it has the id that was answered', mark)
    else if (acks.some(ack => ack.status === 'confirmed' && ack.pnr !== row.pnr))
      fault('R1 it has the locator that was answered', mark)
    else if (price !== sent.price || acks.some(ack => ack.price !== sent.price))
      fault('R1 it has the price that was offered', `${mark}: ${sent.price}, ${price}`)
    else if (row.passengers.length !== sent.party) fault('R1 it has the passengers that were sent', mark)
    if (refusals.length > 0)
      fault('R2 a booking is never refused afterwards', `${mark}: ${refusals[0]!.code}`)
    for (const again of acks.slice(1)) {
      figures.replays++
      if (sent.key !== undefined && again.digest !== first.digest)
        fault('R4 a key replays the same bytes', mark)
    }
    const seen = [
      ...acks.map(ack => ack.status),
      ...lines.flatMap(line => (line.what === 'read' ? [line.status] : [])),
      row?.bookingStatus,
    ]
    // A replayed answer tells what was true when it was given first.
    const inOrder = sent.key === undefined ? seen : seen.slice(acks.length - 1)
    const settledAt = inOrder.findIndex(status => status !== 'pending')
    if (settledAt >= 0 && inOrder.slice(settledAt).some(status => status === 'pending'))
      fault('R10 what is settled is never pending again', mark)
    if (first.status === 'confirmed' && seen.some(status => status !== 'confirmed'))
      fault('R10 confirmed stays confirmed', `${mark}: ${seen}`)
  }
  for (const { confirmationEmail, bookingId } of listed) {
    if (!known.has(confirmationEmail)) fault('R3 every booking was asked for', bookingId)
  }
  return { figures, findings }
}
