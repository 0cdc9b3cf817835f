/** How far an attempt has come. */
export type Phase = 'dns' | 'connect' | 'tls' | 'headers'

/** Where an attempt's time went, in milliseconds; null for what an open connection spares. */
export type Timing = {
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
  headersMs: number | null
}

/** What came of one attempt. `reason` is null when it was delivered. */
export type Outcome = Timing & {
  reason: string | null
  status: number | null
  /** The address that was connected to, and the version of TLS. */
  peer: string | null
  tls: string | null
  /** The first bytes of the answer's body. */
  answer: Buffer | null
  cut: boolean
  /** This machine had no socket left: nothing was tried, and it counts as nothing. */
  untried?: true
}

/** Thrown by the connector where an address may not be connected to. */
export class BlockedAddress extends Error {}

/** The reason behind a status; null for the only one that counts as delivered. */
export function reasonOfStatus(status: number): string | null {
  if (status === 200) return null
  if (status > 200 && status < 300) return 'non_200_success'
  if (status >= 300 && status < 400) return 'redirect_refused'
  if (status === 410) return 'gone'
  return `status_${status}`
}

/** The reason behind an error that came before the end of the response's headers. */
export function reasonOfError(error: unknown, phase: Phase): string {
  if (error instanceof BlockedAddress) return 'blocked_address'
  const { code = '', message = '', name = '' } = error as { code?: string; message?: string; name?: string }
  if (phase === 'dns') return code === 'ETIMEOUT' ? 'timeout_dns' : 'dns_failed'
  if (
    /^(ERR_SSL|ERR_TLS|ERR_OSSL|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/.test(
      code,
    )
  )
    return 'tls_invalid'
  if (phase === 'connect') return 'connect_failed'
  if (name === 'HTTPParserError') return 'malformed_response'
  if (
    /^(HPE_|UND_ERR_(HEADERS_OVERFLOW|RES_|RESPONSE|REQ_CONTENT|INVALID))/.test(code) ||
    /^bad (response|upgrade)/.test(message)
  )
    return 'malformed_response'
  if (phase === 'tls' && !/^(ECONN|EPIPE|UND_ERR_SOCKET|ETIMEDOUT)/.test(code)) return 'tls_invalid'
  return 'reset'
}

/** Whether an error says that this process, not the endpoint, is short of something. */
export function isOwnShortage(error: unknown): boolean {
  return /^(EMFILE|ENFILE|ENOBUFS|ENOMEM)$/.test((error as { code?: string }).code ?? '')
}

/** The outcome where nothing was sent. */
export function notTried(reason: string): Outcome {
  const nothing = { dnsMs: null, connectMs: null, tlsMs: null, headersMs: null, peer: null, tls: null }
  return { ...nothing, reason, status: null, answer: null, cut: false }
}
