/** An event of a property as one of its versions. */
import { headline } from '@property-events/client/headline'
import type { Headline } from '@property-events/client/headline'
import { meaningOf, reductionOf } from '@property-events/protocol/plain'
import type { FeedEvent } from '@property-events/protocol/wire'
import { readTime } from '../../words/times.ts'
import { isObject } from './diff/members.ts'

/**
 * `shown`: there is a payload. `removed`: the property is no longer published. `erased`: its payload was reduced to the reference, or is
 * no longer kept. `unreadable`: the payload is not a JSON object.
 */
type VersionKind = 'shown' | 'removed' | 'erased' | 'thinned' | 'unreadable'

export interface Version {
  readonly event: FeedEvent
  readonly kind: VersionKind
  /** Milliseconds since 1970. */
  readonly atMs: number
  /** The parsed payload. */
  readonly payload: unknown
  /** Only for `shown` and `removed`. */
  readonly listing: Headline | undefined
}

export function readVersion(event: FeedEvent): Version {
  const payload = parse(event.payload)
  const kind = kindOf(event, payload)
  const isThere = kind === 'shown' || kind === 'removed'
  return {
    event,
    kind,
    payload,
    atMs: readTime(event.createdDate) ?? 0,
    listing: isThere ? headline(event.payload) : undefined,
  }
}

function kindOf({ eventTypeShortCode, payload: text }: FeedEvent, payload: unknown): VersionKind {
  if (!isObject(payload)) return 'unreadable'
  const gone = reductionOf(text)
  if (gone !== undefined) return gone
  return meaningOf('property', eventTypeShortCode) === 'gone' ? 'removed' : 'shown'
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}
