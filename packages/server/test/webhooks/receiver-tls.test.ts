/** Receivers over TLS: verified by their name, with a version that is safe, at the address that was checked, and nowhere they point to. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { Server, ServerOptions } from 'node:https'
import { createServer as createRawServer } from 'node:net'
import type { Server as RawServer } from 'node:net'
import { connect, getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { after, before, describe, it } from 'node:test'
import { addressCheck } from '../../src/webhooks/receiver-address.ts'
import type { AddressPolicy, Resolve } from '../../src/webhooks/receiver-address.ts'
import { outcomeOf, receiverAt } from '../../src/webhooks/receiver.ts'
import type { ReceiverAnswer } from '../../src/webhooks/receiver.ts'
import { certificateAuthority } from '../support/certificate-authority.ts'
import type { CertificateAuthority, ServerCertificate } from '../support/certificate-authority.ts'

const host = 'hooks.example.com'
const here: AddressPolicy = { allowHttp: false, networks: ['127.0.0.0/8'] }
const toHere: Resolve = async () => ['127.0.0.1']
const request = { headers: { 'webhook-id': 'msg_1' }, body: Buffer.from('{"tŷ":"£ 🏡"}'), timeoutMs: 10_000 }

/** A server of TLS, and what came to it. */
class TlsReceiver {
  readonly requests: { readonly serverName: unknown; readonly host: string | undefined }[] = []
  connections = 0
  readonly server: Server

  constructor(options: ServerOptions, answer: RequestListener = (_, response) => response.end('diolch')) {
    this.server = createServer(options, (incoming, response) => {
      const { servername } = incoming.socket as TLSSocket
      this.requests.push({ serverName: servername, host: incoming.headers.host })
      incoming.resume()
      answer(incoming, response)
    })
    this.server.on('connection', () => (this.connections += 1)).on('tlsClientError', () => undefined)
  }
}

describe('a receiver over TLS', () => {
  let authority: CertificateAuthority
  let known: ServerCertificate
  const usual = getCACertificates()
  const ended: (() => void)[] = []
  before(() => {
    authority = certificateAuthority()
    known = authority.sign(`DNS:${host}`)
    setDefaultCACertificates([...usual, authority.certificate])
  })
  after(() => {
    setDefaultCACertificates(usual)
    for (const end of ended) end()
    authority.close()
  })

  async function portOf(server: Server | RawServer, address = '127.0.0.1'): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, address, resolve))
    ended.push(() => {
      if ('closeAllConnections' in server) server.closeAllConnections()
      server.close()
    })
    const at = server.address()
    assert.ok(at !== null && typeof at === 'object')
    return at.port
  }

  function postTo(address: string, { resolve = toHere, policy = here } = {}): Promise<ReceiverAnswer> {
    const receiver = receiverAt(new URL(address), addressCheck(policy, resolve), 4)
    ended.push(() => receiver.close())
    return receiver.post(request)
  }

  /** Refused before anything of the message was sent: a failed connection, and no fault of an event. */
  function assertRefused(answer: ReceiverAnswer, code: RegExp, { requests }: TlsReceiver): void {
    assert.equal(answer.kind, 'unreachable')
    assert.match(answer.kind === 'unreachable' ? answer.detail : '', code)
    assert.deepEqual(outcomeOf(answer), { kind: 'unreachable' })
    assert.deepEqual(requests, [])
  }

  it('is asked for by the name of its address, also where several are at one address', async () => {
    const other = new TlsReceiver({ ...authority.sign('DNS:other.example.com') })
    other.server.addContext(host, known)
    const port = await portOf(other.server)
    for (const name of [host, 'other.example.com']) {
      const answer = await postTo(`https://${name}:${port}/hooks`)
      assert.deepEqual(outcomeOf(answer), { kind: 'acknowledged' }, JSON.stringify(answer))
    }
    assert.deepEqual(other.requests, [
      { serverName: host, host: `${host}:${port}` },
      { serverName: 'other.example.com', host: `other.example.com:${port}` },
    ])
  })

  it('may be a literal address, which its certificate has to name', async () => {
    const named = new TlsReceiver({ ...authority.sign('IP:127.0.0.1') })
    const port = await portOf(named.server)
    assert.equal((await postTo(`https://127.0.0.1:${port}/`)).kind, 'answered')
    const unnamed = new TlsReceiver({ ...known })
    const answer = await postTo(`https://127.0.0.1:${await portOf(unnamed.server)}/`)
    assertRefused(answer, /ERR_TLS_CERT_ALTNAME_INVALID/, unnamed)
  })

  const wrong: readonly (readonly [what: string, code: RegExp, options: () => ServerOptions])[] = [
    [
      'a certificate of another name',
      /ERR_TLS_CERT_ALTNAME_INVALID/,
      () => authority.sign('DNS:example.com'),
    ],
    ['a certificate that has expired', /CERT_HAS_EXPIRED/, () => authority.sign(`DNS:${host}`, -1)],
    [
      'a certificate of nobody known',
      /UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET_ISSUER/,
      () => {
        const stranger = certificateAuthority()
        ended.push(() => stranger.close())
        return stranger.sign(`DNS:${host}`)
      },
    ],
  ]
  for (const [what, code, options] of wrong) {
    it(`is refused with ${what}, before anything is sent`, async () => {
      const receiver = new TlsReceiver(options())
      const port = await portOf(receiver.server)
      assertRefused(await postTo(`https://${host}:${port}/`), code, receiver)
      assert.equal(receiver.connections, 1)
    })
  }

  it('is refused with no version of TLS after 1.1, which others still take', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    const receiver = new TlsReceiver({ ...known, ...old })
    const port = await portOf(receiver.server)
    const lax = connect({ host: '127.0.0.1', port, servername: host, ...old })
    await once(lax, 'secureConnect')
    assert.equal(lax.getProtocol(), 'TLSv1.1')
    lax.destroy()
    assertRefused(await postTo(`https://${host}:${port}/`), /EPROTO/, receiver)
  })

  it('is verified also where the process is told to verify nothing', async () => {
    const receiver = new TlsReceiver({ ...authority.sign('DNS:example.com') })
    const port = await portOf(receiver.server)
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    try {
      assertRefused(await postTo(`https://${host}:${port}/`), /ALTNAME/, receiver)
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    }
  })

  it('that speaks TLS 1.2 alone is good enough', async () => {
    const receiver = new TlsReceiver({ ...known, maxVersion: 'TLSv1.2' })
    const port = await portOf(receiver.server)
    assert.equal((await postTo(`https://${host}:${port}/`)).kind, 'answered')
  })

  it('that speaks no TLS gets nothing of the message', async () => {
    let text = ''
    const raw = createRawServer((socket) => {
      socket.on('error', () => undefined).on('data', (bytes: Buffer) => (text += bytes.toString('latin1')))
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
    })
    const answer = await postTo(`https://${host}:${await portOf(raw)}/`)
    assert.equal(answer.kind, 'unreachable', JSON.stringify(answer))
    assert.doesNotMatch(text, /POST|msg_1/)
  })

  it('that never finishes its handshake has not answered a message: there was no connection', async () => {
    const port = await portOf(createRawServer((socket) => socket.on('error', () => undefined)))
    const receiver = receiverAt(new URL(`https://${host}:${port}/`), addressCheck(here, toHere), 4)
    ended.push(() => receiver.close())
    const answer = await receiver.post({ ...request, timeoutMs: 200 })
    assert.equal(answer.kind, 'unreachable')
  })

  it('that redirects is followed nowhere: not to this machine, nor to http', async () => {
    let followed = 0
    const inside = createHttpServer((_, answer) => {
      followed += 1
      answer.end()
    })
    const insidePort = await portOf(inside)
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `http://127.0.0.1:${insidePort}/latest/meta-data/`
      const receiver = new TlsReceiver({ ...known }, (_, answer) =>
        answer.writeHead(status, { location }).end(),
      )
      const answer = await postTo(`https://${host}:${await portOf(receiver.server)}/`)
      assert.equal(answer.kind === 'answered' && answer.status, status)
      assert.deepEqual(outcomeOf(answer), { kind: 'refused' })
    }
    assert.equal(followed, 0)
  })

  it('whose name leads elsewhere a moment later is not connected to there', async () => {
    const receiver = new TlsReceiver({ ...known }, (_, answer) =>
      answer.writeHead(200, { connection: 'close' }).end(),
    )
    const port = await portOf(receiver.server)
    let asked = 0
    const rebinding: Resolve = async () => ((asked += 1) === 1 ? ['127.0.0.1'] : ['127.0.0.1', '10.0.0.1'])
    const one = receiverAt(new URL(`https://${host}:${port}/`), addressCheck(here, rebinding), 4)
    ended.push(() => one.close())
    assert.equal((await one.post(request)).kind, 'answered')
    assert.equal(asked, 1, 'once for a connection: what was checked is what was connected to')
    const answer = await one.post(request)
    const detail = `${host} leads to an address that is not public.`
    assert.deepEqual(answer, { kind: 'unreachable', detail })
    assert.equal(receiver.connections, 1)
  })

  it('on this machine is reached by no spelling of its address that the operator does not allow', async () => {
    const receiver = new TlsReceiver({ ...authority.sign('IP:127.0.0.1') })
    const port = await portOf(receiver.server, '::')
    const policy = { allowHttp: false, networks: [] }
    for (const spelling of [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '[::1]',
      '[::]',
      '[::7f00:1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      'localhost',
    ]) {
      const answer = await postTo(`https://${spelling}:${port}/`, { policy })
      assert.equal(answer.kind, 'unreachable', spelling)
      const byName = await postTo(`https://${host}:${port}/`, {
        policy,
        resolve: async () =>
          [spelling.replace(/^\[(.*)\]$/, '$1')].map((one) => (one.includes(':') ? one : '127.0.0.1')),
      })
      assert.equal(byName.kind, 'unreachable', spelling)
    }
    assert.equal(receiver.connections, 0)
  })
})
