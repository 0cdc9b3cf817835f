import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { FromSender, SenderStart, ToSender } from './messages.ts'

const COLLECT_PATIENCE_MS = 500
/** Longer than an attempt may take; shorter than the process has to stop. */
const STOP_PATIENCE_MS = 8_500

export type Sender = {
  /** A new way for a thread to say what is due. */
  port(): MessagePort
  /** Its counters; none when it does not answer. */
  metrics(): Promise<object[][]>
  stop(): Promise<void>
}

/**
 * Starts the thread that sends events.
 * @param lost told when it ends by itself: a defect, after which the process stops
 * @throws Error when it cannot start
 */
export async function startSender(start: SenderStart, lost: (error: unknown) => void): Promise<Sender> {
  const worker = new Worker(new URL('./sender.ts', import.meta.url), { workerData: start })
  const send = (message: ToSender, ports: MessagePort[] = []) => worker.postMessage(message, ports)
  const asked = new Map<number, (metrics: object[]) => void>()
  let tickets = 0
  let stopping = false
  let stopped: Promise<void> | undefined
  const started = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()

  worker.on('message', (message: FromSender) => {
    if (message.kind === 'sending') started.resolve()
    else if (message.kind === 'failed') started.reject(new Error(`events cannot be sent: ${message.message}`))
    else if (message.kind === 'collected') asked.get(message.ticket)?.(message.metrics)
    else ended.resolve()
  })
  worker.on('error', error => {
    started.reject(error)
    if (!stopping) lost(error)
  })
  worker.on('exit', code => {
    ended.resolve()
    if (!stopping) lost(new Error(`the thread that sends events ended with code ${code}`))
  })

  async function stop(): Promise<void> {
    stopping = true
    send({ kind: 'stop' })
    await Promise.race([ended.promise, sleep(STOP_PATIENCE_MS, undefined, { ref: false })])
    await worker.terminate()
  }

  try {
    await started.promise
  } catch (error) {
    stopping = true
    await worker.terminate()
    throw error
  }
  return {
    port() {
      const { port1, port2 } = new MessageChannel()
      send({ kind: 'hear', port: port2 }, [port2])
      return port1
    },
    async metrics() {
      const ticket = ++tickets
      const answer = new Promise<object[]>(resolve => asked.set(ticket, resolve))
      send({ kind: 'collect', ticket })
      const metrics = await Promise.race([answer, sleep(COLLECT_PATIENCE_MS, undefined, { ref: false })])
      asked.delete(ticket)
      return metrics === undefined ? [] : [metrics]
    },
    stop: () => (stopped ??= stop()),
  }
}
