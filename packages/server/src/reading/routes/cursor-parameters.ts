/** Parameters of our own reads (PROTOCOL §11, §13): `after`, `limit`, `epoch`, `head`, `apiEventType`, `types`, `wait`. Strict (D19). */
import { parseUuid } from '@property-events/protocol'
import type { EventTypeCatalogue, FeedName, ProblemError, ViewName } from '@property-events/protocol'
import type { CursorRefusal } from '../run.ts'
import type { TypeFilter } from '../representation/type-filter.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { Refusal } from '../../http/problem/problem.ts'
import { readApiEventType } from './api-event-type.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { readQuery } from '../../http/requests/query.ts'
import { readTypes } from './types-parameter.ts'

export type CursorName = 'after' | 'limit' | 'epoch' | 'head' | 'apiEventType' | 'types' | 'wait'

export interface CursorParameters {
  readonly after: number
  readonly limit: number
  readonly epoch: string | undefined
  readonly head: number | undefined
  readonly view: ViewName
  /** `undefined`: events of all types. */
  readonly types: TypeFilter | undefined
  /** Seconds; `undefined`: the answer comes at once. */
  readonly wait: number | undefined
}

export interface CursorRules {
  readonly limits: Pick<ServiceLimits, 'maxParameters' | 'maxPageSize'>
  /** Of the store. */
  readonly catalogue: EventTypeCatalogue
}

/** Proxies close connections that are silent for a minute, many already after half of that. */
export const longestWaitSeconds = 30

export type CursorReading =
  | { readonly kind: 'parameters'; readonly parameters: CursorParameters }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

/** Reads the parameters that the operation has; it does not know the others, which keep their defaults. */
export function readCursorParameters(
  queryText: string,
  names: readonly CursorName[],
  feed: FeedName,
  { limits, catalogue }: CursorRules,
): CursorReading {
  const query = readQuery(queryText, { names, style: 'own', maxParameters: limits.maxParameters })
  const errors: ProblemError[] = [...query.errors]
  const number = (name: CursorName, least: number, most: number): number | undefined => {
    const read = readCount(name, query.values.get(name), least, most)
    if (typeof read !== 'object') return read
    errors.push(read)
    return undefined
  }
  const after = number('after', 0, Number.MAX_SAFE_INTEGER) ?? 0
  const head = number('head', 0, Number.MAX_SAFE_INTEGER)
  const wait = readWait(query.values.get('wait'))
  const limit = number('limit', 1, limits.maxPageSize) ?? limits.maxPageSize
  const epoch = query.values.get('epoch')
  if (epoch !== undefined && !/^[0-9A-Za-z]{1,64}$/.test(epoch)) {
    const message = `${quoteInput(epoch)} is not an epoch; give it as an answer named it in "epoch" or x-feed-epoch.`
    errors.push({ parameter: 'epoch', code: 'not_an_epoch', message })
  }
  if (head !== undefined && after > head) {
    const message = `after ${after} is greater than head ${head}: there is nothing in between.`
    errors.push({ parameter: 'after', code: 'behind_head', message })
  }
  const type = query.values.get('apiEventType')
  const view = type === undefined ? 'all' : readApiEventType(feed, type)
  if (typeof view !== 'string') return { kind: 'faults', errors: [...errors, view] }
  const types = readTypes(query.values.get('types'), feed, catalogue)
  if ('message' in types) return { kind: 'faults', errors: [...errors, types] }
  if (typeof wait === 'object') errors.push(wait)
  if (typeof wait === 'object' || errors.length > 0) return { kind: 'faults', errors }
  return { kind: 'parameters', parameters: { after, limit, epoch, head, view, types: types.filter, wait } }
}

/** A number in digits; `undefined` if it is missing. */
function readCount(
  name: CursorName,
  text: string | undefined,
  least: number,
  most: number,
): number | undefined | ProblemError {
  if (text === undefined) return undefined
  if (/^(?:0|[1-9]\d{0,15})$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
  const message = `${quoteInput(text)} is not allowed; ${name} must be a whole number from ${least} to ${most}, in digits.`
  return { parameter: name, code: 'not_a_count', message }
}

/** The seconds for which an answer may wait; `undefined` if it does not wait. */
export function readWait(text: string | undefined): number | undefined | ProblemError {
  return readCount('wait', text, 1, longestWaitSeconds)
}

/** Whether a request waits for events. */
export function hasWait(query: string): boolean {
  return /(?:^|&)wait=/.test(query)
}

/** The subject in a path, in lower case; a fault if it is not a UUID (D8, D16), which repeats no contact's reference (D18). */
export function readSubject(
  given: string | undefined,
  feed: FeedName,
): { readonly subjectId: string } | ProblemError {
  const text = given ?? ''
  const subjectId = parseUuid(text)
  if (subjectId !== undefined) return { subjectId }
  const shown = feed === 'contact' ? 'The reference' : quoteInput(text)
  const remedy =
    feed === 'property' ? ' To make one from your own reference, use `property-events reference`.' : ''
  const message = `${shown} is not a UUID: 8-4-4-4-12 hexadecimal digits, without braces or prefix.${remedy}`
  return { parameter: 'subjectId', code: 'not_a_uuid', message }
}

/** The refusal of a cursor that cannot be continued. */
export function refusalOfCursor(refused: CursorRefusal): Refusal {
  if (refused.kind === 'unknownFeed') return { code: 'key_disabled' }
  const { epoch, sequenceNumber } = refused.head
  if (refused.kind === 'epochChanged') {
    const detail = `The feed is in epoch ${epoch}, its last number is ${sequenceNumber}. Start again with a snapshot.`
    return { code: 'epoch_changed', detail }
  }
  const detail = `The feed's last number is ${sequenceNumber}. Its store was restored, or the number is from another feed: start again with a snapshot.`
  return { code: 'cursor_beyond_head', detail }
}
