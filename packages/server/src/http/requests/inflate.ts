/** Unpacks bodies that were compressed on their way. */
import { createGunzip } from 'node:zlib'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import type { Flight } from '../bytes-in-flight.ts'
import { refused } from '../exchange.ts'
import type { Body, Refused } from '../exchange.ts'
import type { Refusal } from '../problem/problem.ts'
import { bodyTooLarge } from './body-headers.ts'

/**
 * The bytes before gzip, made on a thread of Node's pool and counted in `flight` piece by piece; the compressed bytes are freed and given
 * back. Bytes beyond `maxBytes`, or beyond the available room, are refused before they are made.
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
        // Leaving the loop destroys the stream. Its thread may still read `bytes` then, so they are left to the garbage collector.
        return refused(refusal)
      }
      if (length + more > inflated.byteLength) inflated = longer(inflated, length, more, maxBytes)
      piece.copy(inflated, length)
      length += more
      // The stream has moved on to another piece by now.
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

/**
 * The length that a gzip member states at its end, which may be a lie or belong to the last of several members. Memory is used only where
 * it is written to.
 */
function lengthIn(bytes: Buffer): number {
  return bytes.byteLength < 4 ? 0 : bytes.readUInt32LE(bytes.byteLength - 4)
}

/** A copy of the first `filled` bytes, with room for `more` and as many again, within the limit. */
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
