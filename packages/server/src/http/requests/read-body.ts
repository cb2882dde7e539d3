/** The body of a request: its bytes, or the text of a small JSON body for operations that take one object. */
import { mapMaybePromise } from '../../runtime/map-maybe-promise.ts'
import type { Access } from '../access.ts'
import type { BytesInFlight, Flight } from '../bytes-in-flight.ts'
import type { AccessControl } from '../context.ts'
import { refused } from '../exchange.ts'
import type { Body, Outcome, Request, Refused } from '../exchange.ts'
import type { Refusal } from '../problem/problem.ts'
import { maxSmallBodyBytes } from './body-members.ts'
import type { BodyReading } from './body-members.ts'
import type { BodyCoding } from './body-headers.ts'
import { readBodyHeaders, refusalOfBytes, unsupportedType, bodyTooLarge } from './body-headers.ts'
import { createGunzip } from 'node:zlib'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'

/** What reading a body needs. */
export interface BodyContext {
  readonly inFlight: BytesInFlight
  readonly access: Pick<AccessControl, 'refusalIfLate'>
}

/** The bytes before gzip, counted in `flight` like those that came. Refused if the key lost its right while they came. */
export function readBody(
  context: BodyContext,
  request: Request,
  access: Access,
  coding: BodyCoding,
  flight: Flight,
  maxBytes: number,
): Body | Promise<Body> {
  return mapMaybePromise(request.body(flight), (received) =>
    mapMaybePromise<Refusal | undefined, Body>(context.access.refusalIfLate(request, access), (refusal) => {
      if (received.kind !== 'bytes') return received
      if (refusal !== undefined) return refused(refusal)
      return coding === 'gzip' ? inflate(received.bytes, maxBytes, flight) : received
    }),
  )
}

/** Calls `answer` with the body as decoded, valid UTF-8. Its bytes count as under way until `answer` is done. */
export async function withSmallBody(
  context: BodyContext,
  request: Request,
  access: Access,
  answer: (text: string) => Promise<Outcome>,
  maxBytes = maxSmallBodyBytes,
): Promise<Outcome> {
  const head = readBodyHeaders(request, maxBytes)
  if (head.kind === 'refused') return head
  if (head.format === 'ndjson') return refused(unsupportedType(request.header('content-type') ?? ''))
  const refusal = context.inFlight.refuses(access.keyId, 'publication', maxBytes)
  if (refusal !== undefined) return refused(refusal)
  const flight = context.inFlight.begin(access.keyId, 'publication')
  try {
    const body = await readBody(context, request, access, head.coding, flight, maxBytes)
    if (body.kind === 'gone') return { kind: 'none' }
    if (body.kind === 'refused') return body
    const fault = refusalOfBytes(body.bytes)
    return fault === undefined ? await answer(body.bytes.toString('utf8')) : refused(await fault)
  } finally {
    flight.end()
  }
}

/** The same with what the body says. */
export function withReadBody<Read>(
  context: BodyContext,
  { request, access }: { readonly request: Request; readonly access: Access },
  read: (text: string) => BodyReading<Read>,
  answer: (body: Read) => Promise<Outcome>,
  maxBytes?: number,
): Promise<Outcome> {
  const answerText = async (text: string): Promise<Outcome> => {
    const reading = read(text)
    if (reading.kind === 'faults') return refused({ code: 'invalid_body', errors: reading.errors })
    return answer(reading.body)
  }
  return withSmallBody(context, request, access, answerText, maxBytes)
}

/**
 * The bytes before gzip, made on a thread of Node's pool and counted in `flight` piece by piece; the compressed bytes are freed and given
 * back. Bytes beyond `maxBytes`, or beyond the available room, are refused before they are made.
 */
async function inflate(
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
