/**
 * Live answers over Node's HTTP. Node sends the head and the end. The pieces go straight to the socket as finished chunks, because Node would
 * lay out four buffers for each piece and each connection.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Answer, Exchange } from '../exchange.ts'
import type { LiveOut, LivePiece } from '../live-piece.ts'

type LiveAnswer = Extract<Answer, { kind: 'live' }>

/** `fail`: cuts the answer off. */
export function beginLive(
  exchange: Exchange,
  answer: LiveAnswer,
  response: ServerResponse,
  fail: (error: unknown) => void,
): void {
  const { socket } = response
  if (socket === null) {
    // Pipelined requests are handled one after the other, so this does not happen.
    fail(new Error('a live answer has no connection'))
    return
  }
  response.flushHeaders()
  answer.begin(new NodeLive(exchange, response, socket, fail))
}

class NodeLive implements LiveOut {
  readonly #exchange: Exchange
  readonly #response: ServerResponse
  readonly #socket: Socket
  readonly #isChunked: boolean
  readonly fail: (error: unknown) => void

  constructor(exchange: Exchange, response: ServerResponse, socket: Socket, fail: (error: unknown) => void) {
    this.#exchange = exchange
    this.#response = response
    this.#socket = socket
    // A client of HTTP/1.0 knows no chunks: its answer ends with the connection.
    this.#isChunked = response.chunkedEncoding
    this.fail = fail
  }

  write({ bytes, chunk }: LivePiece, taken: () => void): boolean {
    const socket = this.#socket
    if (socket.destroyed) return false
    this.#exchange.streamedBytes += bytes.byteLength
    socket.write(this.#isChunked ? chunk : bytes)
    if (socket.writableLength === 0) return true
    // The kernel has not taken all of it; an empty write after it tells when it has.
    socket.write('', 'latin1', (error) => {
      if (error === undefined || error === null) taken()
    })
    return false
  }

  end(): void {
    this.#response.end()
  }
}
