import type { RefusalCode } from '../../refusal.ts'

/** What each error code means and what a partner does about it, for the reference. `message` is an example of the answer's own. */
export const CODE_NOTES: Readonly<Record<RefusalCode, { means: string; remedy: string; message: string }>> = {
  invalid_params: {
    means:
      'A field is missing, has the wrong form, or does not fit the others. `error.details` lists every faulty field, `error.param` the first.',
    remedy: 'Correct the fields that are named and send the request again.',
    message: 'departDate: give a calendar date as YYYY-MM-DD, such as 2027-03-28',
  },
  unauthorized: {
    means:
      'The `Authorization` header is missing, is no bearer header, was sent twice, or carries something that is no API key; or the key was revoked or has expired.',
    remedy: 'Send `Authorization: Bearer <your key>` exactly once, with a key that is in use.',
    message:
      'Send your API key in the header "Authorization: Bearer air_live_…" (or air_test_…) with every request.',
  },
  invalid_key: {
    means:
      'The key looks like one but is not known at this address: it was mistyped, deleted, or belongs to the other region.',
    remedy:
      'Check the key and the address: international keys work at the international address, China keys at the China address.',
    message:
      'This API key is mistyped: its checksum is wrong. Copy it again as it was shown when it was created.',
  },
  forbidden: {
    means:
      'The key is good but may not do this: it lacks the scope, or it is a live key of an account that is not approved for live yet.',
    remedy: 'Use a key with the scope that the message names, or a test key until the account is approved.',
    message:
      'This API key lacks the scope "book". Use a key that has it, or create one with it in the dashboard (Settings, API keys).',
  },
  not_found: {
    means:
      'There is nothing under this id or path that your key may see. A booking of another account, or of the other mode, looks exactly like one that does not exist.',
    remedy: 'Check the id and whether you use a key of the same account and mode.',
    message:
      'There is no such booking; use the bookingId that book answered, with a key of the same account and mode.',
  },
  method_not_allowed: {
    means: 'The path is right but takes another method; the `Allow` header says which.',
    remedy: 'Use a method from the `Allow` header.',
    message: 'This path takes POST only.',
  },
  conflict: {
    means: 'A request with the same `Idempotency-Key` is still running.',
    remedy: 'Wait a few seconds and send the very same request again: you get the answer of the first.',
    message: 'The request with this Idempotency-Key is still running; send it again in a few seconds.',
  },
  payload_too_large: {
    means: 'The body is larger than 64 KiB (413), or all headers together are larger than 8 KiB (431).',
    remedy: 'Send less.',
    message: 'The body is larger than 64 KiB; send less.',
  },
  unsupported_media_type: {
    means: 'The body is announced as something other than plain UTF-8 JSON.',
    remedy: 'Send `Content-Type: application/json` and no `Content-Encoding`.',
    message: 'Send the body as UTF-8 with "Content-Type: application/json", without Content-Encoding.',
  },
  expired_offer: {
    means: 'More than 15 minutes have passed since the search that made the offer.',
    remedy: 'Search again and book a fresh offer.',
    message: 'This offer is older than 15 minutes; search again and book a fresh one.',
  },
  unavailable: {
    means:
      'The offer is sold out or no longer costs what was quoted; nothing was booked, held or charged. When only the price moved, `error.priceChange` tells the old and the new one.',
    remedy: 'Search again and let the traveller choose anew.',
    message: 'This offer is no longer available at the quoted price; search again.',
  },
  no_results: {
    means: 'Nothing is sold for these places, days, cabin and number of passengers.',
    remedy: 'Try another day, cabin or nearby airport.',
    message: 'Nothing is sold between these places on this date; try another date, class or nearby airport.',
  },
  not_cancellable: {
    means: 'The booking has failed, or what was booked cannot be cancelled any more.',
    remedy: 'Retrieve the booking to see where it stands.',
    message: 'This booking cannot be cancelled any more; retrieve it to see where it stands.',
  },
  idempotency_mismatch: {
    means: 'The `Idempotency-Key` was used within the last 24 hours with another body.',
    remedy: 'Use a new key for every new booking, and the same key only to repeat the same request.',
    message:
      'This Idempotency-Key was used with another body within 24 hours; send a new key for a new request.',
  },
  rate_limited: {
    means: 'The allowance for this kind of request is used up.',
    remedy: 'Wait for the seconds in `Retry-After`; spread requests by the `RateLimit` header to avoid it.',
    message: 'The rate limit is used up; send again after the seconds in Retry-After.',
  },
  internal_error: {
    means: 'Something failed on our side. The failure is logged under the `requestId`.',
    remedy: 'Try again; for a booking, with the same `Idempotency-Key`. Quote the `requestId` if it stays.',
    message: 'Something failed on our side; try again, and quote the requestId if it stays.',
  },
  service_unavailable: {
    means: 'The service, or everything it depends on, is too busy or away for a moment.',
    remedy:
      'Wait for the seconds in `Retry-After` and try again; for a booking, with the same `Idempotency-Key`.',
    message: 'Too many of these requests run at once; try again in a second.',
  },
}
