/** What erasures, holds and restrictions have in common: how they are posted, found by their id, and listed. */
import type { CodeOf } from '../codes.ts'
import type { CallOptions, Connection } from '../connection.ts'
import { isObject } from '../decode.ts'
import { requestJson } from '../http/requests.ts'
import { NotFoundError } from '../service-errors.ts'

/** A request about the client's own feed. `Code`: a newer service may know codes that this package does not. */
export type OfOwnFeed<T, Code extends keyof T> = Omit<T, 'feed' | Code> &
  Readonly<Record<Code, T[Code] | (string & {})>>

/** Whether a value in an answer is one of the resource. */
type Guard<T> = (value: unknown) => value is T

/** Resolves with the resource, or what the service says of the request in place of it. */
export async function postResource<T>(
  connection: Connection,
  { path, query, body }: { readonly path: string; readonly query?: Query; readonly body?: object },
  isResource: Guard<T>,
  { signal }: CallOptions,
): Promise<T> {
  const content = body === undefined ? {} : { body: JSON.stringify(body), contentType: 'application/json' }
  const request = { method: 'POST', path, ...(query === undefined ? {} : { query }), ...content } as const
  return (await requestJson(connection, request, decoderOf(isResource), signal)).value
}

type Query = Readonly<Record<string, string | undefined>>

export async function getResource<T>(
  connection: Connection,
  path: string,
  isResource: Guard<T>,
  { signal }: CallOptions,
): Promise<T> {
  return (await requestJson(connection, { method: 'GET', path }, decoderOf(isResource), signal)).value
}

/** `undefined` if the service refuses with this code, because there is none that the key may see. */
export async function unlessAbsent<T>(answer: Promise<T>, code: CodeOf<'notFound'>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof NotFoundError && error.code === code) return undefined
    throw error
  }
}

/** All that the key may see, the oldest first, page by page. `name`: the member of the answer that has them. */
export async function* listResource<T>(
  connection: Connection,
  path: string,
  name: string,
  isResource: Guard<T>,
  { signal }: CallOptions,
): AsyncGenerator<T> {
  const decode = (value: unknown) => {
    const all = isObject(value) ? value[name] : undefined
    if (!isObject(value) || !Array.isArray(all)) return undefined
    const items = all.filter(isResource)
    const { next } = value
    if (items.length !== all.length) return undefined
    return { items, next: typeof next === 'string' ? next : undefined }
  }
  for (let after: string | undefined; ;) {
    const { value } = await requestJson(connection, { method: 'GET', path, query: { after } }, decode, signal)
    yield* value.items
    if (value.next === undefined || value.next === after) return
    after = value.next
  }
}

/** For a request that is sent once: without an answer, it may have been carried out anyway. */
export function once(connection: Connection): Connection {
  return { ...connection, retry: { ...connection.retry, attempts: 1 } }
}

function decoderOf<T>(isResource: Guard<T>): (value: unknown) => T | undefined {
  return (value) => (isResource(value) ? value : undefined)
}
