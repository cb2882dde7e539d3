/** Erases a property, a contact or one event, and reads receipts (PROTOCOL §5.7). */
import type { CallOptions, Connection } from '../connection.ts'
import { isObject, isWhole } from '../decode.ts'
import { erasuresPath } from '../wire.ts'
import type { Erasure, ErasureCount, ErasureRequest as Body } from '../wire.ts'
import { getResource, listResource, once, postResource, unlessAbsent } from './resource.ts'
import type { OfOwnFeed } from './resource.ts'

/** What to erase, and why: exactly one of `subjectId` and `eventId`. */
export type ErasureRequest = OfOwnFeed<Body, 'reason'>

/**
 * Begins an erasure in the client's feed, and resolves with its present receipt. The request is sent once: without an answer, the erasure
 * may have begun anyway. Another one does no harm except to close the subject a second time.
 */
export async function erase(
  connection: Connection,
  request: ErasureRequest,
  options: CallOptions = {},
): Promise<Erasure> {
  const body = { ...request, feed: connection.feed }
  return postResource(once(connection), { path: erasuresPath, body }, isErasure, options)
}

/** How many events an erasure would reduce. Changes nothing. */
export async function countErased(
  connection: Connection,
  request: ErasureRequest,
  options: CallOptions = {},
): Promise<ErasureCount> {
  const body = { ...request, feed: connection.feed }
  const query = { dryRun: 'true' }
  return postResource(once(connection), { path: erasuresPath, query, body }, isCount, options)
}

/** The receipt of an erasure of either feed; `undefined` if there is none that the key may see. */
export async function getErasure(
  connection: Connection,
  erasureId: string,
  options: CallOptions = {},
): Promise<Erasure | undefined> {
  const path = `${erasuresPath}/${encodeURIComponent(erasureId)}`
  return unlessAbsent(getResource(connection, path, isErasure, options), 'erasure_not_found')
}

/** The receipts of both feeds that the key may see, the oldest first. */
export function listErasures(connection: Connection, options: CallOptions = {}): AsyncGenerator<Erasure> {
  return listResource(connection, erasuresPath, 'erasures', isErasure, options)
}

function isErasure(value: unknown): value is Erasure {
  return (
    isObject(value) &&
    typeof value['id'] === 'string' &&
    typeof value['state'] === 'string' &&
    isWhole(value['events']) &&
    isWhole(value['reduced']) &&
    Array.isArray(value['notCovered'])
  )
}

function isCount(value: unknown): value is ErasureCount {
  return isObject(value) && value['dryRun'] === true && isWhole(value['events'])
}
