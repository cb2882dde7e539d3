/** The body of a request that Node's HTTP reads, as one piece of memory; without a copy if it arrived as one. */
import type { IncomingMessage } from 'node:http'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import type { Flight } from '../bytes-in-flight.ts'
import { refused } from '../exchange.ts'
import type { Body } from '../exchange.ts'
import type { Refusal } from '../problem/problem.ts'
import { bodyTooLarge } from '../requests/body-headers.ts'

/**
 * Memory for a body grows as the body arrives, and not with its announced length, since an announcement costs nothing: to this many times
 * what has arrived. The first piece of a long body has up to 64 kB, so a hundred events (400 kB) need one allocation.
 */
const roomFactor = 8

/**
 * A body may come in this many pieces, however short they are; any more must have `leastOfPiece` bytes each on average. A chunk of one
 * byte costs as much time as one of 64 kB: ten connections that sent nothing else held the event loop for 10 s (measured manually).
 */
const shortPieces = 16_384
const leastOfPiece = 16

/** Call this before anything of the body was read. Never rejects. */
export function readBody(request: IncomingMessage, maxBytes: number, flight: Flight): Promise<Body> {
  const announced = request.headers['content-length']
  const most = announced === undefined ? maxBytes : Number(announced)
  return new Promise((resolve) => {
    let body: Buffer | undefined
    let filled = 0
    let pieces = 0
    const refuse = (refusal: Refusal): void => {
      // The rest is not read, because the connection ends after the answer.
      request.off('data', onData).pause()
      forget()
      resolve(refused(refusal))
    }
    /** Long bodies that nobody will read do not wait for the garbage collector. */
    const forget = (): void => {
      if (body !== undefined) freeBytes(body)
      body = undefined
    }
    const leave = (): void => {
      forget()
      resolve({ kind: 'gone' })
    }
    const onData = (chunk: Buffer): void => {
      const { length } = chunk
      pieces += 1
      const refusal =
        filled + length > maxBytes
          ? bodyTooLarge(maxBytes)
          : pieces > shortPieces && filled < leastOfPiece * pieces
            ? tooManyPieces
            : flight.take(length)
      if (refusal !== undefined) {
        refuse(refusal)
        return
      }
      if (filled === 0 && length === most) body = chunk
      else {
        body = withRoom(body, filled, length, most)
        chunk.copy(body, filled)
        freeBytes(chunk)
      }
      filled += length
    }
    request.on('data', onData)
    request.on('end', () => {
      resolve({ kind: 'bytes', bytes: body?.subarray(0, filled) ?? Buffer.alloc(0) })
      body = undefined
    })
    request.on('error', leave)
    request.on('close', leave)
  })
}

const tooManyPieces: Refusal = {
  code: 'body_too_large',
  detail: `The body came in more than ${shortPieces} chunks with fewer than ${leastOfPiece} bytes each on average. Send it in longer chunks, or with a Content-Length.`,
}

/** `body` if it has room after `filled`, otherwise its beginning in a longer one. */
function withRoom(body: Buffer | undefined, filled: number, more: number, most: number): Buffer {
  if (body !== undefined && filled + more <= body.length) return body
  const longer = Buffer.allocUnsafeSlow(Math.min(most, roomFactor * (filled + more)))
  if (body !== undefined) {
    body.copy(longer, 0, 0, filled)
    freeBytes(body)
  }
  return longer
}
