/**
 * Live answers over Node's HTTP. Node sends the head and the end. The pieces go straight to the socket as finished chunks, because Node would
 * lay out four buffers for each piece and each connection.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Answer } from '../exchange.ts'
import type { Exchange } from '../routed.ts'
import type { LiveOut, LivePiece } from '../live-piece.ts'
import type { WatchReader } from './stalled-readers.ts'

type LiveAnswer = Extract<Answer, { kind: 'live' }>

interface LiveParts {
  readonly response: ServerResponse
  readonly watchReader: WatchReader
  /** Cuts the answer off. */
  readonly fail: (error: unknown) => void
}

export function beginLive(exchange: Exchange, answer: LiveAnswer, parts: LiveParts): void {
  const { response, fail } = parts
  const { socket } = response
  if (socket === null) {
    // Pipelined requests are handled one after the other, so this does not happen.
    fail(new Error('a live answer has no connection'))
    return
  }
  response.flushHeaders()
  answer.begin(new NodeLive(exchange, socket, parts))
}

class NodeLive implements LiveOut {
  readonly #exchange: Exchange
  readonly #response: ServerResponse
  readonly #socket: Socket
  readonly #isChunked: boolean
  readonly #watchReader: WatchReader
  readonly fail: (error: unknown) => void

  constructor(exchange: Exchange, socket: Socket, { response, watchReader, fail }: LiveParts) {
    this.#exchange = exchange
    this.#response = response
    this.#socket = socket
    // A client of HTTP/1.0 knows no chunks: its answer ends with the connection.
    this.#isChunked = response.chunkedEncoding
    this.#watchReader = watchReader
    this.fail = fail
  }

  write({ bytes, chunk }: LivePiece, onTaken: () => void): boolean {
    const socket = this.#socket
    if (socket.destroyed) return false
    this.#exchange.streamedBytes += bytes.byteLength
    socket.write(this.#isChunked ? chunk : bytes)
    if (socket.writableLength === 0) return true
    // The kernel has not taken all of it; an empty write after it tells when it has.
    socket.write('', 'latin1', (error) => {
      if (error === undefined || error === null) onTaken()
    })
    this.#watchReader(socket)
    return false
  }

  end(): void {
    this.#response.end()
  }
}
