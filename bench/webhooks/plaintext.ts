/**
 * Loaded before a sender (`--import`), also into its threads: the engine refuses plain HTTP, so its connector alone is given plain sockets under
 * URLs that still say https. Everything else is the engine as it stands.
 */
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'node:tls' && context.parentURL?.endsWith('/src/webhook/delivery/wire.ts'))
      return { url: new URL('plain-socket.ts', import.meta.url).href, shortCircuit: true }
    return next(specifier, context)
  },
})
