/** Puts a property or contact on hold, so that it is not erased for a time (PROTOCOL §5.7). */
import type { CallOptions, Connection } from '../connection.ts'
import { isObject } from '../decode.ts'
import { holdsPath } from '../wire.ts'
import type { Hold, HoldRequest as Body } from '../wire.ts'
import { listResource, once, postResource, unlessAbsent } from './resource.ts'
import type { OfOwnFeed } from './resource.ts'

/** What to put on hold, and why. */
export type HoldRequest = OfOwnFeed<Body, 'ground'>

/** The request is sent once: without an answer, the hold may exist anyway, and a second hold does no harm. */
export async function addHold(
  connection: Connection,
  request: HoldRequest,
  options: CallOptions = {},
): Promise<Hold> {
  const body = { ...request, feed: connection.feed }
  return postResource(once(connection), { path: holdsPath, body }, isHold, options)
}

/** Ends a hold; `undefined` if there is none that the key may see. */
export async function endHold(
  connection: Connection,
  holdId: string,
  options: CallOptions = {},
): Promise<Hold | undefined> {
  const path = `${holdsPath}/${encodeURIComponent(holdId)}/end`
  return unlessAbsent(postResource(connection, { path }, isHold, options), 'hold_not_found')
}

/** The holds of both feeds that the key may see, the oldest first, ended and expired ones included. */
export function listHolds(connection: Connection, options: CallOptions = {}): AsyncGenerator<Hold> {
  return listResource(connection, holdsPath, 'holds', isHold, options)
}

function isHold(value: unknown): value is Hold {
  const texts = ['id', 'feed', 'subjectId', 'ground', 'state', 'until']
  return isObject(value) && texts.every((name) => typeof value[name] === 'string')
}
