/** Puts a property or contact on hold, so that it is not erased for a time (PROTOCOL §5.7). */
import type { Connection } from '../connection.ts'
import { isObject } from '../decode.ts'
import type { CallOptions } from '../reading/get.ts'
import { requestJson } from '../http/requests.ts'
import { NotFoundError } from '../service-errors.ts'
import { holdsPath } from '../wire.ts'
import type { Hold, HoldRequest } from '../wire.ts'

/** The request is sent once: without an answer, the hold may exist anyway, and a second hold does no harm. */
export async function addHold(
  connection: Connection,
  request: HoldRequest,
  { signal }: CallOptions = {},
): Promise<Hold> {
  const once: Connection = { ...connection, retry: { ...connection.retry, attempts: 1 } }
  const body = JSON.stringify({ ...request, feed: connection.feed })
  const asked = { method: 'POST', path: holdsPath, body, contentType: 'application/json' } as const
  return (await requestJson(once, asked, decodeHold, signal)).value
}

/** Ends a hold; `undefined` if there is none that the key may see. */
export async function endHold(
  connection: Connection,
  holdId: string,
  { signal }: CallOptions = {},
): Promise<Hold | undefined> {
  const path = `${holdsPath}/${encodeURIComponent(holdId)}/end`
  try {
    return (await requestJson(connection, { method: 'POST', path }, decodeHold, signal)).value
  } catch (error) {
    if (error instanceof NotFoundError && error.code === 'hold_not_found') return undefined
    throw error
  }
}

/** The holds of both feeds that the key may see, the oldest first, ended and expired ones included. */
export async function* listHolds(connection: Connection, { signal }: CallOptions = {}): AsyncGenerator<Hold> {
  for (let after: string | undefined; ;) {
    const request = { method: 'GET', path: holdsPath, query: { after } } as const
    const { value } = await requestJson(connection, request, decodeHolds, signal)
    yield* value.holds
    if (value.next === undefined || value.next === after) return
    after = value.next
  }
}

function decodeHold(value: unknown): Hold | undefined {
  return isHold(value) ? value : undefined
}

function decodeHolds(value: unknown) {
  if (!isObject(value) || !Array.isArray(value['holds'])) return undefined
  const holds = value['holds'].filter(isHold)
  const { next } = value
  if (holds.length !== value['holds'].length) return undefined
  return { holds, next: typeof next === 'string' ? next : undefined }
}

function isHold(value: unknown): value is Hold {
  const texts = ['id', 'feed', 'subjectId', 'ground', 'state', 'until']
  return isObject(value) && texts.every((name) => typeof value[name] === 'string')
}
