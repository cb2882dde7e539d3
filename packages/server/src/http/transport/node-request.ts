/** A request that Node's HTTP has read, as a value. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { EndController } from '../../runtime/end-signal.ts'
import type { EndSignal } from '../../runtime/end-signal.ts'
import type { Flight } from '../bytes-in-flight.ts'
import type { Body, Request, RequestHead } from '../exchange.ts'
import type { ServiceLimits } from '../limits.ts'
import { requestIdOf } from '../requests/request-id.ts'
import { readBody } from './node-body.ts'

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
    return this.#gone.signal
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
