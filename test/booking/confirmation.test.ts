/** Confirmation e-mails against a real SMTP server that takes, refuses, hangs and dies. */
import assert from 'node:assert/strict'
import { createServer, type Server, type Socket } from 'node:net'
import { after, afterEach, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import { markUncertain, sendConfirmations } from '../../src/booking/confirmation/confirm.ts'
import { confirmationLetter } from '../../src/booking/confirmation/letter.ts'
import { createPostman, type Postman } from '../../src/booking/confirmation/send.ts'
import { resendConfirmation } from '../../src/booking/confirmation/store.ts'
import { findAnyBooking } from '../../src/booking/store.ts'
import type { Supplier } from '../../src/supplier/supplier.ts'
import { ahead, openShop, requestFor, type Shop } from './shop.ts'

const FROM = 'Airside <bookings@airside.example>'
const PASSWORD = 'swordfish'

type Mail = { from: string; to: string[]; raw: string }
/** What the server does at which step. */
type Mood =
  | { at: 'connect' | 'mail' | 'rcpt' | 'data' | 'end'; code: number }
  | 'hang in data'
  | 'hang at end'
  | 'die in data'
  | 'die at end'
  | undefined

let shop: Shop
let server: SMTPServer
let postman: Postman
let mails: Mail[] = []
let mood: Mood
let day = 5
const sockets = new Set<Socket>()

before(async () => {
  shop = await openShop()
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      username === 'airside' && password === PASSWORD
        ? done(null, { user: username })
        : done(new Error('no')),
    onConnect: (_session, done) => done(refusal('connect')),
    onMailFrom: (_address, _session, done) => done(refusal('mail')),
    onRcptTo: (_address, _session, done) => done(refusal('rcpt')),
    onData(stream, session, done) {
      if (mood === 'die in data') return void stream.once('data', killAll)
      if (mood === 'hang in data') return
      const no = refusal('data')
      if (no !== undefined) {
        stream.resume()
        return void stream.on('end', () => done(no))
      }
      const parts: Buffer[] = []
      stream.on('data', part => parts.push(part))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(one => one.address),
          raw: Buffer.concat(parts).toString('utf8'),
        })
        if (mood === 'hang at end') return
        if (mood === 'die at end') return killAll()
        done(refusal('end'))
      })
    },
  })
  server.server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('error', () => {})
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  postman = createPostman(url(), FROM, { silenceMs: 400, deadlineMs: 1_500 })
})
afterEach(async () => {
  mood = undefined
  mails = []
  await shop.database.query('delete from confirmation')
})
after(async () => {
  killAll()
  await new Promise<void>(resolve => void server.close(resolve))
  await shop.close()
})

function refusal(step: string): (Error & { responseCode: number }) | undefined {
  if (typeof mood !== 'object' || mood.at !== step) return undefined
  return Object.assign(new Error('grace@navy.example is not welcome'), { responseCode: mood.code })
}
function killAll(): void {
  for (const socket of sockets) socket.destroy()
}
const url = () => {
  const { port } = server.server.address() as { port: number }
  return `smtp://airside:${PASSWORD}@127.0.0.1:${port}`
}
const house = (more: { postman?: Postman | undefined } = { postman }) => ({
  database: shop.database,
  travellerKey: shop.house.travellerKey,
  log: shop.log.log,
  postman: more.postman,
})

async function bookOne(name = 'Grace', mode: 'live' | 'test' = 'live'): Promise<string> {
  const caller = shop.caller(mode)
  const [offer] = await shop.offers({ departDate: ahead(++day) }, caller)
  return (await shop.book(requestFor(offer!, name), { caller })).bookingId!
}
type Row = { state: string; attempts: number; problem: string | null; wait: number }
async function letter(id: string): Promise<Row | undefined> {
  const rows = await shop.database.query<Row>(
    'select state, attempts, problem, extract(epoch from due_at - now())::float8 as wait from confirmation where booking_id = $1',
    [id],
  )
  return rows[0]
}
const dueNow = () => shop.database.query(`update confirmation set due_at = now() where state = 'due'`)
async function sendAll(): Promise<void> {
  while ((await sendConfirmations(house())) > 0);
}
const header = (mail: Mail, name: string) =>
  new RegExp(`^${name}: ((?:.|\\r\\n[ \\t])*)`, 'mi')
    .exec(mail.raw.split('\r\n\r\n')[0]!)?.[1]
    ?.replace(/\r\n/g, '')

describe('a confirmation', () => {
  it('goes out once per booking, after the commit, to the contact', async () => {
    const ids = [await bookOne(), await bookOne(), await bookOne()]
    await Promise.all([sendAll(), sendAll(), sendAll()])
    assert.equal(mails.length, 3)
    assert.deepEqual(
      new Set(mails.map(mail => header(mail, 'message-id'))),
      new Set(ids.map(id => `<${id}.confirmation@airside.example>`)),
    )
    for (const mail of mails)
      assert.deepEqual([mail.from, mail.to], ['bookings@airside.example', ['grace@navy.example']])
    for (const id of ids)
      assert.deepEqual([(await letter(id))!.state, (await letter(id))!.attempts], ['sent', 1])
    await dueNow()
    await sendAll()
    assert.equal(mails.length, 3)
  })

  it('is owed by no booking that is pending, failed or withdrawn', async () => {
    const [supplier] = shop.house.suppliers.values()
    const answers: (() => ReturnType<Supplier['reserve']>)[] = [
      async () => ({ kind: 'unknown' }),
      async () => ({ kind: 'refused', reason: 'rejected' }),
      async () => ({ kind: 'refused', reason: 'sold_out' }),
    ]
    for (const reserve of answers) {
      const [offer] = await shop.offers({ departDate: ahead(++day) })
      const other = { ...shop.house, suppliers: new Map([[supplier!.name, { ...supplier!, reserve }]]) }
      await shop.book(requestFor(offer!), { house: other })
    }
    await sendAll()
    assert.equal(mails.length, 0)
  })

  it('of a booking that was cancelled before it was sent is not sent', async () => {
    const first = await bookOne()
    await shop.cancel(first)
    assert.equal(await letter(first), undefined)
    const second = await bookOne()
    // Cancelled while the letter is being written.
    await shop.database.query(`update confirmation set state = 'sending' where booking_id = $1`, [second])
    await shop.cancel(second)
    await shop.database.query(`update confirmation set state = 'due' where booking_id = $1`, [second])
    await sendAll()
    assert.deepEqual([mails.length, await letter(second)], [0, undefined])
  })

  it('says what was sold, in UTF-8', async () => {
    const id = await bookOne('Žofie 李')
    await sendAll()
    const [mail] = mails
    const booking = (await findAnyBooking(shop.database, shop.house.travellerKey, id))!
    assert.equal(header(mail!, 'subject'), `Confirmed: SIN to HKG, ${booking.recordLocator}`)
    assert.equal(header(mail!, 'auto-submitted'), 'auto-generated')
    const body = decodeBody(mail!.raw)
    for (const text of [
      'Žofie 李 Hopper A',
      booking.recordLocator,
      id,
      'Singapore',
      /ZX\d/.exec(body)![0],
      '.00 USD'.slice(-3),
    ]) {
      assert.ok(body.includes(text), text)
    }
    const { text } = confirmationLetter(booking, 'x')
    assert.equal(body.trim().replaceAll('\r\n', '\n'), text.trim())
    assert.match(text, /Total: \d+\.\d\d USD/)
    assert.ok(!text.includes('SECRETDOC'))
  })

  it('of a test booking says so', async () => {
    await bookOne('Grace', 'test')
    await sendAll()
    assert.match(header(mails[0]!, 'subject')!, /^Test, not valid for travel: SIN/)
    assert.match(decodeBody(mails[0]!.raw), /This is a test/)
  })

  it('lets no name, locator or address forge a header or a second recipient', async () => {
    const id = await bookOne()
    const booking = (await findAnyBooking(shop.database, shop.house.travellerKey, id))!
    const evil = 'X\r\nBcc: spy@evil.example\r\n\r\n.\r\nMAIL FROM:<a@evil.example>'
    await postman.send(
      confirmationLetter(
        { ...booking, recordLocator: evil, travellers: [{ ...booking.travellers[0]!, firstName: evil }] },
        'airside.example',
      ),
    )
    assert.equal(mails.length, 1)
    assert.deepEqual(mails[0]!.to, ['grace@navy.example'])
    assert.equal(header(mails[0]!, 'bcc'), undefined)
    mails = []
    for (const to of [
      'a@b.example, spy@evil.example',
      'a@b.example\r\nBcc: spy@evil.example',
      'a@b.example>\r\nRCPT TO:<spy@evil.example',
    ]) {
      await postman.send({ ...confirmationLetter(booking, 'x'), to })
      for (const mail of mails) assert.ok(!mail.to.includes('spy@evil.example'), `${to} went to ${mail.to}`)
    }
  })
})

/** The text of a single-part mail, whatever its transfer encoding. */
function decodeBody(raw: string): string {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  if (/transfer-encoding: base64/i.test(head)) return Buffer.from(body, 'base64').toString('utf8')
  if (!/transfer-encoding: quoted-printable/i.test(head)) return body
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

describe('a mail server', () => {
  for (const at of ['connect', 'mail', 'rcpt', 'data', 'end'] as const) {
    for (const code of [451, 550]) {
      it(`that says ${code} at ${at} is tried again later, and takes it once`, async () => {
        const id = await bookOne()
        mood = { at, code }
        await sendAll()
        mails = []
        const row = (await letter(id))!
        assert.deepEqual([row.state, row.attempts], ['due', 1])
        assert.ok(row.wait > 25 && row.wait <= 30, `${row.wait}`)
        assert.match(row.problem!, new RegExp(`${code}`))
        mood = undefined
        await dueNow()
        await sendAll()
        assert.equal(mails.length, 1)
        assert.equal((await letter(id))!.state, 'sent')
      })
    }
  }

  it('that is not there is tried again after 30 s, 2 min, 10 min, then every hour, for a day', async () => {
    const id = await bookOne()
    const nobody = createPostman('smtp://127.0.0.1:1', FROM)
    const waits: number[] = []
    for (let i = 0; i < 27; i++) {
      await dueNow()
      await sendConfirmations(house({ postman: nobody }))
      waits.push(Math.ceil((await letter(id))!.wait))
    }
    assert.deepEqual(waits.slice(0, 6), [30, 120, 600, 3600, 3600, 3600])
    assert.equal((await letter(id))!.state, 'refused')
    assert.equal(await resendConfirmation(shop.database, id), true)
    await sendAll()
    assert.equal(mails.length, 1)
  })

  for (const how of ['hang in data', 'hang at end', 'die in data', 'die at end'] as const) {
    it(`that goes silent (${how}) may have it: uncertain, and not sent again by itself`, async () => {
      const id = await bookOne()
      mood = how
      await sendAll()
      killAll()
      const row = (await letter(id))!
      assert.equal(row.state, 'uncertain')
      mood = undefined
      mails = []
      await dueNow()
      await sendAll()
      assert.equal(mails.length, 0)
      assert.equal(await resendConfirmation(shop.database, id), true)
      await sendAll()
      assert.deepEqual([mails.length, (await letter(id))!.state], [1, 'sent'])
    })
  }

  it('that drips without end is left after the deadline', async () => {
    const held: Socket[] = []
    const slow: Server = createServer(socket => {
      held.push(socket)
      socket.on('error', () => {})
      const timer = setInterval(() => socket.write('220-still here\r\n'), 100)
      socket.on('close', () => clearInterval(timer))
    })
    await new Promise<void>(resolve => slow.listen(0, '127.0.0.1', resolve))
    const { port } = slow.address() as { port: number }
    const id = await bookOne()
    await sendConfirmations(
      house({
        postman: createPostman(`smtp://127.0.0.1:${port}`, FROM, { silenceMs: 5_000, deadlineMs: 500 }),
      }),
    )
    assert.equal((await letter(id))!.state, 'due')
    for (const socket of held) socket.destroy()
    await new Promise(resolve => slow.close(resolve))
  })
})

describe('a sender', () => {
  it('without SMTP writes it to the log', async () => {
    const id = await bookOne()
    await sendConfirmations(house({ postman: undefined }))
    assert.equal((await letter(id))!.state, 'logged')
    assert.ok(
      shop.log.lines.some(line => line.fields.bookingId === id && line.message.includes('AIRSIDE_SMTP_URL')),
    )
  })

  it('that vanishes while sending leaves it uncertain', async () => {
    const id = await bookOne()
    const vanished = new Promise<never>(() => {})
    void sendConfirmations(house({ postman: { from: FROM, send: () => vanished } }))
    while ((await letter(id))!.state !== 'sending') await sleep(5)
    await markUncertain(house())
    assert.equal((await letter(id))!.state, 'sending')
    await shop.database.query(`update confirmation set due_at = now() where booking_id = $1`, [id])
    await markUncertain(house())
    assert.equal((await letter(id))!.state, 'uncertain')
    await sendAll()
    assert.equal(mails.length, 0)
  })

  it('is not kept from the others by a letter that cannot be written', async () => {
    const bad = await bookOne()
    const good = await bookOne()
    await shop.database.query(`update booking set contact = '\\x00' where id = $1`, [bad])
    await sendAll()
    assert.deepEqual([(await letter(good))!.state, (await letter(bad))!.state], ['sent', 'due'])
  })

  it('logs no address, name, document or password', () => {
    const text = shop.log.text()
    assert.ok(text.includes('confirmation'))
    for (const secret of ['navy.example', 'Hopper', 'SECRETDOC', PASSWORD])
      assert.ok(!text.includes(secret), secret)
  })
})
