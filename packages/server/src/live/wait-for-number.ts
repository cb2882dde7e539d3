/** Waits until a feed has reached a number (P8), for readers that learnt the number from another node. */
import type { EndSignal } from '../runtime/end-signal.ts'
import type { EventStore, Head } from '../events/event-log.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedFollower, LiveTail } from './tail.ts'

type HeadWait =
  | { readonly kind: 'reached'; readonly head: Head }
  /** Not within the given time; `head` is the number that the feed has reached. */
  | { readonly kind: 'behind'; readonly head: Head }
  | { readonly kind: 'unknownFeed' }

export interface HeadWaitParts {
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
