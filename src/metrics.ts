import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** This thread's counters. Threads are added up when somebody asks, see thread.ts. */
export const registry = new Registry()

const registers = [registry]

export const requests = new Counter({
  name: 'airside_http_requests_total',
  help: 'Answered requests',
  labelNames: ['region', 'route', 'status'],
  registers,
})

export const requestSeconds = new Histogram({
  name: 'airside_http_request_seconds',
  help: 'Time from the request line to the end of the answer',
  labelNames: ['region', 'route'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers,
})

export const bookings = new Counter({
  name: 'airside_bookings_total',
  help: 'Bookings by the status they were answered with',
  labelNames: ['region', 'mode', 'status'],
  registers,
})

export const requestLogDropped = new Gauge({
  name: 'airside_request_log_dropped',
  help: 'Request log lines lost because the database could not take them',
  labelNames: ['region'],
  registers,
})

/** Adds the process's own figures; once in a process. */
export function collectProcessMetrics(): void {
  collectDefaultMetrics({ register: registry })
}
