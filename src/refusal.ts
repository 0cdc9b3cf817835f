/**
 * The expected "no": every error code a partner can meet, with its HTTP status, in one table.
 * Anything thrown that is not a Refusal is a defect: logged, and answered as `internal_error`.
 */
export const REFUSALS = {
  invalid_params: { status: 400, retryable: false },
  unauthorized: { status: 401, retryable: false },
  invalid_key: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  conflict: { status: 409, retryable: true },
  payload_too_large: { status: 413, retryable: false },
  unsupported_media_type: { status: 415, retryable: false },
  expired_offer: { status: 422, retryable: false },
  unavailable: { status: 422, retryable: false },
  no_results: { status: 422, retryable: false },
  not_cancellable: { status: 422, retryable: false },
  idempotency_mismatch: { status: 422, retryable: false },
  rate_limited: { status: 429, retryable: true },
  internal_error: { status: 500, retryable: true },
  service_unavailable: { status: 503, retryable: true },
} as const

export type RefusalCode = keyof typeof REFUSALS

/** One faulty field: `param` is a path such as `passengers[0].documentExpiry`. */
export type Fault = { param: string; code: string; message: string }

export type RefusalMore = {
  /** Path of the first faulty field. */
  param?: string
  /** All faulty fields, at most `FAULTS_MAX`. */
  details?: readonly Fault[]
  /** Seconds after which trying again makes sense; becomes `Retry-After`. */
  retryAfterSeconds?: number
  /** The fare that was quoted and the one that holds now, for `unavailable`. */
  priceChange?: PriceChange
}

export type PriceChange = {
  from: { amount: number; currency: string }
  to: { amount: number; currency: string }
}

/** Faults listed in one answer, at most. */
export const FAULTS_MAX = 20

/** Thrown where a partner's request is refused. `message` tells the partner what to do next and holds no traveller's data. */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly more: RefusalMore
  constructor(code: RefusalCode, message: string, more: RefusalMore = {}) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.more = more
  }
}

/** The refusal for a body with faulty fields, naming the first one. */
export function invalidParams(faults: readonly Fault[]): Refusal {
  const first = faults[0]!
  return new Refusal('invalid_params', `${first.param}: ${first.message}`, {
    param: first.param,
    details: faults.slice(0, FAULTS_MAX),
  })
}
