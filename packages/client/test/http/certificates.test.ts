/** Faults of TLS, of names and of ports that waiting does not mend end a call at once, and are named (with real certificates). */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { run } from '../../../cli/test/support/program.ts'
import { createClient, NetworkError } from '../../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'property-events-certificates-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function openssl(...words: readonly string[]): void {
  const made = spawnSync('openssl', words, { cwd: folder })
  assert.equal(made.status, 0, String(made.stderr))
}

/** A certificate for a name, signed by itself. */
function signed(host: string, times: readonly string[] = []) {
  const [certificate, key, asked] = ['pem', 'key', 'csr'].map((kind) => join(folder, `${host}.${kind}`))
  assert.ok(certificate !== undefined && key !== undefined && asked !== undefined)
  const name = /^\d/.test(host) ? `IP:${host}` : `DNS:${host}`
  writeFileSync(join(folder, 'index.txt'), '')
  writeFileSync(
    join(folder, 'ca.cnf'),
    `[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nnew_certs_dir=.\nrand_serial=yes\npolicy=any\ndefault_md=sha256\ndefault_days=1\n[any]\ncommonName=supplied\n[names]\nsubjectAltName=${name}\nbasicConstraints=CA:true\n`,
  )
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${host}`]
  openssl('req', '-new', ...kind, '-keyout', key, '-out', asked)
  const own = ['-selfsign', '-config', 'ca.cnf', '-extensions', 'names', '-keyfile', key]
  openssl('ca', '-batch', '-notext', ...own, '-in', asked, '-out', certificate, ...times)
  return { cert: readFileSync(certificate), key: readFileSync(key), certificate }
}

async function started(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return (server.address() as AddressInfo).port
}

const own = signed('127.0.0.1')
const other = signed('feed.example')
const expired = signed('localhost', ['-startdate', '20200101000000Z', '-enddate', '20200201000000Z'])
const answer = () => assert.fail('a request came through')
const tls = (of: typeof own) => started(createServer({ cert: of.cert, key: of.key }, answer))

interface Fault {
  readonly url: string
  readonly code: string
  readonly words: RegExp
  /** Signed by an authority that the program knows. */
  readonly authority?: string
}

const faults: Readonly<Record<string, Fault>> = {
  'a certificate that signs itself': {
    url: `https://127.0.0.1:${await tls(own)}`,
    code: 'certificate',
    words: /certificate of 127\.0\.0\.1:\d+ cannot be verified.*SELF_SIGNED/,
  },
  'a certificate for another name': {
    url: `https://127.0.0.1:${await tls(other)}`,
    code: 'certificate',
    words: /certificate.*ALTNAME/,
    authority: other.certificate,
  },
  'a certificate that has expired': {
    url: `https://localhost:${await tls(expired)}`,
    code: 'certificate',
    words: /certificate.*EXPIRED/,
    authority: expired.certificate,
  },
  'https to a port of http': {
    url: `https://127.0.0.1:${await started(createPlainServer(answer))}`,
    code: 'tls',
    words: /answers without TLS.*http:\/\//,
  },
  'http to a port of https': {
    url: `http://127.0.0.1:${await tls(own)}`,
    code: 'not_http',
    words: /https:\/\//,
  },
  'a version of TLS that is too old': {
    url: `https://127.0.0.1:${await started(
      createServer(
        { ...own, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
        answer,
      ),
    )}`,
    code: 'tls',
    words: /No TLS connection/,
  },
  'a name that nobody knows': {
    url: 'http://nothing-of-that-name.invalid',
    code: 'unknown_host',
    words: /nothing-of-that-name\.invalid is not known.*spelt/,
  },
  'a port that is not one of HTTP': { url: 'http://127.0.0.1:6000', code: 'not_http', words: /port/ },
}

describe('a service that cannot be reached, and waiting does not mend it', () => {
  for (const [title, { url, code, words, authority }] of Object.entries(faults)) {
    it(`is refused within seconds and named: ${title}`, async () => {
      const environment = authority === undefined ? {} : { NODE_EXTRA_CA_CERTS: authority }
      const startedMs = Date.now()
      const { code: ended, stderr } = await run(['sync', join(folder, 'copy'), '--url', url, '--key', 'k'], {
        environment,
      })
      assert.equal(ended, 1)
      assert.match(stderr, words)
      assert.doesNotMatch(stderr, /Is the service running/)
      assert.ok(Date.now() - startedMs < 10_000, `${Date.now() - startedMs} ms`)
    })

    it(`ends a call of the client, and a follower, with the code ${code}: ${title}`, async () => {
      if (authority !== undefined) return
      let waits = 0
      const sleep = async () => void (waits += 1)
      const client = createClient({ baseUrl: url, key: 'k', sleep })
      const isFault = (error: unknown) => {
        assert.ok(error instanceof NetworkError, String(error))
        assert.equal(error.code, code)
        assert.match(error.message, words)
        return true
      }
      await assert.rejects(async () => client.list(), isFault)
      await assert.rejects(async () => {
        for await (const event of client.follow()) assert.fail(event.id)
      }, isFault)
      assert.ok(waits <= 4, `${waits} waits`)
    })
  }
})
