/**
 * Receives webhooks as cheaply as Node can, so that the sender is what is measured: requests with a length, on bare sockets, all answered
 * with 204. `/endpoint/N` counts, `/tarpit/N` takes everything and never answers. `GET /seen` tells what has come, `POST /forget` begins anew.
 * Prints its address.
 */
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { marked } from '../webhooks/mark.ts'
import type { Sample, Seen } from '../webhooks/receiver.ts'

/** Of so many messages one is kept, to be verified afterwards. */
const sampleEvery = 499
const mostSamples = 200

const done = 'HTTP/1.1 204 No Content\r\n\r\n'
let messages = 0
let bytes = 0
let tarpitMessages = 0
let samples: Sample[] = []
let timesMs: number[] = []
let idsOf = new Map<number, Set<string>>()

function forget(): void {
  messages = bytes = 0
  samples = []
  timesMs = []
  idsOf = new Map()
}

function seen(): Seen {
  return {
    messages,
    bytes,
    tarpitMessages,
    samples,
    timesMs,
    distinct: [...idsOf].map(([endpoint, ids]) => [endpoint, ids.size]),
  }
}

function headersOf(head: string): Readonly<Record<string, string>> {
  const lines = head.split('\r\n').slice(1)
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
}

function count(endpoint: number, head: string, body: Buffer): void {
  messages += 1
  bytes += body.length
  const id = /\r\nwebhook-id: ?([^\r]*)/i.exec(head)?.[1] ?? ''
  const ids = idsOf.get(endpoint) ?? new Set()
  idsOf.set(endpoint, ids)
  const dueMs = marked(body)
  if (dueMs !== undefined && !ids.has(id)) timesMs.push(performance.timeOrigin + performance.now() - dueMs)
  ids.add(id)
  if (messages % sampleEvery === 1 && samples.length < mostSamples)
    samples.push({ endpoint, headers: headersOf(head), body: body.toString() })
}

function take(socket: Socket, head: string, body: Buffer): void {
  const [, method, path = ''] = /^(\w+) (\S+)/.exec(head) ?? []
  const [, kind, endpoint] = path.split('/')
  if (kind === 'endpoint') {
    count(Number(endpoint), head, body)
    socket.write(done)
  } else if (kind === 'tarpit') tarpitMessages += 1
  else if (method === 'POST') {
    forget()
    socket.write(done)
  } else {
    const isWhole = path.endsWith('?whole')
    const text = JSON.stringify(isWhole ? seen() : { messages, bytes })
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
}

/** Takes all requests that are there; returns what is left of one that is not. */
function takeAll(socket: Socket, received: Buffer): Buffer {
  let rest = received
  for (;;) {
    const headBytes = rest.indexOf('\r\n\r\n') + 4
    if (headBytes < 4) return rest
    const head = rest.toString('latin1', 0, headBytes - 2)
    const length = Number(/\r\ncontent-length: ?(\d+)/i.exec(head)?.[1] ?? 0)
    if (rest.length < headBytes + length) return rest
    take(socket, head, rest.subarray(headBytes, headBytes + length))
    rest = rest.subarray(headBytes + length)
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = takeAll(socket, rest.length === 0 ? chunk : Buffer.concat([rest, chunk]))
  })
  socket.on('error', () => socket.destroy())
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 8_192 }, () => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
