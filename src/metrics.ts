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

export const webhookAttempts = new Counter({
  name: 'airside_webhook_attempts_total',
  help: 'Attempts to deliver an event, by what came of them',
  labelNames: ['region', 'reason'],
  registers,
})

export const webhookFirstAttemptSeconds = new Histogram({
  name: 'airside_webhook_first_attempt_seconds',
  help: "Time from an event's commit to its first attempt, by the database's clock",
  labelNames: ['region'],
  buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  registers,
})

export const webhookLatenessSeconds = new Histogram({
  name: 'airside_webhook_lateness_seconds',
  help: 'How much later than due an attempt began',
  labelNames: ['region'],
  buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 5, 30, 60, 300, 1800],
  registers,
})

export const webhookUnaccounted = new Gauge({
  name: 'airside_webhook_unaccounted_total',
  help: 'Deliveries that are owed and neither queued nor ended: must be 0',
  labelNames: ['region'],
  registers,
})

export const webhookDue = new Gauge({
  name: 'airside_webhook_due_rows',
  help: 'Deliveries that are due, by how long they have been',
  labelNames: ['region', 'age'],
  registers,
})

export const webhookLeasesLost = new Counter({
  name: 'airside_webhook_leases_lost_total',
  help: 'Leases a sender could not renew in time',
  labelNames: ['region'],
  registers,
})

export const webhookStaleResults = new Counter({
  name: 'airside_webhook_stale_results_total',
  help: 'Results refused because their lane had changed hands',
  labelNames: ['region'],
  registers,
})

export const webhookInFlight = new Gauge({
  name: 'airside_webhook_in_flight',
  help: 'Attempts on the wire',
  labelNames: ['region'],
  registers,
})

export const webhookDisabled = new Counter({
  name: 'airside_webhook_disabled_total',
  help: 'Endpoints disabled because they kept failing, or said they were gone',
  labelNames: ['region', 'reason'],
  registers,
})

export const oldestTransactionSeconds = new Gauge({
  name: 'airside_oldest_transaction_seconds',
  help: 'Age of the oldest transaction that keeps old rows from being cleaned away; worry at 60',
  labelNames: ['region'],
  registers,
})
