import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../refusal.ts'

/** Largest body, in bytes. */
export const BODY_MAX = 65_536
/** Brackets a body may open inside one another. */
const DEPTH_MAX = 32

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** `\u0000`, or half of a surrogate pair that may lack its other half: only then are the parsed strings looked at one by one. */
const SUSPECT = /\\u(?:0000|[dD][89a-fA-F])/

/** Makes JSON the only kind of body that `app` reads. */
export function readJsonOnly(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: BODY_MAX },
    (request, bytes, done) => {
      const { bodyOptional } = (request as FastifyRequest).routeOptions.config
      if (bodyOptional && bytes.length === 0) return done(null, undefined)
      const text = decode(bytes as Buffer)
      let value: unknown
      let failure: Error | null = null
      // It answers before it returns; what is thrown inside its callback, it would take for faulty JSON.
      void parseJson(request as FastifyRequest, text, (error, parsed) => {
        failure = error
        value = parsed
      })
      if (failure === null) refuseUnstorable(text, value)
      done(failure, value)
    },
  )
}

/**
 * The text of a body.
 * @throws Refusal invalid_params when it is not UTF-8 or starts with a byte order mark
 */
function decode(bytes: Buffer): string {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw faulty('The body is not valid UTF-8; encode it as UTF-8.')
  }
  if (text.startsWith('\ufeff')) throw faulty('The body starts with a byte order mark; send the JSON alone.')
  return text
}

/**
 * Refuses what JSON can say but text columns cannot keep, and nesting that no request of ours has.
 * @throws Refusal invalid_params
 */
function refuseUnstorable(text: string, value: unknown): void {
  const suspect = SUSPECT.test(text)
  if (!suspect && brackets(text) <= DEPTH_MAX) return
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEPTH_MAX) throw faulty(`The body is nested deeper than ${DEPTH_MAX} levels.`)
    const next: unknown[] = []
    for (const item of level) {
      if (typeof item === 'string') refuseText(item)
      if (typeof item !== 'object' || item === null) continue
      for (const [key, inner] of Object.entries(item)) {
        refuseText(key)
        next.push(inner)
      }
    }
    level = next
  }
}

function refuseText(text: string): void {
  if (!text.isWellFormed()) throw faulty('The body holds half a surrogate pair; escape characters whole.')
  if (text.includes('\0')) throw faulty('The body holds a NUL character; leave it out.')
}

function brackets(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 0x5b || unit === 0x7b) count++
  }
  return count
}

const faulty = (message: string) => new Refusal('invalid_params', message, { param: 'body' })
