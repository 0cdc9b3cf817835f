/** The sender that everything is measured against: signed POSTs through undici's pool, as anybody would write it. */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import type { SigningSecrets } from '../../src/webhook/endpoint.ts'
import { signatureHeaders } from '../../src/webhook/signature.ts'

export type Post = (url: string, id: string, body: Buffer) => Promise<void>

/** POSTs signed in both schemes, over connections that stay open. @param authority a file of certificates to trust. Rejects unless the answer is 200 */
export function createPost(authority: string, secret: string): Post {
  const agent = new Agent({
    connections: 8,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: 30_000,
    connect: { ca: readFileSync(authority, 'utf8') },
  })
  const secrets: SigningSecrets = { current: { text: secret, given: true } }
  return async (url, id, body) => {
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Airside-Webhooks/1',
      'X-Airside-Attempt': '1',
      ...signatureHeaders('Airside', secrets, { id, at: Date.now(), body }),
    }
    const { statusCode, body: answer } = await request(url, {
      method: 'POST',
      headers,
      body,
      dispatcher: agent,
    })
    await answer.dump()
    if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`)
  }
}
