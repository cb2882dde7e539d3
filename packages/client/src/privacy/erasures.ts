/** Erases a property, a contact or one event, and reads receipts (PROTOCOL §5.7). */
import type { Connection } from '../connection.ts'
import { isObject, isWhole } from '../decode.ts'
import type { CallOptions } from '../reading/get.ts'
import { requestJson } from '../http/requests.ts'
import { NotFoundError } from '../service-errors.ts'
import { erasuresPath } from '../wire.ts'
import type { Erasure, ErasureCount, ErasureRequest } from '../wire.ts'

/**
 * Begins an erasure in the client's feed, and resolves with its present receipt. The request is sent once: without an answer, the erasure
 * may have begun anyway. Another one does no harm except to close the subject a second time.
 */
export async function erase(
  connection: Connection,
  request: ErasureRequest,
  options: CallOptions = {},
): Promise<Erasure> {
  return post(connection, request, undefined, isErasure, options)
}

/** How many events an erasure would reduce. Changes nothing. */
export async function countErased(
  connection: Connection,
  request: ErasureRequest,
  options: CallOptions = {},
): Promise<ErasureCount> {
  return post(connection, request, 'true', isCount, options)
}

async function post<T>(
  connection: Connection,
  request: ErasureRequest,
  dryRun: string | undefined,
  isAnswer: (value: unknown) => value is T,
  { signal }: CallOptions,
): Promise<T> {
  const once: Connection = { ...connection, retry: { ...connection.retry, attempts: 1 } }
  const body = JSON.stringify({ ...request, feed: connection.feed })
  const asked = { method: 'POST', path: erasuresPath, query: { dryRun }, body } as const
  const decode = (value: unknown) => (isAnswer(value) ? value : undefined)
  return (await requestJson(once, { ...asked, contentType: 'application/json' }, decode, signal)).value
}

/** The receipt of an erasure of either feed; `undefined` if there is none that the key may see. */
export async function getErasure(
  connection: Connection,
  erasureId: string,
  { signal }: CallOptions = {},
): Promise<Erasure | undefined> {
  const path = `${erasuresPath}/${encodeURIComponent(erasureId)}`
  const decode = (value: unknown) => (isErasure(value) ? value : undefined)
  try {
    return (await requestJson(connection, { method: 'GET', path }, decode, signal)).value
  } catch (error) {
    if (error instanceof NotFoundError && error.code === 'erasure_not_found') return undefined
    throw error
  }
}

/** The receipts of both feeds that the key may see, the oldest first. */
export async function* listErasures(
  connection: Connection,
  { signal }: CallOptions = {},
): AsyncGenerator<Erasure> {
  for (let after: string | undefined; ;) {
    const request = { method: 'GET', path: erasuresPath, query: { after } } as const
    const { value } = await requestJson(connection, request, decodeErasures, signal)
    yield* value.erasures
    if (value.next === undefined || value.next === after) return
    after = value.next
  }
}

function decodeErasures(value: unknown) {
  if (!isObject(value) || !Array.isArray(value['erasures'])) return undefined
  const erasures = value['erasures'].filter(isErasure)
  const { next } = value
  if (erasures.length !== value['erasures'].length) return undefined
  return { erasures, next: typeof next === 'string' ? next : undefined }
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
