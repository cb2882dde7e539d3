/** A request that Node's HTTP has read, as a value. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { EndController } from '../../runtime/end-signal.ts'
import type { EndSignal } from '../../runtime/end-signal.ts'
import type { Flight } from '../bytes-in-flight.ts'
import type { Body, Request, RequestHead } from '../exchange.ts'
import type { ServiceLimits } from '../limits.ts'
import { requestIdOf } from '../requests/request-id.ts'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import { refused } from '../exchange.ts'
import type { Refusal } from '../problem/problem.ts'
import { bodyTooLarge } from '../requests/body-headers.ts'

export class NodeRequest implements Request {
  readonly startedMs = performance.now()
  readonly id: string
  readonly method: string
  readonly target: string
  readonly head: RequestHead
  readonly #incoming: IncomingMessage
  readonly #response: ServerResponse
  readonly #maxBodyBytes: number
  #gone: EndController | undefined

  constructor(
    incoming: IncomingMessage,
    response: ServerResponse,
    { maxBodyBytes }: Pick<ServiceLimits, 'maxBodyBytes'>,
  ) {
    this.#incoming = incoming
    this.#response = response
    this.#maxBodyBytes = maxBodyBytes
    this.id = requestIdOf(this.header('x-request-id'))
    this.method = incoming.method ?? ''
    this.target = incoming.url ?? ''
    const { httpVersion: version, rawHeaders } = incoming
    this.head = { version, headerCount: rawHeaders.length / 2, hosts: hostsIn(rawHeaders) }
  }

  get credential(): string | undefined {
    return this.header('x-api-key')
  }

  get remote(): string | undefined {
    return this.#socket.remoteAddress
  }

  get gone(): EndSignal {
    if (this.#gone === undefined) {
      const gone = new EndController()
      this.#gone = gone
      if (this.#socket.destroyed) gone.abort()
      this.#response.once('close', () => gone.abort())
    }
    return this.#gone
  }

  /** Whether a body was announced and has not been read completely. */
  get leavesBody(): boolean {
    return !this.#incoming.complete && announcesBody(this.#incoming)
  }

  header(name: string): string | undefined {
    return headerOf(this.#incoming, name)
  }

  body(flight: Flight): Promise<Body> {
    // Only now is a client that waits for `100 Continue` told to send its body.
    if (this.header('expect') !== undefined) this.#response.writeContinue()
    return readBody(this.#incoming, this.#maxBodyBytes, flight)
  }

  get #socket(): Socket {
    return this.#incoming.socket
  }
}

export function headerOf({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

function announcesBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function hostsIn(rawHeaders: readonly string[]): readonly string[] {
  const values: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') values.push(rawHeaders[index + 1] ?? '')
  }
  return values
}

/**
 * Memory for a body grows as the body arrives, and not with its announced length, since an announcement costs nothing: to this many times
 * what has arrived. The first piece of a long body has up to 64 kB, so a hundred events (400 kB) need one allocation.
 */
const roomFactor = 8

/**
 * A body may come in this many pieces, however short they are; any more must have `leastOfPiece` bytes each on average. A chunk of one
 * byte costs as much time as one of 64 kB: ten connections that sent nothing else held the event loop for 10 s (measured manually).
 */
const shortPieces = 16_384
const leastOfPiece = 16

/** Call this before anything of the body was read. Never rejects. */
function readBody(request: IncomingMessage, maxBytes: number, flight: Flight): Promise<Body> {
  const announced = request.headers['content-length']
  const most = announced === undefined ? maxBytes : Number(announced)
  return new Promise((resolve) => {
    let body: Buffer | undefined
    let filled = 0
    let pieces = 0
    const refuse = (refusal: Refusal): void => {
      // The rest is not read, because the connection ends after the answer.
      request.off('data', onData).pause()
      forget()
      resolve(refused(refusal))
    }
    /** Long bodies that nobody will read do not wait for the garbage collector. */
    const forget = (): void => {
      if (body !== undefined) freeBytes(body)
      body = undefined
    }
    const leave = (): void => {
      forget()
      resolve({ kind: 'gone' })
    }
    const onData = (chunk: Buffer): void => {
      const { length } = chunk
      pieces += 1
      const refusal =
        filled + length > maxBytes
          ? bodyTooLarge(maxBytes)
          : pieces > shortPieces && filled < leastOfPiece * pieces
            ? tooManyPieces
            : flight.take(length)
      if (refusal !== undefined) {
        refuse(refusal)
        return
      }
      if (filled === 0 && length === most) body = chunk
      else {
        body = withRoom(body, filled, length, most)
        chunk.copy(body, filled)
        freeBytes(chunk)
      }
      filled += length
    }
    request.on('data', onData)
    request.on('end', () => {
      resolve({ kind: 'bytes', bytes: body?.subarray(0, filled) ?? Buffer.alloc(0) })
      body = undefined
    })
    request.on('error', leave)
    request.on('close', leave)
  })
}

const tooManyPieces: Refusal = {
  code: 'body_too_large',
  detail: `The body came in more than ${shortPieces} chunks with fewer than ${leastOfPiece} bytes each on average. Send it in longer chunks, or with a Content-Length.`,
}

/** `body` if it has room after `filled`, otherwise its beginning in a longer one. */
function withRoom(body: Buffer | undefined, filled: number, more: number, most: number): Buffer {
  if (body !== undefined && filled + more <= body.length) return body
  const longer = Buffer.allocUnsafeSlow(Math.min(most, roomFactor * (filled + more)))
  if (body !== undefined) {
    body.copy(longer, 0, 0, filled)
    freeBytes(body)
  }
  return longer
}
