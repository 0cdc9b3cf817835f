/** What a peer is asked to do: take deliveries as jobs, and send them with the sender that everything is measured against. */
import { obey } from '../webhooks/child.ts'
import { createPost } from '../webhooks/post.ts'

export type Job = { url: string; id: string; body: string }

export type Peer = {
  queue(jobs: readonly Job[]): Promise<void>
  /** Begins to work, on so many jobs at once. */
  start(atOnce: number): Promise<void>
  stop(): Promise<void>
}

/** Serves a peer in a process of its own. */
export function servePeer(open: (url: string, post: (job: Job) => Promise<void>) => Promise<Peer>): void {
  let peer: Peer
  obey({
    async open({
      url,
      authority,
      secret,
    }: {
      url: string
      authority: string
      secret: string
    }): Promise<void> {
      const post = createPost(authority, secret)
      peer = await open(url, job => post(job.url, job.id, Buffer.from(job.body)))
    },
    queue: (jobs: readonly Job[]) => peer.queue(jobs),
    start: (atOnce: number) => peer.start(atOnce),
    stop: () => peer.stop(),
  })
}
