/** The body of a request whose length is known: in one piece, without a copy where it came in one. */
import type { IncomingMessage } from 'node:http'
import { freeBytes } from '../../free-bytes.ts'

/**
 * Room for a body is made as it comes, not as it was announced, since an announcement costs nothing: for so many times what has come.
 * The first piece of a long one has up to 64 kB, so a hundred events (400 kB) need room once.
 */
const roomFactor = 8

/** `undefined`: the connection ended before the body did. To be called before anything of the body was read. */
export function readBody(request: IncomingMessage, byteLength: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let body: Buffer | undefined
    let filled = 0
    request.on('data', (chunk: Buffer) => {
      const { length } = chunk
      if (length === byteLength) body = chunk
      else {
        body = withRoom(body, filled, length, byteLength)
        chunk.copy(body, filled)
        freeBytes(chunk)
      }
      filled += length
    })
    request.on('end', () => {
      // Node's parser ends a body only there.
      if (body !== undefined && filled === byteLength) resolve(body)
      else reject(new Error(`a body of ${byteLength} bytes ended behind ${filled}`))
    })
    request.on('error', () => resolve(undefined))
  })
}

/** `body` where it has room behind `filled`; else its beginning in a longer one. */
function withRoom(body: Buffer | undefined, filled: number, more: number, byteLength: number): Buffer {
  if (body !== undefined && filled + more <= body.length) return body
  const longer = Buffer.allocUnsafeSlow(Math.min(byteLength, roomFactor * (filled + more)))
  if (body !== undefined) {
    body.copy(longer, 0, 0, filled)
    freeBytes(body)
  }
  return longer
}
