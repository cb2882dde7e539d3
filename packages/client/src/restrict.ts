/** Restricts a contact: it is kept and shown to nobody, until that is ended (PROTOCOL §5.7). */
import type { Connection } from './connection.ts'
import { isObject } from './decode.ts'
import type { CallOptions } from './get.ts'
import { requestJson } from './http.ts'
import { NotFoundError } from './service-errors.ts'
import { restrictionsPath } from './wire.ts'
import type { Restriction, RestrictionRequest } from './wire.ts'

/** Where the contact is restricted already, that restriction is answered, so that this can be repeated. */
export async function restrictContact(
  connection: Connection,
  request: RestrictionRequest,
  { signal }: CallOptions = {},
): Promise<Restriction> {
  const body = JSON.stringify(request)
  const asked = { method: 'POST', path: restrictionsPath, body, contentType: 'application/json' } as const
  return (await requestJson(connection, asked, decode, signal)).value
}

/** Ends it; `undefined` if there is none that the key may see. */
export async function endRestriction(
  connection: Connection,
  restrictionId: string,
  { signal }: CallOptions = {},
): Promise<Restriction | undefined> {
  const path = `${restrictionsPath}/${encodeURIComponent(restrictionId)}/end`
  return found(requestJson(connection, { method: 'POST', path }, decode, signal))
}

/** As it stands; `undefined` if there is none that the key may see. */
export async function getRestriction(
  connection: Connection,
  restrictionId: string,
  { signal }: CallOptions = {},
): Promise<Restriction | undefined> {
  const path = `${restrictionsPath}/${encodeURIComponent(restrictionId)}`
  return found(requestJson(connection, { method: 'GET', path }, decode, signal))
}

/** All that the key may see, the oldest first, ended ones included. */
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
