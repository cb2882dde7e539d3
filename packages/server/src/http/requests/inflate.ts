/** Bodies that were compressed on their way. */
import { createGunzip } from 'node:zlib'
import { freeBytes } from '../../free-bytes.ts'
import type { Flight } from '../bytes-in-flight.ts'
import { refused } from '../exchange.ts'
import type { Body, Refused } from '../exchange.ts'
import type { Refusal } from '../problem.ts'
import { bodyTooLarge } from './body-headers.ts'

/**
 * The bytes as they were before gzip, made on a thread of Node's pool and taken from `flight` piece by piece; those that came are freed, and
 * given back. What would be more than `maxBytes`, or more than there is room for, is refused before it is made.
 */
export async function inflate(
  bytes: Buffer,
  maxBytes: number,
  flight: Flight,
): Promise<Extract<Body, { kind: 'bytes' }> | Refused> {
  const received = bytes.byteLength
  let inflated: Buffer = Buffer.allocUnsafeSlow(Math.min(maxBytes, lengthIn(bytes)))
  let length = 0
  try {
    const gunzip = createGunzip({ chunkSize })
    gunzip.end(bytes)
    for await (const piece of gunzip) {
      if (!Buffer.isBuffer(piece)) continue
      const more = piece.byteLength
      const refusal = length + more > maxBytes ? bodyTooLarge(maxBytes) : flight.take(more)
      if (refusal !== undefined) {
        freeBytes(inflated)
        // The stream is destroyed with the loop. Its thread may still read `bytes` then, so they are left to the garbage collector.
        return refused(refusal)
      }
      if (length + more > inflated.byteLength) inflated = longer(inflated, length, more, maxBytes)
      piece.copy(inflated, length)
      length += more
      // The stream has another one by now.
      freeBytes(piece)
    }
  } catch {
    freeBytes(bytes)
    freeBytes(inflated)
    return refused(noGzip)
  }
  freeBytes(bytes)
  flight.giveBack(received)
  return {
    kind: 'bytes',
    bytes: length === inflated.byteLength ? inflated : longer(inflated, length, 0, length),
  }
}

const chunkSize = 65_536

/** As a gzip member says at its end, which may be a lie or of the last of several. Memory is there only where it is written to. */
function lengthIn(bytes: Buffer): number {
  return bytes.byteLength < 4 ? 0 : bytes.readUInt32LE(bytes.byteLength - 4)
}

/** With the first `filled` bytes, and room for `more` and as many again, if that is not too many. */
function longer(bytes: Buffer, filled: number, more: number, mostBytes: number): Buffer {
  const room = Buffer.allocUnsafeSlow(Math.min(mostBytes, 2 * (filled + more)))
  bytes.copy(room, 0, 0, filled)
  freeBytes(bytes)
  return room
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
