/** `x-feed-min-sequence`: a read that names the number it must include waits for it, on any node (P8). */
import { feedNames, feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { Access, AccessNeed } from '../http/access.ts'
import { feedKeyOf } from '../http/access.ts'
import type { Request } from '../http/exchange.ts'
import type { Refusal } from '../http/problem/problem.ts'
import { quoteInput } from '../http/requests/echo-text.ts'
import type { ServiceLimits } from '../http/limits.ts'
import type { EndSignal } from '../runtime/end-signal.ts'
import type { EventStore, Head } from '../events/event-log.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedFollower, LiveTail } from '../live/tail.ts'

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

/** Waits until a feed has reached a number (P8), for readers that learnt the number from another node. */
type HeadWait =
  | { readonly kind: 'reached'; readonly head: Head }
  /** Not within the given time; `head` is the number that the feed has reached. */
  | { readonly kind: 'behind'; readonly head: Head }
  | { readonly kind: 'unknownFeed' }

interface HeadWaitParts {
  readonly events: Pick<EventStore, 'head'>
  readonly tail: Pick<LiveTail, 'follow'>
}

/**
 * Resolves as soon as the feed's head is at `sequenceNumber` or after it, after `timeoutMs` at the latest, and at once
 * when `signal` is aborted. Rejects only with the store's `StorageFailure`.
 */
export async function waitForHead(
  { events, tail }: HeadWaitParts,
  key: FeedKey,
  sequenceNumber: number,
  timeoutMs: number,
  signal: EndSignal,
): Promise<HeadWait> {
  const untilMs = performance.now() + timeoutMs
  const head = await events.head(key)
  if (head === undefined) return { kind: 'unknownFeed' }
  if (hasReached(head, sequenceNumber)) return { kind: 'reached', head }
  const follower = tail.follow(key)
  try {
    return await whileFollowing(follower, head, sequenceNumber, untilMs, signal)
  } finally {
    follower.stop()
  }
}

async function whileFollowing(
  follower: FeedFollower,
  first: Head,
  sequenceNumber: number,
  untilMs: number,
  signal: EndSignal,
): Promise<HeadWait> {
  let head = first
  for (;;) {
    const leftMs = untilMs - performance.now()
    if (leftMs <= 0 || signal.aborted) return { kind: 'behind', head }
    await follower.moved(head, leftMs, signal)
    head = (await follower.head()) ?? head
    if (hasReached(head, sequenceNumber)) return { kind: 'reached', head }
  }
}

/** An empty feed has reached no number, whatever its epoch's offset; but every feed has reached 0. */
function hasReached(head: Head, sequenceNumber: number): boolean {
  return sequenceNumber === 0 || (head.position > 0 && head.sequenceNumber >= sequenceNumber)
}
