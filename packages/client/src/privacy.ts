/** Erasures, holds and restrictions (PROTOCOL §5.7). They have one form: posted, found by their id, and listed. */
import type { CodeOf } from './codes.ts'
import type { CallOptions, Connection } from './connection.ts'
import { isObject, isWhole } from './decode.ts'
import { requestJson } from './http/requests.ts'
import { NotFoundError } from './service-errors.ts'
import { erasuresPath, holdsPath, restrictionsPath } from './wire.ts'
import type {
  Erasure,
  ErasureCount,
  ErasureRequest as ErasureBody,
  Hold,
  HoldRequest as HoldBody,
  Restriction,
  RestrictionRequest as RestrictionBody,
} from './wire.ts'

/** What to erase, and why: exactly one of `subjectId` and `eventId`. */
export type ErasureRequest = OfOwnFeed<ErasureBody, 'reason'>

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

/** What to put on hold, so that it is not erased for a time, and why. */
export type HoldRequest = OfOwnFeed<HoldBody, 'ground'>

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

/** Which contact to restrict, and why: it is kept but shown to nobody, until the restriction ends. */
export type RestrictionRequest = OfOwnFeed<RestrictionBody, 'reason'>

/** If the contact is restricted already, the answer has that restriction, so this call can be repeated. */
export async function restrictContact(
  connection: Connection,
  request: RestrictionRequest,
  options: CallOptions = {},
): Promise<Restriction> {
  return postResource(connection, { path: restrictionsPath, body: request }, isRestriction, options)
}

/** Ends a restriction; `undefined` if there is none that the key may see. */
export async function endRestriction(
  connection: Connection,
  restrictionId: string,
  options: CallOptions = {},
): Promise<Restriction | undefined> {
  const path = `${restrictionsPath}/${encodeURIComponent(restrictionId)}/end`
  return unlessAbsent(postResource(connection, { path }, isRestriction, options), 'restriction_not_found')
}

/** The present state of a restriction; `undefined` if there is none that the key may see. */
export async function getRestriction(
  connection: Connection,
  restrictionId: string,
  options: CallOptions = {},
): Promise<Restriction | undefined> {
  const path = `${restrictionsPath}/${encodeURIComponent(restrictionId)}`
  return unlessAbsent(getResource(connection, path, isRestriction, options), 'restriction_not_found')
}

/** All restrictions that the key may see, the oldest first, including ended ones. */
export function listRestrictions(
  connection: Connection,
  options: CallOptions = {},
): AsyncGenerator<Restriction> {
  return listResource(connection, restrictionsPath, 'restrictions', isRestriction, options)
}

function isRestriction(value: unknown): value is Restriction {
  const texts = ['id', 'subjectId', 'reason', 'state', 'begunAt']
  return isObject(value) && texts.every((name) => typeof value[name] === 'string')
}

/** A request about the client's own feed. `Code`: a newer service may know codes that this package does not. */
type OfOwnFeed<T, Code extends keyof T> = Omit<T, 'feed' | Code> &
  Readonly<Record<Code, T[Code] | (string & {})>>

/** Whether a value in an answer is one of the resource. */
type Guard<T> = (value: unknown) => value is T

/** Resolves with the resource, or what the service says of the request in place of it. */
async function postResource<T>(
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

async function getResource<T>(
  connection: Connection,
  path: string,
  isResource: Guard<T>,
  { signal }: CallOptions,
): Promise<T> {
  return (await requestJson(connection, { method: 'GET', path }, decoderOf(isResource), signal)).value
}

/** `undefined` if the service refuses with this code, because there is none that the key may see. */
async function unlessAbsent<T>(answer: Promise<T>, code: CodeOf<'notFound'>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof NotFoundError && error.code === code) return undefined
    throw error
  }
}

/** All that the key may see, the oldest first, page by page. `name`: the member of the answer that has them. */
async function* listResource<T>(
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
function once(connection: Connection): Connection {
  return { ...connection, retry: { ...connection.retry, attempts: 1 } }
}

function decoderOf<T>(isResource: Guard<T>): (value: unknown) => T | undefined {
  return (value) => (isResource(value) ? value : undefined)
}
