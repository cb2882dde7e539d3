/** Bytes on a socket, for what no HTTP client would send. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

export interface RawAnswer {
  /** All that came back. */
  readonly text: string
  /** Of the first answer; 0 when nothing came. */
  readonly status: number
  /** The server closed the connection. */
  readonly closed: boolean
}

export interface RawOptions {
  /** Give up waiting for the server to close. */
  readonly waitMs?: number
  /** Stop once this came back. */
  readonly until?: (text: string) => boolean
}

/** Sends the bytes and collects what comes back until the server closes the connection, or until waiting ends. */
export async function speak(
  port: number,
  bytes: string | Buffer,
  options: RawOptions = {},
): Promise<RawAnswer> {
  const socket = await open(port)
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  return collect(socket, options)
}

export function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

/** A new connection, and the service's end of it: what has been read there was not only sent. */
export async function openWithFarEnd(
  port: number,
): Promise<{ readonly socket: Socket; readonly far: Socket }> {
  const accepted = Promise.withResolvers<Socket>()
  const onAccepted = (message: unknown): void => accepted.resolve((message as { socket: Socket }).socket)
  subscribe('net.server.socket', onAccepted)
  const socket = await open(port)
  const far = await accepted.promise
  unsubscribe('net.server.socket', onAccepted)
  return { socket, far }
}

/** Reads until the server closes, `until` is satisfied, or the time is over; then closes. */
export function collect(socket: Socket, { waitMs = 2_000, until }: RawOptions = {}): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let text = ''
    const finish = (closed: boolean) => {
      clearTimeout(timer)
      socket.removeAllListeners()
      socket.on('error', () => undefined)
      socket.destroy()
      resolve({ text, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), closed })
    }
    const timer = setTimeout(() => finish(false), waitMs)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (until?.(text) === true) finish(false)
    })
    socket.on('error', () => finish(true))
    socket.on('end', () => finish(true))
    socket.on('close', () => finish(true))
  })
}

export interface Reply {
  readonly status: number
  readonly requestId: string
  readonly body: string
}

/** All answers in what came back over a connection; an unfinished one fails. `methods`: of the requests, for answers without bodies. */
export function repliesIn(text: string, methods: readonly string[] = []): readonly Reply[] {
  const replies: Reply[] = []
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\r\n\r\n', at)
    assert.notEqual(end, -1, `half a head: ${text.slice(at)}`)
    const lines = text.slice(at, end)
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(lines)?.[1] ?? assert.fail(`no answer: ${lines}`))
    const isEmpty = status < 200 || status === 304 || methods[replies.length] === 'HEAD'
    const isChunked = !isEmpty && /^transfer-encoding: chunked$/im.test(lines)
    const length = isEmpty ? 0 : Number(/^content-length: (\d+)/im.exec(lines)?.[1] ?? 0)
    const from = end + 4
    const to = isChunked ? text.indexOf('\r\n0\r\n\r\n', end + 2) + 7 : from + length
    const body = text.slice(from, to)
    if (isChunked) assert.ok(body.endsWith('0\r\n\r\n'), 'half a body')
    else assert.equal(body.length, length, 'half a body')
    replies.push({ status, body, requestId: /^x-request-id: (.*)$/im.exec(lines)?.[1] ?? '' })
    at = to
  }
  return replies
}

/** A request head with the headers every request needs, and further lines. */
export function head(requestLine: string, ...lines: readonly string[]): string {
  return [requestLine, 'Host: 127.0.0.1', ...lines, '', ''].join('\r\n')
}
