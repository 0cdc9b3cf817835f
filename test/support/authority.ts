import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate authority of a test's own; no key is ever kept. */
export type Authority = {
  /** Its certificate, as PEM and as a file. */
  certificate: string
  file: string
  /** A key and a certificate for these hosts, names or addresses. */
  issue(
    hosts: readonly string[],
    options?: { expired?: boolean; selfSigned?: boolean },
  ): { key: string; cert: string }
  discard(): void
}

/** Makes an authority with openssl in a temporary folder. */
export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'airside-ca-'))
  const at = (name: string) => join(folder, name)
  const openssl = (...words: string[]) => execFileSync('openssl', words, { stdio: 'pipe' })
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...fresh,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-subj',
    '/CN=Airside test',
    '-days',
    '2',
  )
  let issued = 0
  return {
    certificate: readFileSync(at('ca.pem'), 'utf8'),
    file: at('ca.pem'),
    issue(hosts, { expired = false, selfSigned = false } = {}) {
      const name = `leaf${issued++}`
      const names = hosts.map(host => (/^[\d.]+$|:/.test(host) ? `IP:${host}` : `DNS:${host}`)).join(',')
      const file = (ending: string) => at(`${name}.${ending}`)
      writeFileSync(file('ext'), `subjectAltName=${names}\nbasicConstraints=critical,CA:FALSE\n`)
      openssl('req', '-new', ...fresh, '-keyout', file('key'), '-out', file('csr'), '-subj', '/CN=receiver')
      const signer = selfSigned
        ? ['-signkey', file('key')]
        : ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-set_serial', `${issued}`]
      const days = expired ? '-1' : '2'
      openssl(
        'x509',
        '-req',
        '-in',
        file('csr'),
        ...signer,
        '-days',
        days,
        '-extfile',
        file('ext'),
        '-out',
        file('pem'),
      )
      return { key: readFileSync(at(`${name}.key`), 'utf8'), cert: readFileSync(at(`${name}.pem`), 'utf8') }
    },
    discard: () => rmSync(folder, { recursive: true, force: true }),
  }
}
