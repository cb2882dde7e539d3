/** One connection as long as nothing but plain reads comes over it: a request, its answer, and then the next. */
import type { Socket } from 'node:net'
import type { HttpContext } from '../context.ts'
import { reportDone } from '../report-request.ts'
import { chosenRequestId } from '../request-facts.ts'
import { settleTokens, statusOf } from './answer.ts'
import type { DirectAnswer, WriteHead } from './answer.ts'
import type { DirectRead, DirectReads } from './direct-reads.ts'
import type { PlainHeads, PlainRequest } from './plain-head.ts'
import type { Sender } from './send-together.ts'

export interface PlainConnectionParts {
  readonly context: Pick<HttpContext, 'limits' | 'requestBuckets' | 'stopping' | 'metrics' | 'log'>
  readonly readHead: PlainHeads
  readonly readDirectly: DirectReads
  readonly writeHead: WriteHead
  /** Has the sender send at the end of this turn of the event loop. */
  readonly sendSoon: (sender: Sender) => void
  /** The connection is somebody else's from here on, who has to be given these bytes first. */
  readonly passOn: (socket: Socket, unanswered: Buffer) => void
  /** Nothing came for as long as a head may take. */
  readonly onSilence: (socket: Socket) => void
  /** Closed, or passed on. */
  readonly onEnd: () => void
}

/** A request that is being answered. */
interface Exchange {
  /** As it came: the router's, if there is no direct answer. */
  readonly bytes: Buffer
  readonly request: PlainRequest
  readonly startedMs: number
  ready?: ReadyAnswer
}

interface ReadyAnswer {
  readonly read: DirectRead
  readonly answer: DirectAnswer
  readonly requestId: string
}

/** Node's own: a request that was sent just before its client's time was up is still answered. */
const keepAliveGraceMs = 1_000
/** Bodies of up to this many bytes are small: single events, as a rule, and no full pages. */
const smallBytes = 16_384

export class PlainConnection {
  readonly #socket: Socket
  readonly #parts: PlainConnectionParts
  #exchange: Exchange | undefined
  /** What came while it was being answered. */
  #early: Buffer | undefined
  #answered = 0
  /** No request is taken any more: the connection is closed behind the present answer. */
  #isLast = false
  #waitsLonger = false

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
    return this.#exchange === undefined
  }

  #onData = (bytes: Buffer): void => {
    if (this.#isLast) return
    if (this.#exchange !== undefined) {
      // Pipelined. What comes behind it waits in the socket and then in the kernel.
      this.#early = bytes
      this.#socket.pause()
      return
    }
    const { context, readHead, readDirectly } = this.#parts
    const startedMs = performance.now()
    const request = context.stopping() ? undefined : readHead(bytes)
    if (request === undefined) {
      this.#passOn(bytes)
      return
    }
    const exchange: Exchange = { bytes, request, startedMs }
    this.#exchange = exchange
    const read = readDirectly(request, this.#socket)
    if (read instanceof Promise) read.then((begun) => this.#await(exchange, begun)).catch(this.#onFault)
    else this.#await(exchange, read)
  }

  #await(exchange: Exchange, read: DirectRead | undefined): void {
    const reading = read?.reading
    if (read === undefined || reading === undefined) this.#answerByRouter(exchange)
    else if (reading instanceof Promise) {
      reading.then((answer) => this.#settle(exchange, read, answer)).catch(this.#onFault)
    } else this.#settle(exchange, read, reading)
  }

  #settle(exchange: Exchange, read: DirectRead, answer: DirectAnswer | undefined): void {
    if (answer === undefined) this.#answerByRouter(exchange)
    else this.#answer(exchange, read, answer)
  }

  #answerByRouter({ bytes }: Exchange): void {
    this.#exchange = undefined
    // Its close was told already, and Node's HTTP would wait for it.
    if (this.#socket.destroyed) return
    // Without its client's other half Node's HTTP would close it as well.
    if (this.#isLast) this.#socket.destroySoon()
    else this.#passOn(this.#early === undefined ? bytes : Buffer.concat([bytes, this.#early]))
  }

  #answer(exchange: Exchange, read: DirectRead, answer: DirectAnswer): void {
    const requestId = chosenRequestId(exchange.request.headers.requestId)
    exchange.ready = { read, answer, requestId }
    // What is large gives its bytes back as soon as it can.
    if (answer.kind === 'body' && answer.body.byteLength > smallBytes) this.send()
    else this.#parts.sendSoon(this)
  }

  /** Sends the answer that is ready. */
  send(): void {
    const exchange = this.#exchange
    if (exchange?.ready === undefined) return
    const { context, writeHead } = this.#parts
    const socket = this.#socket
    const { read, answer, requestId } = exchange.ready
    this.#answered += 1
    this.#isLast ||=
      exchange.request.headers.closes ||
      this.#answered >= context.limits.maxRequestsPerSocket ||
      context.stopping()
    const tokens = settleTokens(context, read.access, answer)
    if (socket.destroyed) {
      // The client went away while the page was read: no close will be told any more.
      this.#finish(true)
      return
    }
    // Corked, head and body leave in one writev.
    if (answer.kind === 'body') socket.cork()
    socket.write(writeHead(answer, requestId, tokens, this.#isLast), 'latin1')
    if (answer.kind === 'body') {
      for (const piece of answer.body.pieces) socket.write(piece)
      socket.uncork()
    }
    if (socket.writableLength === 0) this.#finish(false)
    else {
      // The kernel has not taken all of it; what is behind it says when it has.
      socket.write('', 'latin1', this.#onWritten)
      this.#waitLonger()
    }
  }

  #onWritten = (error?: Error | null): void => this.#finish(Boolean(error))

  /** The answer is with the kernel, or nobody takes it any more. */
  #finish(aborted: boolean): void {
    const exchange = this.#exchange
    if (exchange?.ready === undefined) return
    this.#exchange = undefined
    const { request, startedMs } = exchange
    const { read, answer, requestId } = exchange.ready
    if (answer.kind === 'body') answer.body.release()
    const { keyId, tenantId } = read.access
    reportDone(this.#parts.context, {
      requestId,
      method: 'GET',
      target: request.targetText,
      route: read.route,
      status: statusOf(answer),
      startedMs,
      aborted,
      facts: { keyId, tenantId },
    })
    if (this.#isLast || this.#socket.destroyed) this.#socket.destroySoon()
    else if (this.#early !== undefined) this.#passOn(this.#early)
    else if (this.#answered === 1 || this.#waitsLonger) {
      this.#waitsLonger = false
      this.#socket.setTimeout(this.#parts.context.limits.keepAliveTimeoutMs + keepAliveGraceMs)
    }
  }

  #passOn(unanswered: Buffer): void {
    const socket = this.#socket
    socket.off('data', this.#onData)
    socket.off('end', this.#onHalfClose)
    socket.off('timeout', this.#onTimeout)
    socket.off('error', this.#onError)
    socket.off('close', this.#onClose)
    this.#parts.onEnd()
    this.#parts.passOn(socket, unanswered)
  }

  /** The client will say nothing more; what it asked is still answered. */
  #onHalfClose = (): void => {
    this.#isLast = true
    if (this.isIdle) this.#socket.destroySoon()
  }

  /** Nothing was read or written for a while. */
  #onTimeout = (): void => {
    const { onSilence } = this.#parts
    const socket = this.#socket
    if (this.#exchange === undefined) {
      if (this.#answered > 0) socket.destroy()
      else {
        this.#isLast = true
        onSilence(socket)
      }
    } else if (this.#waitsLonger) socket.destroy()
    else this.#waitLonger()
  }

  /** Whoever reads slowly has more time than whoever asks nothing, and so has the store. */
  #waitLonger(): void {
    this.#waitsLonger = true
    this.#socket.setTimeout(this.#parts.context.limits.idleSocketTimeoutMs)
  }

  /** A close follows. */
  #onError = (): void => undefined

  #onClose = (): void => {
    this.#finish(true)
    this.#parts.onEnd()
  }

  #onFault = (error: unknown): void => {
    this.#parts.context.log.error({ err: error }, 'request failed')
    this.#socket.destroy()
  }
}
