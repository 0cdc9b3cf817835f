import { setTimeout as sleep } from 'node:timers/promises'
import { type MessagePort, Worker } from 'node:worker_threads'
import { AggregatorRegistry } from 'prom-client'
import type { Logger } from './log.ts'
import type { FromThread, ThreadStart, ToThread } from './messages.ts'
import { registry } from './metrics.ts'
import type { Region } from './settings.ts'
import type { WorldBuffers } from './supplier/inventory/world.ts'

/** How long a thread may take to finish what it is answering. */
const STOP_PATIENCE_MS = 7_000
/** How long the threads may take to hand in their counters. */
const COLLECT_PATIENCE_MS = 1_000
const START_PATIENCE_MS = 15_000

type Ports = Readonly<Partial<Record<Region, number>>>

export type Threads = {
  /** Where the threads listen. */
  ports: Ports
  /** Hands a new world to all threads. */
  swap(region: Region, world: WorldBuffers): void
  stop(): Promise<void>
}

export type ThreadsNeeds = {
  start: ThreadStart
  ports: Ports
  log: Logger
  seatsChanged(region: Region): Promise<void>
  /** A new way to this process's sender of events, if it has one. */
  senderPort(): MessagePort | undefined
  /** The counters of threads that are not ours. */
  otherMetrics(): Promise<object[][]>
  /** A thread has ended by itself: a defect, after which the process stops. */
  lost(error: unknown): void
}

/**
 * Starts the API threads. The first one opens the ports, the others join it there.
 * @throws Error when a port cannot be opened
 */
export async function startThreads(needs: ThreadsNeeds): Promise<Threads> {
  const { start } = needs
  const workers = Array.from({ length: start.settings.threads }, () => {
    const sender = needs.senderPort()
    return new Worker(new URL('./thread.ts', import.meta.url), {
      workerData: { ...start, sender },
      transferList: sender === undefined ? [] : [sender],
    })
  })
  const send = (worker: Worker, message: ToThread) => worker.postMessage(message)
  const collecting = new Map<number, { left: number; metrics: object[][]; done(): void }>()
  let tickets = 0
  let stopping = false

  for (const worker of workers) {
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'seats changed') {
        void needs
          .seatsChanged(message.region)
          .then(() => send(worker, { kind: 'seats followed', ticket: message.ticket }))
      } else if (message.kind === 'metrics wanted') {
        void collect().then(text => send(worker, { kind: 'metrics', ticket: message.ticket, text }))
      } else if (message.kind === 'collected') {
        const run = collecting.get(message.ticket)
        run?.metrics.push(message.metrics)
        if (run !== undefined && --run.left === 0) run.done()
      }
    })
    worker.on('error', needs.lost)
    worker.on('exit', code => {
      if (!stopping) needs.lost(new Error(`an API thread ended with code ${code}`))
    })
  }

  /** The counters of all threads, added up. */
  async function collect(): Promise<string> {
    const ticket = ++tickets
    const { promise, resolve } = Promise.withResolvers<void>()
    const run = {
      left: workers.length,
      metrics: [await registry.getMetricsAsJSON(), ...(await needs.otherMetrics())] as object[][],
      done: resolve,
    }
    collecting.set(ticket, run)
    for (const worker of workers) send(worker, { kind: 'collect', ticket })
    await Promise.race([promise, sleep(COLLECT_PATIENCE_MS, undefined, { ref: false })])
    collecting.delete(ticket)
    return AggregatorRegistry.aggregate(run.metrics).metrics()
  }

  function listen(worker: Worker, ports: Ports, first: boolean): Promise<Ports> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error('an API thread did not start in time')),
        START_PATIENCE_MS,
      )
      const hear = (message: FromThread) => {
        if (message.kind !== 'listening' && message.kind !== 'failed') return
        clearTimeout(timer)
        worker.off('message', hear)
        if (message.kind === 'listening') resolve(message.ports)
        else reject(new Error(message.message))
      }
      worker.on('message', hear)
      send(worker, { kind: 'listen', ports, first })
    })
  }

  async function stop(): Promise<void> {
    stopping = true
    await Promise.all(
      workers.map(async worker => {
        const stopped = new Promise<void>(resolve => {
          worker.on('message', (message: FromThread) => message.kind === 'stopped' && resolve())
          worker.on('exit', () => resolve())
        })
        send(worker, { kind: 'stop' })
        await Promise.race([stopped, sleep(STOP_PATIENCE_MS, undefined, { ref: false })])
        await worker.terminate()
      }),
    )
  }

  try {
    const ports = await listen(workers[0]!, needs.ports, true)
    await Promise.all(workers.slice(1).map(worker => listen(worker, ports, false)))
    return {
      ports,
      swap(region, world) {
        for (const worker of workers) send(worker, { kind: 'world', region, world })
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
