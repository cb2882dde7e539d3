/** One connection while only plain requests come over it: a request, its answer, and then the next. */
import type { Socket } from 'node:net'
import { isChunked } from '../answer-head.ts'
import type { AnswerHeads } from '../answer-head.ts'
import type { HttpContext } from '../context.ts'
import { releaseAnswer } from '../exchange.ts'
import type { Request, StreamAnswer } from '../exchange.ts'
import type { Exchange, Routed } from '../routed.ts'
import { reportExchange } from '../report.ts'
import { holdUntaken } from '../response-budget.ts'
import type { PlainHeads } from './plain-head.ts'
import { PlainRequest } from './plain-request.ts'
import { sendPieces } from './send-pieces.ts'
import type { Sender } from './send-together.ts'
import type { WatchReader } from './stalled-readers.ts'

export interface PlainConnectionParts {
  readonly context: Pick<
    HttpContext,
    'limits' | 'inFlight' | 'stopping' | 'metrics' | 'requestLines' | 'outages' | 'recorder'
  >
  readonly readHead: PlainHeads
  readonly handle: (request: Request, routed: Routed) => Exchange | Promise<Exchange>
  readonly heads: AnswerHeads
  /** Has the sender called at the end of this turn of the event loop. */
  readonly sendSoon: (sender: Sender) => void
  readonly watchReader: WatchReader
  /** Passes the connection to Node's HTTP, with these bytes first. */
  readonly passOn: (socket: Socket, unanswered: Buffer) => void
  /** Nothing came for as long as a head may take. */
  readonly onSilence: (socket: Socket) => void
  /** Closed, or passed on. */
  readonly onEnd: () => void
}

/** Node's own value: a request that was sent just before its client's time was up is still answered. */
const keepAliveGraceMs = 1_000
/** Bodies of up to this many bytes are small: usually single events, and not full pages. */
const smallBytes = 16_384

export class PlainConnection {
  readonly #socket: Socket
  readonly #parts: PlainConnectionParts
  /** The request that is being answered. */
  #request: PlainRequest | undefined
  /** The same once its answer is ready. */
  #exchange: Exchange | undefined
  /** Bytes that arrived meanwhile. */
  #early: Buffer | undefined
  #answered = 0
  /** No further request is accepted: the connection closes after the present answer. */
  #isLast = false
  #waitsLonger = false
  /** The client sends nothing more. */
  #isHalfClosed = false
  /** The request waits for events, and is over when its client has gone. */
  #waitsForEvents = false

  constructor(socket: Socket, parts: PlainConnectionParts) {
    this.#socket = socket
    this.#parts = parts
    socket.setTimeout(parts.context.limits.headersTimeoutMs)
    socket.on('data', this.#onData)
    socket.on('end', this.#onHalfClose)
    socket.on('timeout', this.#onTimeout)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
  }

  get isIdle(): boolean {
    return this.#request === undefined
  }

  #onData = (bytes: Buffer): void => {
    if (this.#isLast) return
    if (this.#request !== undefined) {
      // A pipelined request. What comes after it waits in the socket and then in the kernel.
      this.#early = bytes
      this.#socket.pause()
      return
    }
    const startedMs = performance.now()
    try {
      const { context, readHead, handle } = this.#parts
      const head = context.stopping() ? undefined : readHead(bytes)
      if (head === undefined) {
        this.#passOn(bytes)
        return
      }
      const request = new PlainRequest(head, bytes, this.#socket, startedMs)
      this.#request = request
      this.#waitsForEvents = head.routed.waits
      const handling = handle(request, head.routed)
      if (handling instanceof Promise) handling.then(this.#onAnswer).catch(this.#onFault)
      else this.#onAnswer(handling)
    } catch (error) {
      this.#onFault(error)
    }
  }

  #onAnswer = (exchange: Exchange): void => {
    this.#exchange = exchange
    const { answer } = exchange
    // A large answer gives its bytes back as soon as it can.
    if (answer.kind === 'pieces' && answer.body.byteLength > smallBytes) this.send()
    else this.#parts.sendSoon(this)
  }

  /** Sends the answer that is ready. */
  send(): void {
    const exchange = this.#exchange
    const request = this.#request
    if (exchange === undefined || request === undefined) return
    const { context, heads, watchReader } = this.#parts
    const socket = this.#socket
    this.#answered += 1
    this.#isLast ||=
      request.closes ||
      exchange.closes ||
      this.#answered >= context.limits.maxRequestsPerSocket ||
      context.stopping()
    if (socket.destroyed) {
      // The client went away meanwhile, so no close event will follow.
      this.#finish(true)
      return
    }
    const head = heads.text(exchange, this.#isLast)
    if (exchange.answer.kind === 'stream') {
      this.#sendStream(head, exchange.answer).catch(this.#onCutOff)
      return
    }
    writeAnswer(socket, head, exchange)
    if (socket.writableLength === 0) this.#finish(false)
    else {
      holdUntaken(context, exchange, socket.writableLength)
      // The kernel has not taken all of it; an empty write after it reports when it has.
      socket.write('', 'latin1', this.#onWritten)
      watchReader(socket)
    }
  }

  async #sendStream(head: string, answer: StreamAnswer): Promise<void> {
    const socket = this.#socket
    const { watchReader } = this.#parts
    const inChunks = isChunked(answer)
    socket.write(head, 'latin1')
    const isWhole = await sendPieces(answer, socket, (piece, done) => {
      if (this.#exchange !== undefined) this.#exchange.streamedBytes += piece.byteLength
      if (inChunks) {
        socket.cork()
        socket.write(`${piece.byteLength.toString(16)}\r\n`, 'latin1')
        socket.write(piece)
        socket.write('\r\n', 'latin1', done)
        socket.uncork()
      } else socket.write(piece, done)
      watchReader(socket)
    })
    if (!isWhole) {
      socket.destroy()
      this.#finish(true)
    } else if (inChunks) {
      socket.write('0\r\n\r\n', 'latin1', this.#onWritten)
      watchReader(socket)
    } else this.#finish(false)
  }

  /** Only the end of the connection shows the reader that the answer is not whole. */
  #onCutOff = (error: unknown): void => {
    this.#parts.context.outages.requestFailed(error, this.#request?.id, false)
    this.#socket.destroy()
  }

  #onWritten = (error?: Error | null): void => this.#finish(Boolean(error))

  /** The answer is with the kernel, or nobody takes it any more. */
  #finish(aborted: boolean): void {
    const exchange = this.#exchange
    if (exchange === undefined) return
    this.#exchange = undefined
    this.#request = undefined
    const { request, answer } = exchange
    releaseAnswer(answer)
    exchange.flight?.end()
    // A client that closes its side while something is being published has usually given up waiting for it.
    const gaveUp = request.method === 'POST' && this.#isHalfClosed
    reportExchange(this.#parts.context, exchange, aborted || gaveUp)
    if (this.#isLast || this.#socket.destroyed) this.#socket.destroySoon()
    else if (this.#early !== undefined) this.#passOn(this.#early)
    else if (this.#answered === 1 || this.#waitsLonger) {
      this.#waitsLonger = false
      this.#socket.setTimeout(this.#parts.context.limits.keepAliveTimeoutMs + keepAliveGraceMs)
    }
  }

  #passOn(unanswered: Buffer): void {
    const socket = this.#socket
    this.#early = undefined
    socket.off('data', this.#onData)
    socket.off('end', this.#onHalfClose)
    socket.off('timeout', this.#onTimeout)
    socket.off('error', this.#onError)
    socket.off('close', this.#onClose)
    this.#parts.onEnd()
    this.#parts.passOn(socket, unanswered)
  }

  /**
   * The client will send nothing more. Its request is still answered, unless it waits for events: whoever closes a connection looks the
   * same, and would hold one of the few places of its key for up to 30 s.
   */
  #onHalfClose = (): void => {
    this.#isHalfClosed = true
    this.#isLast = true
    if (this.isIdle) this.#socket.destroySoon()
    else if (this.#waitsForEvents && this.#exchange === undefined) this.#socket.destroy()
  }

  /** Nothing was read or written for a while. */
  #onTimeout = (): void => {
    const { onSilence } = this.#parts
    const socket = this.#socket
    if (this.#request === undefined) {
      if (this.#answered > 0) socket.destroy()
      else {
        this.#isLast = true
        onSilence(socket)
      }
    } else {
      // A client that waits for the store waits as long as that takes, as over Node's HTTP; one that takes nothing is watched elsewhere.
      this.#waitsLonger = true
      socket.setTimeout(this.#parts.context.limits.idleSocketTimeoutMs)
    }
  }

  /** A close follows. */
  #onError = (): void => undefined

  #onClose = (): void => {
    this.#request?.leave()
    this.#finish(true)
    this.#parts.onEnd()
  }

  #onFault = (error: unknown): void => {
    this.#parts.context.outages.requestFailed(error, this.#request?.id, false)
    this.#socket.destroy()
  }
}

function writeAnswer(socket: Socket, head: string, { answer }: Exchange): void {
  switch (answer.kind) {
    case 'notModified':
      socket.write(head, 'latin1')
      return
    case 'text':
      socket.write(head + answer.body)
      return
    case 'pieces':
      // Corked, head and body leave in one writev.
      socket.cork()
      socket.write(head, 'latin1')
      for (const piece of answer.body.pieces) socket.write(piece)
      socket.uncork()
      return
    case 'stream':
    case 'live':
    case 'none':
      throw new Error(`a plain connection has no way to send an answer of the kind ${answer.kind}`)
  }
}
