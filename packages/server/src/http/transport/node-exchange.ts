/** Exchanges over Node's HTTP: turns what it reads into a request, and sends the answer through it. It knows no scope and no feed. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { mapMaybePromise } from '../../runtime/map-maybe-promise.ts'
import { statusOf } from '../answer-head.ts'
import type { AnswerHeads } from '../answer-head.ts'
import type { HttpContext } from '../context.ts'
import { releaseAnswer } from '../exchange.ts'
import type { Answer, StreamAnswer } from '../exchange.ts'
import { destroyLater } from './broken-request.ts'
import type { Exchange } from '../routed.ts'
import { reportExchange } from '../report.ts'
import { handle } from '../handle.ts'
import { holdUntaken } from '../response-budget.ts'
import type { Router } from '../router.ts'
import { NodeRequest } from './node-request.ts'
import { beginLive } from './node-live.ts'
import type { ResponsesUnderWay } from './responses-under-way.ts'
import { sendPieces } from './send-pieces.ts'
import type { WatchReader } from './stalled-readers.ts'

interface ExchangeParts {
  readonly context: HttpContext
  readonly router: Router
  readonly heads: AnswerHeads
  readonly underWay: ResponsesUnderWay
  readonly watchReader: WatchReader
}

/** What sending needs in addition to the exchange. */
interface Sending extends Pick<ExchangeParts, 'context' | 'heads' | 'watchReader'> {
  readonly request: NodeRequest
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  /** The number of requests on the connection so far, including this one. */
  readonly number: number
  readonly linger: Linger
}

export function nodeExchanges({
  context,
  router,
  heads,
  underWay,
  watchReader,
}: ExchangeParts): RequestListener {
  const linger = createLinger()
  const answerRequest = (
    incoming: IncomingMessage,
    response: ServerResponse,
    number: number,
  ): void | Promise<void> => {
    const request = new NodeRequest(incoming, response, context.limits)
    const routed = router(request.method, request.target)
    const sending = { context, heads, watchReader, request, incoming, response, number, linger }
    const handling = handle(context, request, routed)
    if (routed.waits && handling instanceof Promise)
      endWithClient(incoming.socket, response, () => !response.headersSent)
    return mapMaybePromise(handling, (exchange) => send(exchange, sending))
  }

  return (incoming, response) => {
    const { socket } = incoming
    // Node itself says of the last one that it is, and leaves the end to its client or to the time-out.
    const { before, number } = underWay.add(socket, response)
    const fail = (error: unknown): void => {
      context.outages.requestFailed(error, undefined, false)
      response.destroy()
    }
    // Without a promise where nothing is waited for, as for most polls.
    const answer = (): void => {
      try {
        const answering = answerRequest(incoming, response, number)
        if (answering instanceof Promise) answering.catch(fail)
      } catch (error) {
        fail(error)
      }
    }
    // Pipelined requests are answered one after the other: a client that takes no answers holds one of them in memory and no more,
    // and no `100 Continue` gets into the answer before. Each has a turn of the event loop of its own: 500 that had come together
    // were answered in one, and ten such connections kept everybody else waiting for a second.
    if (before === undefined) answer()
    else {
      before.once('close', () => {
        setImmediate(() => {
          if (!socket.destroyed) answer()
        })
      })
    }
  }
}

/**
 * A request that waits for events is over when its client closes its side: whoever closes a connection looks the same, and would hold one of
 * the few places of its key. Any other request is answered all the same.
 */
function endWithClient(socket: Socket, response: ServerResponse, isWaiting: () => boolean): void {
  const leave = (): void => {
    if (isWaiting()) response.destroy()
  }
  if (socket.readableEnded) leave()
  socket.once('end', leave)
  response.once('close', () => socket.off('end', leave))
}

function send(exchange: Exchange, sending: Sending): void | Promise<void> {
  // Node reads a body that came with its head in this turn of the event loop; after it, nothing of the body is left to read.
  if (sending.request.leavesBody) return new Promise(setImmediate).then(() => sendNow(exchange, sending))
  return sendNow(exchange, sending)
}

function sendNow(exchange: Exchange, sending: Sending): void | Promise<void> {
  const { context, heads, request, incoming, response, linger } = sending
  const { answer } = exchange
  if (answer.kind === 'none') {
    response.destroy()
    return
  }
  const finish = (): void => {
    releaseAnswer(answer)
    exchange.flight?.end()
    // As on the bare socket: a client that closes its side while something is being published has usually given up waiting for it.
    const gaveUp = request.method === 'POST' && incoming.socket.readableEnded
    reportExchange(context, exchange, gaveUp || !response.writableFinished)
  }
  if (answer.kind === 'live' && request.method !== 'HEAD')
    endWithClient(incoming.socket, response, () => true)
  if (response.destroyed) {
    // The client went away meanwhile, so no close event will follow.
    finish()
    return
  }
  response.on('close', finish)
  const fields = heads.fields(exchange)
  if (request.leavesBody) linger(incoming.socket, exchange.keyId)
  // Node's parser does not read what follows a declined upgrade.
  const isLast =
    exchange.closes ||
    request.head.version !== '1.1' ||
    context.stopping() ||
    sending.number >= context.limits.maxRequestsPerSocket ||
    request.leavesBody ||
    'upgrade' in incoming.headers
  if (isLast) fields.push('connection', 'close')
  // In one call and as a list: each setHeader would be looked up and checked separately, and a record is copied first.
  response.writeHead(statusOf(answer), fields)
  const sent = sendBody(exchange, answer, sending)
  const { writableLength } = incoming.socket
  // Always, as Node sends at the end of the turn.
  if (writableLength > 0) {
    holdUntaken(context, exchange, writableLength)
    sending.watchReader(incoming.socket)
  }
  return sent
}

function sendBody(
  exchange: Exchange,
  answer: Exclude<Answer, { kind: 'none' }>,
  { context, request, incoming, response, watchReader }: Sending,
): void | Promise<void> {
  if (request.method === 'HEAD' || answer.kind === 'notModified') {
    response.end()
  } else if (answer.kind === 'text') {
    // Sent as text: Node then writes it together with the head, in one piece.
    response.end(answer.body)
  } else if (answer.kind === 'pieces') {
    // Corked, head and pieces leave in one writev.
    response.cork()
    for (const piece of answer.body.pieces) response.write(piece)
    response.end()
  } else if (answer.kind === 'live') {
    const fail = (error: unknown): void => {
      response.destroy()
      context.outages.requestFailed(error, request.id, false)
    }
    beginLive(exchange, answer, { response, watchReader, fail })
  } else {
    const watch = (): void => watchReader(incoming.socket)
    return sendStream(exchange, answer, response, watch).catch((error: unknown) => {
      // The answer is cut off; its reader notices the missing end.
      response.destroy()
      context.outages.requestFailed(error, request.id, false)
    })
  }
}

async function sendStream(
  exchange: Exchange,
  answer: StreamAnswer,
  response: ServerResponse,
  watch: () => void,
): Promise<void> {
  const isWhole = await sendPieces(answer, response, (piece, done) => {
    exchange.streamedBytes += piece.byteLength
    response.write(piece, done)
    watch()
  })
  if (!isWhole) {
    response.destroy()
    return
  }
  response.end()
  watch()
}

// The end of a connection whose request is answered before its body was read. The rest of the body is not read, so the connection ends after the
// answer. But not at once: closing a socket with unread bytes makes the kernel send a reset, which destroys the answer on its way to a client
// that is still sending.

/** Connections of a thread that may do this at the same time. In each, the system and Node hold up to some 64 KiB that nobody reads. */
const mostInAll = 256

/** The same for one key, and for all requests without a valid key. */
const mostOfKey = 64

const strangers = ''

/** Has the connection of a request, whose key is `keyId`, linger after its answer. Where too many do, it is closed at once. */
type Linger = (socket: Socket, keyId: string | undefined) => void

/**
 * One for a thread. It has a limit of its own, beside the budget of bytes in flight: most of these requests are refused because that
 * budget is used up, and its refusals count requests.
 */
export function createLinger(): Linger {
  const byKey = new Map<string, number>()
  let inAll = 0
  return (socket, keyId = strangers) => {
    const ofKey = byKey.get(keyId) ?? 0
    if (inAll >= mostInAll || ofKey >= mostOfKey) return
    inAll += 1
    byKey.set(keyId, ofKey + 1)
    socket.once('close', () => {
      inAll -= 1
      const left = (byKey.get(keyId) ?? 0) - 1
      if (left > 0) byKey.set(keyId, left)
      else byKey.delete(keyId)
    })
    endLater(socket)
  }
}

/** Takes the place of what Node does to a socket after its last answer. */
function endLater(socket: Socket): void {
  socket.destroySoon = () => {
    // Paused, the socket takes no more than its buffers hold; the client notices and reads its answer.
    socket.pause()
    socket.end()
    destroyLater(socket)
  }
}
