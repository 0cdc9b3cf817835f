import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Networks that count as public although they are not: the operator's word. */
export type Networks = readonly [Address, number][]

/** Why a URL may not be registered or connected to; the partner sees it. */
export type Judgement = { ok: true; url: URL } | { ok: false; message: string }

/** Longer URLs are refused. */
export const URL_MAX = 2048

/** Ports that browsers refuse to speak HTTP to, from the Fetch standard. */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/** Unicast to the library, yet hosts of a cloud's own services. */
const REFUSED_HOSTS: ReadonlySet<string> = new Set(['168.63.129.16'])

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

/**
 * Judges the URL of an endpoint as far as that goes without asking anybody: form, scheme, port, and the host where it is an address. Used at
 * registration and again before every connection. A name is judged by what it resolves to, with `judgeAddress`.
 */
export function judgeUrl(text: string, allow: Networks): Judgement {
  const no = (message: string): Judgement => ({ ok: false, message })
  if (text.length > URL_MAX) return no(`must have at most ${URL_MAX} characters`)
  // The parser would strip these, and the partner would be told another URL than the one that is meant.
  if (/[\s\p{Cc}]/u.test(text)) return no('must not contain blanks or control characters')
  if (!URL.canParse(text)) return no('must be a full URL, such as https://example.com/hooks')
  const url = new URL(text)
  if (url.protocol !== 'https:') return no('must begin with https://')
  if (url.username !== '' || url.password !== '' || /^[^/?#]*\/\/[^/?#]*@/.test(text))
    return no('must not contain a user name or password')
  if (text.includes('#')) return no('must not contain a fragment (#)')
  if (url.port !== '' && BLOCKED_PORTS.has(Number(url.port))) return no(`must not use port ${url.port}`)
  const host = hostOf(url)
  if (isIP(host) !== 0) {
    return judgeAddress(host, allow) ? { ok: true, url } : no('must have a host with a public address')
  }
  const labels = host.split('.')
  if (host.length > 253 || !labels.every(label => LABEL.test(label))) return no('must have a valid host name')
  if (labels.at(-1) === 'localhost' && !judgeAddress('127.0.0.1', allow))
    return no('must have a host with a public address')
  return { ok: true, url }
}

/** The host of a parsed URL as DNS and TLS want it: without brackets, without the dot of the root. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

/** Whether an address may be connected to: a public unicast one, or one of an allowed network. Anything unreadable may not. */
export function judgeAddress(text: string, allow: Networks): boolean {
  if (isIP(text) === 0 || text.includes('%')) return false
  const address = ipaddr.process(text)
  if (
    allow.some(
      ([network, bits]) => network.kind() === address.kind() && address.match([network, bits] as never),
    )
  )
    return true
  // Of IPv6 only 2000::/3 is given out; the library calls the old forms that carry an IPv4 address unicast too.
  if (address instanceof ipaddr.IPv6 && (address.parts[0]! & 0xe000) !== 0x2000) return false
  return address.range() === 'unicast' && !REFUSED_HOSTS.has(address.toString())
}

/** Networks from their CIDR texts, such as 10.0.0.0/8. @throws Error on a text that is none */
export function networks(texts: readonly string[]): Networks {
  return texts.map(text => ipaddr.parseCIDR(text))
}
