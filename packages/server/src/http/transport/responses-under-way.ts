import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Responses that Node's HTTP has handed out and not ended, by connection: pipelined requests have several. */
export interface ResponsesUnderWay {
  /**
   * `before`: the one that leaves before it, if any, which is the last that was added. While one waits for another, nothing more is read
   * from the connection. `number`: how many there have been of this connection, this one included.
   */
  add(
    socket: Socket,
    response: ServerResponse,
  ): { readonly before: ServerResponse | undefined; readonly number: number }
  /** The answer that a connection is at; it may not have been begun. */
  of(socket: Socket): ServerResponse | undefined
}

/**
 * The service holds up to 64 kB of a client that sends requests without waiting for answers, as Node's parser takes that much at once; the rest
 * waits on the client's side. Further requests do not keep its connection open either: bytes that are not read begin no time-out anew.
 */
export function responsesUnderWay(): ResponsesUnderWay {
  // No weak map: with a thousand requests that wait, the garbage collector would look through it again and again.
  const bySocket = new Map<Socket, Line>()

  const lineOf = (socket: Socket): Line => {
    const known = bySocket.get(socket)
    if (known !== undefined) return known
    const line = { responses: new Set<ServerResponse>(), last: undefined, number: 0 }
    if (socket.destroyed) return line
    bySocket.set(socket, line)
    socket.once('close', () => bySocket.delete(socket))
    return line
  }

  /** Node reads on after each request, and after each answer, and tells the socket one tick later. */
  const rest = (socket: Socket, { responses }: Line): void => {
    const pause = (): void => {
      if (responses.size > 1) socket.pause()
    }
    process.nextTick(() => process.nextTick(pause))
  }

  return {
    add(socket, response) {
      const line = lineOf(socket)
      const { responses, last } = line
      responses.add(response)
      line.last = response
      line.number += 1
      const before = responses.size > 1 ? last : undefined
      if (before !== undefined) rest(socket, line)
      response.once('close', () => {
        responses.delete(response)
        if (responses.size === 1) socket.resume()
        else if (responses.size > 1) rest(socket, line)
      })
      return { before, number: line.number }
    },
    of(socket) {
      // A set keeps its order, and answers leave in the order of their requests.
      const [first] = bySocket.get(socket)?.responses ?? []
      return first
    },
  }
}

/** Of one connection. */
interface Line {
  readonly responses: Set<ServerResponse>
  /** The one that was added last; it may have left. */
  last: ServerResponse | undefined
  number: number
}
