/** The body of a request: its bytes, or the text of a small JSON body for operations that take one object. */
import { mapMaybePromise } from '../../runtime/map-maybe-promise.ts'
import type { Access } from '../access.ts'
import type { BytesInFlight, Flight } from '../bytes-in-flight.ts'
import type { AccessControl } from '../context.ts'
import { refused } from '../exchange.ts'
import type { Body, Outcome, Request } from '../exchange.ts'
import type { Refusal } from '../problem/problem.ts'
import { maxSmallBodyBytes } from './body-members.ts'
import type { BodyCoding } from './body-headers.ts'
import { inflate } from './inflate.ts'
import { readBodyHeaders, refusalOfBytes, unsupportedType } from './body-headers.ts'

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
