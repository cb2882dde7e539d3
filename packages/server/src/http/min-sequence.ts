/** `x-feed-min-sequence`: a read that says which number it must see waits for it, on any node (P8). */
import type { Scope } from '@property-events/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { waitForHead } from '../feed/follow.ts'
import { tenantOf } from './authenticate.ts'
import type { AccessNeed } from './authenticate.ts'
import type { HttpContext } from './context.ts'
import { quoteInput } from './echo-text.ts'
import { sendProblem } from './send.ts'

export const minSequenceHeader = 'x-feed-min-sequence'

/** For the OpenAPI document. */
export const minSequenceParameter = {
  type: 'object',
  properties: {
    [minSequenceHeader]: {
      type: 'integer',
      minimum: 0,
      description: 'A sequence number this read must see; it waits for it, 5 seconds at most.',
    },
  },
} as const

/** The scope of an operation that reads one feed, and so has this header; `undefined` for all others. */
export function readsOneFeed(access: AccessNeed | undefined): Scope | undefined {
  return access?.scope === 'property:read' || access?.scope === 'contact:read' ? access.scope : undefined
}

/** Another node's commit is seen within milliseconds; after five seconds something is wrong, and the client may ask elsewhere. */
const waitMs = 5_000

/** An onRequest hook of the operations that read one feed. Answers 503 `sequence_not_reached` when the number does not come. */
export function requireMinSequence(context: HttpContext, scope: Scope) {
  const feed = scope === 'contact:read' ? 'contact' : 'property'
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const given = request.headers[minSequenceHeader]
    if (given === undefined) return undefined
    const text = String(given)
    if (!/^(0|[1-9][0-9]{0,15})$/.test(text) || !Number.isSafeInteger(Number(text))) {
      const message = `${quoteInput(text)} is not a sequence number: plain digits, as in a receipt.`
      const errors = [{ parameter: minSequenceHeader, code: 'not_a_count', message }]
      return sendProblem(request, reply, context.basePath, { code: 'invalid_parameter', errors })
    }
    const gone = new AbortController()
    const onClose = (): void => gone.abort()
    request.raw.socket.once('close', onClose)
    const key = { tenantId: tenantOf(request), feed } as const
    const waited = await waitForHead(context.events, key, Number(text), waitMs, gone.signal)
    request.raw.socket.off('close', onClose)
    if (waited.kind !== 'behind') return undefined
    const detail = `The feed is at ${waited.head.sequenceNumber} on this node; ${text} was asked for.`
    return sendProblem(request, reply, context.basePath, { code: 'sequence_not_reached', detail })
  }
}
