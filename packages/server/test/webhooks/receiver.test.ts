/** Posting to receivers of every kind: quick, slow, endless, broken, redirecting, and behind TLS that is not verified. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { createServer as createRawServer } from 'node:net'
import type { Server as RawServer } from 'node:net'
import { after, describe, it } from 'node:test'
import { addressCheck } from '../../src/webhooks/receiver-address.ts'
import type { AddressPolicy, Resolve } from '../../src/webhooks/receiver-address.ts'
import { keptAnswer, outcomeOf, receiverAt } from '../../src/webhooks/receiver.ts'
import type { Receiver } from '../../src/webhooks/receiver.ts'

const local: AddressPolicy = { allowHttp: true, networks: ['127.0.0.0/8'] }
const ended: (() => void)[] = []
after(() => ended.forEach((end) => end()))

async function listening<S extends Server | RawServer>(server: S): Promise<S> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ended.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  return server
}

function portOf(server: Server | RawServer): number {
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return address.port
}

async function receiverOf(
  listener: RequestListener,
  host = '127.0.0.1',
  resolve?: Resolve,
): Promise<Receiver> {
  const server = await listening(createServer(listener))
  return opened(new URL(`http://${host}:${portOf(server)}/hooks`), resolve)
}

function opened(url: URL, resolve?: Resolve, policy = local): Receiver {
  const receiver = receiverAt(url, addressCheck(policy, resolve), 4)
  ended.push(() => receiver.close())
  return receiver
}

const body = Buffer.from('{"caption":"Tŷ â gardd – £450,000 🏡"}')
const request = {
  headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' },
  body,
  timeoutMs: 10_000,
}

describe('a receiver', () => {
  it('gets the body byte for byte, with its length and headers, and its answer is kept', async () => {
    const seen: { readonly headers: object; readonly body: Buffer }[] = []
    const receiver = await receiverOf((incoming, answer) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => {
        seen.push({ headers: incoming.headers, body: Buffer.concat(chunks) })
        answer.writeHead(202).end('diolch £')
      })
    })
    assert.deepEqual(await receiver.post(request), {
      kind: 'answered',
      status: 202,
      body: 'diolch £',
      isPublic: false,
      retryAfterMs: undefined,
    })
    assert.deepEqual(seen[0]?.body, body)
    assert.equal((seen[0].headers as Record<string, string>)['content-length'], String(body.byteLength))
    assert.equal((seen[0].headers as Record<string, string>)['webhook-id'], 'msg_1')
  })

  it('is read to nobody where it answers in a network of the operator, unless that is allowed', async () => {
    const receiver = await receiverOf((_, answer) => answer.end('cyfrinach fewnol £'))
    const answer = await receiver.post(request)
    assert.equal(keptAnswer(answer, 'public'), undefined)
    assert.equal(keptAnswer(answer, 'all'), 'cyfrinach fewnol £')
    assert.equal(keptAnswer(answer, 'none'), undefined)
    assert.ok(answer.kind === 'answered')
    const fromPublic = { ...answer, isPublic: true }
    assert.equal(keptAnswer(fromPublic, 'public'), 'cyfrinach fewnol £')
    assert.equal(keptAnswer(fromPublic, 'none'), undefined)
    const refused = { kind: 'unreachable', detail: 'The connection failed (ECONNREFUSED).' } as const
    assert.equal(keptAnswer(refused, 'none'), refused.detail)
  })

  it('is sent to over connections that are kept, also after it has closed one', async () => {
    const server = await listening(
      createServer((incoming, answer) => incoming.resume().on('end', () => answer.end())),
    )
    let connections = 0
    server.on('connection', () => (connections += 1))
    const receiver = opened(new URL(`http://127.0.0.1:${portOf(server)}/`))
    for (let count = 0; count < 5; count += 1) await receiver.post(request)
    assert.equal(connections, 1)
    server.closeIdleConnections()
    assert.equal((await receiver.post(request)).kind, 'answered')
  })

  it('leaves nothing behind on a kept connection, however often it is used', async () => {
    const sockets = new Set<unknown>()
    const receiver = await receiverOf((incoming, answer) => {
      sockets.add(incoming.socket)
      answer.end()
    })
    const warnings: string[] = []
    const keep = ({ message }: Error) => void warnings.push(message)
    process.on('warning', keep)
    for (let n = 0; n < 30; n += 1) assert.equal((await receiver.post(request)).kind, 'answered')
    // A warning is emitted a turn after what it warns of.
    await new Promise(setImmediate)
    process.off('warning', keep)
    assert.deepEqual([sockets.size, warnings], [1, []])
  })

  it('that redirects is not followed', async () => {
    let requests = 0
    const receiver = await receiverOf((_, answer) => {
      requests += 1
      answer.writeHead(302, { location: '/elsewhere' }).end()
    })
    const answer = await receiver.post(request)
    assert.equal(answer.kind === 'answered' && answer.status, 302)
    assert.equal(requests, 1)
  })

  it('that never ends its answer is cut off after 16 KiB, of which 1 KiB is kept', async () => {
    let written = 0
    const receiver = await receiverOf((_, answer) => {
      answer.writeHead(500)
      const write = () => {
        while (answer.writable && answer.write('â'.repeat(1_024))) written += 2_048
      }
      answer.on('drain', write)
      write()
    })
    const answer = await receiver.post(request)
    assert.ok(answer.kind === 'answered')
    assert.equal(answer.status, 500)
    assert.equal(answer.body, 'â'.repeat(512))
    assert.ok(written < 2 ** 23, `${written} bytes were written`)
  })

  it('that does not answer in time is left, whether it says nothing or a byte at a time', async () => {
    const silent = await receiverOf(() => undefined)
    assert.deepEqual(await silent.post({ ...request, timeoutMs: 200 }), {
      kind: 'unanswered',
      detail: 'There was no answer within 0.2 s.',
    })
    const raw = await listening(
      createRawServer((socket) => {
        const timer = setInterval(() => socket.write('H'), 20)
        socket.on('error', () => undefined).on('close', () => clearInterval(timer))
      }),
    )
    const slow = opened(new URL(`http://127.0.0.1:${portOf(raw)}/`))
    assert.equal((await slow.post({ ...request, timeoutMs: 200 })).kind, 'unanswered')
  })

  it('that has said 200 is taken at its word, whether its answer ever ends or not', async () => {
    const endless = await receiverOf((_, answer) => answer.writeHead(200).write('diolch'))
    const answer = await endless.post({ ...request, timeoutMs: 200 })
    assert.deepEqual(outcomeOf(answer), { kind: 'acknowledged' })
    assert.equal(answer.kind === 'answered' && answer.body, 'diolch')
  })

  it('that answers with what no database takes is kept in text that each does', async () => {
    const bytes = Buffer.concat([Buffer.from([0, 0xff]), Buffer.from(`tŷ\0${'x'.repeat(1_017)}🏡`)])
    const receiver = await receiverOf((_, answer) => answer.end(bytes))
    const answer = await receiver.post(request)
    // Of the last sign there is room for one byte.
    assert.equal(answer.kind === 'answered' && answer.body, `\ufffd\ufffdtŷ\ufffd${'x'.repeat(1_017)}`)
  })

  for (const head of [
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade',
    'nonsense',
  ]) {
    it(`that answers ${JSON.stringify(head.slice(0, 12))} has acknowledged nothing`, async () => {
      const raw = await listening(
        createRawServer((socket) => {
          socket.on('error', () => undefined).once('data', () => socket.write(`${head}\r\n\r\n`))
        }),
      )
      const answer = await opened(new URL(`http://127.0.0.1:${portOf(raw)}/`)).post(request)
      assert.deepEqual(outcomeOf(answer), { kind: 'refused' })
    })
  }

  it('that breaks the connection has not answered; one that nobody listens at is unreachable', async () => {
    const raw = await listening(
      createRawServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
    )
    assert.equal((await opened(new URL(`http://127.0.0.1:${portOf(raw)}/`)).post(request)).kind, 'unanswered')
    const gone = createRawServer()
    await listening(gone)
    const port = portOf(gone)
    await new Promise((resolve) => gone.close(resolve))
    const answer = await opened(new URL(`http://127.0.0.1:${port}/`)).post(request)
    assert.deepEqual(answer, { kind: 'unreachable', detail: 'The connection failed (ECONNREFUSED).' })
  })

  for (const [header, waitMs] of [
    ['120', 120_000],
    ['0', 0],
    ['soon', undefined],
  ] as const) {
    it(`may ask to wait: Retry-After: ${header}`, async () => {
      const receiver = await receiverOf((_, answer) => answer.writeHead(429, { 'retry-after': header }).end())
      const answer = await receiver.post(request)
      assert.equal(answer.kind === 'answered' && answer.retryAfterMs, waitMs)
    })
  }

  it('is connected to at the address that was checked, by name and as a literal', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    const receiver = await receiverOf(
      (_, answer) => answer.writeHead(200, { connection: 'close' }).end(),
      'hooks.example.com',
      async () => answers.shift() ?? [],
    )
    assert.equal((await receiver.post(request)).kind, 'answered')
    const refused = 'hooks.example.com leads to an address that is not public.'
    assert.deepEqual(await receiver.post(request), { kind: 'unreachable', detail: refused })
    assert.equal((await receiver.post(request)).kind, 'unreachable')
    const server = await listening(createServer((_, answer) => answer.end()))
    const policy = { allowHttp: true, networks: [] }
    const literal = opened(new URL(`http://127.0.0.1:${portOf(server)}/`), undefined, policy)
    assert.equal((await literal.post(request)).kind, 'unreachable')
  })
})
