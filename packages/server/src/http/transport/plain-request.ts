/** A plain request, as a value. */
import type { Socket } from 'node:net'
import { EndController } from '../../runtime/end-signal.ts'
import type { EndSignal } from '../../runtime/end-signal.ts'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import type { Flight } from '../bytes-in-flight.ts'
import { refused } from '../exchange.ts'
import type { Body, Request, RequestHead } from '../exchange.ts'
import { requestIdOf } from '../requests/request-id.ts'
import type { PlainHead } from './plain-head.ts'

export class PlainRequest implements Request {
  readonly id: string
  readonly method: string
  readonly target: string
  readonly startedMs: number
  readonly credential: Buffer | undefined
  readonly head: RequestHead
  /** The client wants the connection closed after the answer. */
  readonly closes: boolean
  readonly #values: ReadonlyMap<string, string>
  readonly #bytes: Buffer
  readonly #body: Buffer | undefined
  readonly #socket: Socket
  #gone: EndController | undefined

  /** `bytes`: everything that came, of which the head's parts are slices. */
  constructor(
    { method, target, lines, key, body }: PlainHead,
    bytes: Buffer,
    socket: Socket,
    startedMs: number,
  ) {
    this.id = requestIdOf(lines.values.get('x-request-id'))
    this.method = method
    this.target = target
    this.startedMs = startedMs
    this.credential = key
    this.head = lines.head
    this.closes = lines.closes
    this.#values = lines.values
    this.#bytes = bytes
    this.#body = body
    this.#socket = socket
  }

  get remote(): string | undefined {
    return this.#socket.remoteAddress
  }

  get gone(): EndSignal {
    if (this.#gone === undefined) {
      this.#gone = new EndController()
      if (this.#socket.destroyed) this.#gone.abort()
    }
    return this.#gone
  }

  header(name: string): string | undefined {
    if (name === 'content-length') return this.#body && String(this.#body.length)
    return this.#values.get(name)
  }

  /**
   * In memory of its own, which the reader gives back as soon as it has read it. The bytes that arrived go back at once, because an
   * answer may take long, and those bytes contain the key. Node reads bytes of more than some 48 kB into longer memory, which waits for
   * the garbage collector.
   */
  body(flight: Flight): Body {
    const length = this.#body?.length ?? 0
    const refusal = flight.take(length)
    if (refusal !== undefined) return refused(refusal)
    const bytes = Buffer.allocUnsafeSlow(length)
    this.#body?.copy(bytes)
    freeBytes(this.#bytes)
    return { kind: 'bytes', bytes }
  }

  /** The connection has closed. */
  leave(): void {
    this.#gone?.abort()
  }
}
