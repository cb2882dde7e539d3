/**
 * The end of a connection whose request is answered before its body was read. The rest of the body is not read, so the connection ends
 * after the answer. But not at once: closing a socket with unread bytes makes the kernel send a reset, which destroys the answer on its
 * way to a client that is still sending.
 */
import type { Socket } from 'node:net'

/** How long such a connection stays half open, so that the client can read its answer. */
const lingerMs = 1_000

/** Connections of a thread that may do this at the same time. In each, the system and Node hold up to some 64 KiB that nobody reads. */
const mostInAll = 256

/** The same for one key, and for all requests without a valid key. */
const mostOfKey = 64

const strangers = ''

/** Has the connection of a request, whose key is `keyId`, linger after its answer. Where too many do, it is closed at once. */
export type Linger = (socket: Socket, keyId: string | undefined) => void

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
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    timer.unref()
    socket.once('close', () => clearTimeout(timer))
  }
}
