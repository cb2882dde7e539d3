/** An authority of a test's own, which signs certificates of servers. Needs openssl. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ServerCertificate {
  readonly cert: string
  readonly key: string
}

export interface CertificateAuthority {
  readonly certificate: string
  /** `name`: such as `DNS:hooks.example.com` or `IP:127.0.0.1`. `days`: negative for one that has expired. */
  sign(name: string, days?: number): ServerCertificate
  /** Removes its files. */
  close(): void
}

export function certificateAuthority(): CertificateAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-ca-'))
  const pathOf = (file: string) => join(folder, file)
  const textOf = (file: string) => readFileSync(pathOf(file), 'utf8')
  const openssl = (words: string) => {
    const made = spawnSync('openssl', words.split(' '), { cwd: folder })
    assert.equal(made.status, 0, String(made.stderr))
  }
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
  openssl(`req -x509 ${newKey} -days 2 -subj /CN=authority -keyout authority.key -out authority.pem`)
  return {
    certificate: textOf('authority.pem'),
    sign(name, days = 1) {
      openssl(`req ${newKey} -subj /CN=receiver -addext subjectAltName=${name} -keyout one.key -out one.csr`)
      openssl(
        `x509 -req -in one.csr -CA authority.pem -CAkey authority.key -copy_extensions copy -days ${days} -out one.pem`,
      )
      return { cert: textOf('one.pem'), key: textOf('one.key') }
    },
    close: () => rmSync(folder, { recursive: true }),
  }
}
