/** A process that only sends: no queue, no database, nothing to remember. What it reaches is what there is to reach. */
import { monotonic, obey } from './child.ts'
import { createPost, type Post } from './post.ts'

export type RawEvent = { id: string; body: Uint8Array; urls: readonly string[] }

let post: Post

obey({
  open({ authority, secret }: { authority: string; secret: string }): void {
    post = createPost(authority, secret)
  },
  /** Sends every event to its URLs, so many at once. @returns milliseconds from the first request to the last answer */
  async send({ events, atOnce }: { events: readonly RawEvent[]; atOnce: number }): Promise<number> {
    const deliveries = events.flatMap(({ id, body, urls }) => {
      const bytes = Buffer.from(body)
      return urls.map(url => ({ id, bytes, url }))
    })
    let next = 0
    const startedAt = monotonic()
    const work = async () => {
      for (let i = next++; i < deliveries.length; i = next++) {
        const { url, id, bytes } = deliveries[i]!
        await post(url, id, bytes)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return monotonic() - startedAt
  },
})
