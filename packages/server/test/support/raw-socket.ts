/** Bytes on a socket, for what no HTTP client would send. */
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

/** A request head with the headers every request needs, and further lines. */
export function head(requestLine: string, ...lines: readonly string[]): string {
  return [requestLine, 'Host: 127.0.0.1', ...lines, '', ''].join('\r\n')
}
