/** Bodies that were compressed on their way. */
import { createGunzip } from 'node:zlib'
import { freeBytes } from '../../free-bytes.ts'
import type { Flight } from '../bytes-in-flight.ts'
import { refused } from '../exchange.ts'
import type { Body, Refused } from '../exchange.ts'
import type { Refusal } from '../problem.ts'
import { bodyTooLarge } from './body-headers.ts'

/**
 * The bytes as they were before gzip, made on a thread of Node's pool and taken from `flight` piece by piece. Takes `bytes`. What would
 * be more than `maxBytes`, or more than there is room for, is refused before it is made.
 */
export async function inflate(
  bytes: Buffer,
  maxBytes: number,
  flight: Flight,
): Promise<Extract<Body, { kind: 'bytes' }> | Refused> {
  const pieces: Buffer[] = []
  let length = 0
  try {
    const gunzip = createGunzip()
    gunzip.end(bytes)
    for await (const piece of gunzip) {
      if (!Buffer.isBuffer(piece)) continue
      length += piece.length
      const refusal = length > maxBytes ? bodyTooLarge(maxBytes) : flight.take(piece.length)
      // The stream is destroyed with the loop. Its thread may still read `bytes` then, so they are left to the garbage collector.
      if (refusal !== undefined) return refused(refusal)
      pieces.push(piece)
    }
  } catch {
    freeBytes(bytes)
    return refused(noGzip)
  }
  freeBytes(bytes)
  const inflated = Buffer.concat(pieces, length)
  pieces.forEach(freeBytes)
  return { kind: 'bytes', bytes: inflated }
}

const noGzip: Refusal = {
  code: 'invalid_body',
  errors: [
    {
      pointer: '',
      code: 'invalid_gzip',
      message: 'The body is not gzip, although Content-Encoding says so; send it as it is, or compress it.',
    },
  ],
}
