/** An outside carrier for tests: a real HTTP server with a system of its own behind it, that has moods. Its journal is the oracle. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What happens to a reservation: whether it is made, and what the caller hears of it. */
export type Mood = {
  /** Whether an order is made. */
  makes: boolean
  /** What is heard: the truth, a refusal, or nothing that means anything. */
  says: 'truth' | 'sold_out' | 'price_changed' | 'rejected' | 'error' | 'garbage' | 'cut' | 'hang up'
  /** Before it is made, in milliseconds. */
  delayMs?: number
  /** Look-ups that find nothing before the order shows. */
  hiddenFor?: number
}

export const KIND: Mood = { makes: true, says: 'truth' }

export type Order = { locator: string; cancelled: boolean; hiddenFor: number }

export type Carrier = {
  url: string
  /** How the next reservations are met. */
  mood: Mood
  /** Refuses connections while true. */
  down: boolean
  /** Price that is quoted, in minor units of USD. */
  fare: number
  seats: number
  orders: ReadonlyMap<string, Order>
  /** Requests in the order they came, `POST bkg_…`. */
  journal: readonly string[]
  close(): Promise<void>
}

/** Starts a carrier on a free port. */
export async function startCarrier(): Promise<Carrier> {
  const orders = new Map<string, Order>()
  const journal: string[] = []
  const carrier = { url: '', mood: KIND, down: false, fare: 10_000, seats: 9, orders, journal }
  const locator = (n: number) => `CR${n.toString(36).toUpperCase().padStart(4, '0')}`

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, , id = ''] = request.url!.split('/')
    journal.push(`${request.method} ${id === '' ? request.url!.slice(1) : id}`)
    if (carrier.down) return void request.socket.destroy()
    const send = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body))
    if (id === '') return void send(200, { fare: carrier.fare, seats: carrier.seats })
    const order = orders.get(id)
    if (request.method === 'GET') {
      if (order === undefined || order.hiddenFor-- > 0) return void send(404, {})
      return void send(order.cancelled ? 410 : 200, order.cancelled ? {} : { locator: order.locator })
    }
    if (request.method === 'DELETE') {
      if (order === undefined) return void send(404, {})
      order.cancelled = true
      return void send(200, {})
    }
    const mood = carrier.mood
    await sleep(mood.delayMs ?? 0)
    const made: Order = { locator: locator(orders.size), cancelled: false, hiddenFor: mood.hiddenFor ?? 0 }
    if (mood.makes) orders.set(id, made)
    if (mood.says === 'hang up') return void request.socket.destroy()
    if (mood.says === 'cut') {
      response.writeHead(200, { 'content-length': '100' }).write('{"locator":"CR')
      return void setTimeout(() => request.socket.destroy(), 5)
    }
    if (mood.says === 'garbage') return void response.writeHead(502).end('<html>Bad gateway')
    if (mood.says === 'error') return void send(500, { error: 'internal' })
    if (mood.says !== 'truth') return void send(409, { refused: mood.says })
    send(mood.makes ? 200 : 202, mood.makes ? { locator: made.locator } : {})
  }

  const server = createServer(
    (request, response) => void answer(request, response).catch(() => response.destroy()),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  carrier.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(carrier, {
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  })
}
