import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Responses that Node's HTTP has handed out and not ended, by connection: pipelined requests have several. */
export interface ResponsesUnderWay {
  /**
   * The one that leaves before it, if any: the last that was added. Where as many wait as may, nothing more is read from the connection
   * until one has left.
   */
  add(socket: Socket, response: ServerResponse): ServerResponse | undefined
  /** The answer that a connection is at; it may not have been begun. */
  of(socket: Socket): ServerResponse | undefined
  /** The one that leaves last. */
  last(socket: Socket): ServerResponse | undefined
}

/**
 * Requests that a client sends without waiting for answers. What came with the last of them, up to 64 kB, is read as well: Node's parser
 * takes all of it at once.
 */
const mostWaiting = 16

export function responsesUnderWay(): ResponsesUnderWay {
  const bySocket = new WeakMap<Socket, Set<ServerResponse>>()
  return {
    add(socket, response) {
      const responses = bySocket.get(socket) ?? new Set()
      const before = [...responses].at(-1)
      bySocket.set(socket, responses.add(response))
      const pause = (): void => {
        if (responses.size > mostWaiting) socket.pause()
      }
      // Node reads on after each request, which it has told the socket one tick later.
      if (responses.size > mostWaiting) process.nextTick(() => process.nextTick(pause))
      response.once('close', () => {
        responses.delete(response)
        if (responses.size === mostWaiting) socket.resume()
      })
      return before
    },
    last: (socket) => [...(bySocket.get(socket) ?? [])].at(-1),
    of(socket) {
      // A set keeps its order, and answers leave in the order of their requests.
      const [first] = bySocket.get(socket) ?? []
      return first
    },
  }
}
