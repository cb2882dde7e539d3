/** Connections of adversaries: bytes on a socket whose errors are outcomes, and which go when the attack is over. */
import { connect } from 'node:net'
import type { OnReadOpts, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../../client/test/support/random.ts'
import { pick } from '../../../client/test/support/random.ts'
import type { Counting } from './tally.ts'
import type { Target } from './target.ts'

export interface ConnectionOptions {
  /** One of this machine's own addresses. */
  readonly localAddress?: string
  readonly onread?: OnReadOpts
}

/** Open, or rejected with the error. Destroyed with the signal. */
export function connectTo(
  { port }: Pick<Target, 'port'>,
  signal: AbortSignal,
  options: ConnectionOptions = {},
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true, ...options })
    const leave = (): void => void socket.destroy()
    socket.on('connect', () => resolve(socket))
    socket.on('error', reject)
    socket.on('close', () => {
      signal.removeEventListener('abort', leave)
      reject(new Error('closed'))
    })
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
}

/** The lines of a request, with a key if there is one. */
export function requestOf(line: string, key: string | undefined, ...lines: readonly string[]): string {
  const own = key === undefined ? [] : [`x-api-key: ${key}`]
  return [`${line} HTTP/1.1`, 'Host: 127.0.0.1', ...own, ...lines, '', ''].join('\r\n')
}

const unanswered = 'not answered by the end'

/** The status line's code of the first answer, once it has come; nothing is read after it. */
export function statusFrom(socket: Socket, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const finish = (status: string): void => {
      socket.off('data', onData).off('end', onEnd).off('close', onEnd)
      socket.pause()
      resolve(status)
    }
    const onData = (bytes: Buffer): void => {
      text += bytes.toString('latin1', 0, 64)
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? []
      if (status !== undefined) finish(status)
    }
    const onEnd = (): void => finish(signal.aborted ? unanswered : 'ended without an answer')
    socket.on('data', onData).on('end', onEnd).on('close', onEnd)
    socket.resume()
  })
}

/** Reads what comes and forgets it; resolves with the number of bytes when the other side has ended the connection. */
export function readToEnd(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let count = 0
    const finish = (): void => {
      socket.destroy()
      resolve(count)
    }
    if (socket.destroyed) finish()
    socket.on('data', (bytes: Buffer) => (count += bytes.length))
    socket.on('end', finish).on('close', finish).resume()
  })
}

/** One request on a connection of its own, whose answer is read to its end. */
export async function askOnce(
  target: Target,
  signal: AbortSignal,
  bytes: string | Buffer,
  options: ConnectionOptions = {},
): Promise<string> {
  const socket = await connectTo(target, signal, options)
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  const status = await statusFrom(socket, signal)
  // With `Connection: close` the service ends it.
  await readToEnd(socket)
  return status
}

/** So many at the same time, each again and again until the signal comes. A step that fails is an outcome. */
export async function repeat(
  times: number,
  signal: AbortSignal,
  tally: Counting,
  step: (index: number) => Promise<void>,
): Promise<void> {
  const one = async (index: number): Promise<void> => {
    while (!signal.aborted) {
      try {
        await step(index)
      } catch (error) {
        tally.add(signal.aborted ? unanswered : outcomeOf(error))
        if (signal.aborted) return
        await pause(50, signal)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.ceil(times) }, (_, index) => one(index)))
}

function outcomeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

/** Waits, at most until the signal comes. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined)
}

/** One of several. */
export function oneOf<T>(random: Random, things: readonly T[]): T {
  const thing = things[pick(random, things.length)]
  if (thing === undefined) throw new Error('there is nothing to choose from')
  return thing
}
