/** Restricts a contact: it is kept but shown to nobody, until the restriction ends (PROTOCOL §5.7). */
import type { Connection } from '../connection.ts'
import { isObject } from '../decode.ts'
import type { CallOptions } from '../reading/get.ts'
import { requestJson } from '../http/requests.ts'
import { NotFoundError } from '../service-errors.ts'
import { restrictionsPath } from '../wire.ts'
import type { Restriction, RestrictionRequest } from '../wire.ts'

/** If the contact is restricted already, the answer has that restriction, so this call can be repeated. */
export async function restrictContact(
  connection: Connection,
  request: RestrictionRequest,
  { signal }: CallOptions = {},
): Promise<Restriction> {
  const body = JSON.stringify(request)
  const asked = { method: 'POST', path: restrictionsPath, body, contentType: 'application/json' } as const
  return (await requestJson(connection, asked, decode, signal)).value
}

/** Ends a restriction; `undefined` if there is none that the key may see. */
export async function endRestriction(
  connection: Connection,
  restrictionId: string,
  { signal }: CallOptions = {},
): Promise<Restriction | undefined> {
  const path = `${restrictionsPath}/${encodeURIComponent(restrictionId)}/end`
  return found(requestJson(connection, { method: 'POST', path }, decode, signal))
}

/** The present state of a restriction; `undefined` if there is none that the key may see. */
export async function getRestriction(
  connection: Connection,
  restrictionId: string,
  { signal }: CallOptions = {},
): Promise<Restriction | undefined> {
  const path = `${restrictionsPath}/${encodeURIComponent(restrictionId)}`
  return found(requestJson(connection, { method: 'GET', path }, decode, signal))
}

/** All restrictions that the key may see, the oldest first, including ended ones. */
export async function* listRestrictions(
  connection: Connection,
  { signal }: CallOptions = {},
): AsyncGenerator<Restriction> {
  for (let after: string | undefined; ;) {
    const request = { method: 'GET', path: restrictionsPath, query: { after } } as const
    const { value } = await requestJson(connection, request, decodeList, signal)
    yield* value.restrictions
    if (value.next === undefined || value.next === after) return
    after = value.next
  }
}

async function found<T>(answer: Promise<{ readonly value: T }>): Promise<T | undefined> {
  try {
    return (await answer).value
  } catch (error) {
    if (error instanceof NotFoundError && error.code === 'restriction_not_found') return undefined
    throw error
  }
}

function decode(value: unknown): Restriction | undefined {
  return isRestriction(value) ? value : undefined
}

function decodeList(value: unknown) {
  if (!isObject(value) || !Array.isArray(value['restrictions'])) return undefined
  const restrictions = value['restrictions'].filter(isRestriction)
  const { next } = value
  if (restrictions.length !== value['restrictions'].length) return undefined
  return { restrictions, next: typeof next === 'string' ? next : undefined }
}

function isRestriction(value: unknown): value is Restriction {
  const texts = ['id', 'subjectId', 'reason', 'state', 'begunAt']
  return isObject(value) && texts.every((name) => typeof value[name] === 'string')
}
