/** Takes the place of `node:tls` in the engine's connector where deliveries without TLS are measured: the same call, a plain socket. */
import { connect as connectPlain, type Socket } from 'node:net'

/** A plain connection that says of itself what the connector waits for. */
export function connect({ host, port }: { host: string; port: number }): Socket {
  const socket = connectPlain({ host, port })
  socket.once('connect', () => process.nextTick(() => socket.emit('secureConnect')))
  return Object.assign(socket, { getProtocol: () => null })
}
