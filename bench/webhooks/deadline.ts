/** G9: when an attempt's deadline fires, whatever the attempt is waiting for. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createSecureContext, rootCertificates } from 'node:tls'
import { networks } from '../../src/webhook/address.ts'
import { attempt } from '../../src/webhook/delivery/attempt.ts'
import { createWire, type Reach } from '../../src/webhook/delivery/wire.ts'
import { createResolver } from '../../src/webhook/resolve.ts'
import { startNameServer } from '../../test/support/name-server.ts'
import type { Stage } from './stage.ts'

const ATTEMPTS_EACH = 20

/** How one of many attempts at once ended, and after how many seconds. */
export type Ended = { waitingFor: string; reason: string; seconds: number }

/** Attempts that wait for a name, for a handshake that never ends, and for an answer, all at once. */
export async function measureDeadline({ authority, ports, endpoints, receiver }: Stage): Promise<Ended[]> {
  const names = await startNameServer()
  names.say('silent.example', 'silence')
  const sockets = new Set<Socket>()
  const mute = createServer(socket => void sockets.add(socket.on('error', () => {})))
  await new Promise<void>(resolve => mute.listen(0, '127.0.0.1', resolve))
  const reach: Reach = {
    resolver: createResolver([names.address]),
    allow: networks(['127.0.0.0/8']),
    secure: createSecureContext({ ca: [...rootCertificates, authority.certificate], minVersion: 'TLSv1.2' }),
  }
  await receiver.ask('hang', [endpoints[0]!.address])
  const places = {
    'a name': 'https://silent.example/hook',
    'a handshake': `https://127.0.0.1:${(mute.address() as AddressInfo).port}/hook`,
    'an answer': `https://${endpoints[0]!.address}:${ports.tls}/hook`,
  }
  const one = async (waitingFor: string, url: URL): Promise<Ended> => {
    const message = { path: url.pathname, headers: {}, body: Buffer.from('{}') }
    const startedAt = performance.now()
    const { outcome } = await attempt(undefined, () => createWire(url, reach, {}), message)
    return {
      waitingFor,
      reason: outcome.reason ?? 'delivered',
      seconds: (performance.now() - startedAt) / 1000,
    }
  }
  try {
    return await Promise.all(
      Object.entries(places).flatMap(([waitingFor, url]) =>
        Array.from({ length: ATTEMPTS_EACH }, () => one(waitingFor, new URL(url))),
      ),
    )
  } finally {
    await receiver.ask('hang', [])
    for (const socket of sockets) socket.destroy()
    mute.close()
    await names.close()
  }
}
