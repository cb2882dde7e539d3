/** A certificate that a server of a test has signed itself. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Writes `fullchain.pem` and `privkey.pem` for a host name into a folder, as certbot does. Needs openssl. */
export function signCertificate(
  folder: string,
  host: string,
): { readonly certificate: string; readonly key: string } {
  const [certificate, key] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')]
  const words = `req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=${host} -addext subjectAltName=DNS:${host}`
  const made = spawnSync('openssl', words.split(' ').concat('-keyout', key, '-out', certificate))
  assert.equal(made.status, 0, String(made.stderr))
  return { certificate, key }
}
