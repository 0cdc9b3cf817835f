import { isUnavailable } from '../db/failure.ts'
import { REFUSALS, Refusal } from '../refusal.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Where the codes are explained, on the same origin. */
export const DOCS_PATH = '/docs'

/** Seconds after which to try again, where a refusal names none. */
const RETRY_AFTER_SECONDS = 1

/** A refusal as the answer to the request `requestId`. */
export function renderRefusal(refusal: Refusal, requestId: string): { status: number; body: string } {
  const { status, retryable } = REFUSALS[refusal.code]
  const { param, details, priceChange } = refusal.more
  const error = {
    code: refusal.code,
    message: refusal.message,
    param,
    details,
    priceChange,
    retryable,
    docUrl: `${DOCS_PATH}#${refusal.code}`,
  }
  return { status, body: JSON.stringify({ status: 'error', requestId, error }) }
}

/** The Retry-After that goes with a refusal, if one does: always with 429 and 503. */
export function retryAfter(refusal: Refusal): string | undefined {
  const seconds = refusal.more.retryAfterSeconds
  if (seconds !== undefined) return String(seconds)
  const { status } = REFUSALS[refusal.code]
  return status === 429 || status === 503 ? String(RETRY_AFTER_SECONDS) : undefined
}

/** What the framework throws, as the refusal it stands for; undefined when it is a defect. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (!(error instanceof Error)) return undefined
  if (isUnavailable(error))
    return unavailable('The service is busy or its database is away; try again in a few seconds.')
  const { code, statusCode } = error as { code?: string; statusCode?: number }
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge()
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return wrongMedia()
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new Refusal('invalid_params', 'The body is empty; send a JSON object.', { param: 'body' })
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new Refusal('invalid_params', 'The body is not JSON; check its syntax.', { param: 'body' })
    case 'FST_ERR_BAD_URL':
      return new Refusal(
        'invalid_params',
        'The path holds a % that escapes no UTF-8 character; encode the path anew.',
      )
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Refusal('not_found', NOT_FOUND)
    case 'FST_ERR_HANDLER_TIMEOUT':
      return unavailable('The answer took too long; try again in a few seconds.')
    default:
      return statusCode !== undefined && statusCode >= 400 && statusCode < 500
        ? new Refusal('invalid_params', 'The request did not arrive whole; send it again.')
        : undefined
  }
}

export const NOT_FOUND = `There is nothing at this path; see ${DOCS_PATH} for what there is.`

export const tooLarge = () => new Refusal('payload_too_large', 'The body is larger than 64 KiB; send less.')

export const wrongMedia = () =>
  new Refusal(
    'unsupported_media_type',
    'Send the body as UTF-8 with "Content-Type: application/json", without Content-Encoding.',
  )

const unavailable = (message: string) => new Refusal('service_unavailable', message, { retryAfterSeconds: 2 })
