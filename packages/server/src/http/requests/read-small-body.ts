/** The text of a small JSON body, whole and within its limit, for operations that take one object. */
import type { HttpContext } from '../context.ts'
import { refused } from '../exchange.ts'
import type { Access, Outcome, Request } from '../exchange.ts'
import { maxSmallBodyBytes } from './body-members.ts'
import { readBodyHeaders, refusalOfBytes, unsupportedType } from './body-headers.ts'
import { readBody } from '../../publishing/routes.ts'

/** Calls `answer` with the body as decoded, valid UTF-8. Its bytes count as under way until `answer` is done. */
export async function withSmallBody(
  context: HttpContext,
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
    return fault === undefined ? await answer(body.bytes.toString('utf8')) : refused(fault)
  } finally {
    flight.end()
  }
}
