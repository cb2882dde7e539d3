/** One connection as long as nothing but plain requests comes over it: a request, its answer, and then the next. */
import type { Socket } from 'node:net'
import type { HttpContext } from '../context.ts'
import { freeBytes } from '../../free-bytes.ts'
import { reportDone } from '../report-request.ts'
import { chosenRequestId } from '../request-facts.ts'
import { settleTokens, statusOf, writeAnswer } from './answer.ts'
import type { DirectAccess } from './access.ts'
import type { AnswerUnderWay, DirectAnswer, WriteHead } from './answer.ts'
import type { PlainHeads, PlainRequest } from './plain-head.ts'
import type { Sender } from './send-together.ts'

export interface PlainConnectionParts {
  readonly context: Pick<HttpContext, 'limits' | 'requestBuckets' | 'stopping' | 'metrics' | 'log'>
  readonly readHead: PlainHeads
  /** `undefined`: the router's. */
  readonly answerDirectly: (
    request: PlainRequest,
    socket: Socket,
    requestId: string,
  ) => AnswerUnderWay | undefined | Promise<AnswerUnderWay | undefined>
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
  /** As it came: the router's, if there is no direct answer. Gone once something is being published. */
  readonly bytes: Buffer
  readonly request: PlainRequest
  readonly requestId: string
  readonly startedMs: number
  ready?: ReadyAnswer
}

interface ReadyAnswer {
  readonly route: string
  readonly access: DirectAccess
  readonly answer: DirectAnswer
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
  /** Nothing more comes from the client. */
  #isHalfClosed = false

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
    const { context, readHead, answerDirectly } = this.#parts
    const startedMs = performance.now()
    const request = context.stopping() ? undefined : readHead(bytes)
    if (request === undefined) {
      this.#passOn(bytes)
      return
    }
    const requestId = chosenRequestId(request.headers.requestId)
    const exchange: Exchange = { bytes, request, requestId, startedMs }
    this.#exchange = exchange
    const underWay = answerDirectly(request, this.#socket, requestId)
    if (underWay instanceof Promise)
      underWay.then((begun) => this.#await(exchange, begun)).catch(this.#onFault)
    else this.#await(exchange, underWay)
  }

  #await(exchange: Exchange, underWay: AnswerUnderWay | undefined): void {
    const answer = underWay?.answer
    // The router is not asked for a publication any more, a commit may take long, and the key stands in these bytes. Those of more
    // than some 48 kB Node reads into longer memory, which waits for the garbage collector.
    if (underWay !== undefined && exchange.request.kind === 'publication') freeBytes(exchange.bytes)
    if (underWay === undefined || answer === undefined) this.#answerByRouter(exchange)
    else if (answer instanceof Promise) {
      answer.then((given) => this.#settle(exchange, underWay, given)).catch(this.#onFault)
    } else this.#settle(exchange, underWay, answer)
  }

  #settle(exchange: Exchange, underWay: AnswerUnderWay, answer: DirectAnswer | undefined): void {
    if (answer === undefined) this.#answerByRouter(exchange)
    else this.#answer(exchange, underWay, answer)
  }

  #answerByRouter({ bytes }: Exchange): void {
    this.#exchange = undefined
    // Its close was told already, and Node's HTTP would wait for it.
    if (this.#socket.destroyed) return
    // Without its client's other half Node's HTTP would close it as well.
    if (this.#isLast) this.#socket.destroySoon()
    else this.#passOn(this.#early === undefined ? bytes : Buffer.concat([bytes, this.#early]))
  }

  #answer(exchange: Exchange, { route, access }: AnswerUnderWay, answer: DirectAnswer): void {
    exchange.ready = { route, access, answer }
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
    const { access, answer } = exchange.ready
    this.#answered += 1
    this.#isLast ||=
      exchange.request.headers.closes ||
      this.#answered >= context.limits.maxRequestsPerSocket ||
      context.stopping()
    const tokens = settleTokens(context, access, answer)
    if (socket.destroyed) {
      // The client went away meanwhile: no close will be told any more.
      this.#finish(true)
      return
    }
    writeAnswer(socket, writeHead(answer, exchange.requestId, tokens, this.#isLast), answer)
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
    const { request, requestId, startedMs } = exchange
    const { route, access, answer } = exchange.ready
    if (answer.kind === 'body') answer.body.release()
    const { keyId, tenantId } = access
    const problem = answer.kind === 'text' ? answer.problem : undefined
    // Whoever closes their side while something is being published has given up waiting for it, as a rule.
    const gaveUp = request.kind === 'publication' && this.#isHalfClosed
    reportDone(this.#parts.context, {
      requestId,
      method: request.kind === 'read' ? 'GET' : 'POST',
      target: request.targetText,
      route,
      status: statusOf(answer),
      startedMs,
      aborted: aborted || gaveUp,
      facts: { ...(problem && { problem }), keyId, tenantId },
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
    this.#isHalfClosed = true
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
    } else if (socket.writableLength > 0) socket.destroy()
    // Whoever waits for the store waits as long as that takes, as over Node's HTTP.
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
