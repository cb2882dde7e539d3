/** `x-feed-min-sequence`: a read that names the number it must include waits for it, on any node (P8). */
import { feedNames, feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { waitForHead } from '../live/wait-for-number.ts'
import type { AccessNeed, Access } from '../http/access.ts'
import { feedKeyOf } from '../http/access.ts'
import type { Request } from '../http/exchange.ts'
import type { Refusal } from '../http/problem/problem.ts'
import { quoteInput } from '../http/requests/echo-text.ts'
import type { ServiceLimits } from '../http/limits.ts'
import type { HeadWaitParts } from '../live/wait-for-number.ts'

/** What waiting for a number needs. */
export interface MinSequenceContext extends HeadWaitParts {
  readonly limits: ServiceLimits
}

export const minSequenceHeader = 'x-feed-min-sequence'

/** For the OpenAPI document. */
export const minSequenceParameter = {
  type: 'object',
  properties: {
    [minSequenceHeader]: {
      type: 'integer',
      minimum: 0,
      description:
        'A sequence number that this read must include; the service waits for it, for 5 seconds at most.',
    },
  },
} as const

/** The feed that an operation reads, if this header applies to it; `undefined` for all others. */
export function feedRead(need: AccessNeed | undefined): FeedName | undefined {
  return feedNames.find((feed) => feeds[feed].readScope === need?.scope)
}

/**
 * Waits until this node sees the number that the request names, if it names one. Resolves with a refusal if the request may not continue.
 */
export function waitForMinSequence(
  context: Pick<MinSequenceContext, 'events' | 'tail' | 'limits'>,
  request: Request,
  need: AccessNeed | undefined,
  access: Access,
): Refusal | undefined | Promise<Refusal | undefined> {
  const text = request.header(minSequenceHeader)
  if (text === undefined) return undefined
  const feed = feedRead(need)
  if (feed === undefined) return undefined
  if (!/^(0|[1-9][0-9]{0,15})$/.test(text) || !Number.isSafeInteger(Number(text))) {
    const message = `${quoteInput(text)} is not a sequence number: send digits, as in a receipt.`
    const errors = [{ parameter: minSequenceHeader, code: 'not_a_count', message }]
    return { code: 'invalid_parameter', errors }
  }
  const key = feedKeyOf(access, feed)
  const { minSequenceWaitMs } = context.limits
  return waitForHead(context, key, Number(text), minSequenceWaitMs, request.gone).then((waited) => {
    if (waited.kind !== 'behind') return undefined
    const detail = `The feed is at ${waited.head.sequenceNumber} on this node; ${text} was asked for.`
    return { code: 'sequence_not_reached', detail }
  })
}
