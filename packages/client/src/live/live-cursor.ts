/** How far a reader that follows a feed is, and which events it wants. */
import { isObject, parseJson } from '../decode.ts'
import { readEventCode } from '../event.ts'
import type { FeedEvent } from '../wire.ts'

/** Moves on with each answer. `answers` counts the usable ones; with none, nothing is known about the feed yet. */
export interface LiveCursor {
  after: number
  readonly epoch: string
  answers: number
  /** Throws when an event is of another tenant than the ones before. */
  readonly checkTenant: (events: readonly FeedEvent[]) => void
}

export interface LiveQuery {
  readonly apiEventType: string | undefined
  /** Short codes; `undefined`: every type. */
  readonly types: readonly string[] | undefined
}

/**
 * Whether an event is of the requested types. Every selection includes removals, because otherwise a copy would keep what has gone
 * (PROTOCOL §13.4). The service filters itself; a server of the contract alone does not.
 */
export function isOfTypes(event: FeedEvent, types: readonly string[] | undefined): boolean {
  const { eventTypeShortCode: code } = event
  if (types === undefined || types.includes(code)) return true
  const known = readEventCode(code)
  if (known !== undefined) return known.isGone
  const payload = parseJson(event.payload)
  return isObject(payload) && payload['published'] === false
}
