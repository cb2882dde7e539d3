/** Parameters of our own reads (PROTOCOL §11, §13): `after`, `limit`, `epoch`, `head`, `apiEventType`, `types`, `wait`, `changes`. Strict (D19). */
import {
  feedNames,
  feeds,
  nearestName,
  parseUuid,
  uuidRemedy,
  standardCode,
  viewOfApiEventType,
} from '@property-events/protocol'
import type { EventTypeCatalogue, FeedName, ProblemError, ViewName } from '@property-events/protocol'
import type { CursorRefusal } from '../run.ts'
import type { TypeFilter } from '../representation/type-filter.ts'
import { typeFilter } from '../representation/type-filter.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { Refusal } from '../../http/problem/problem.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { readQuery } from '../../http/requests/query.ts'
import type { ParametersReading } from '../../http/requests/query.ts'
import { invalidParameters } from '../../http/exchange.ts'
import type { ParameterSchema } from '../../http/openapi/operation-schema.ts'
import { apiEventTypeSchema } from '../../http/openapi/parameters.ts'

type CursorName = 'after' | 'limit' | 'epoch' | 'head' | 'apiEventType' | 'types' | 'wait' | 'changes'

interface CursorParameters {
  readonly after: number
  readonly limit: number
  readonly epoch: string | undefined
  readonly head: number | undefined
  readonly view: ViewName
  /** `undefined`: events of all types. */
  readonly types: TypeFilter | undefined
  /** Seconds; `undefined`: the answer comes at once. */
  readonly wait: number | undefined
  /** Whether each event says what it changed. */
  readonly changes: boolean
}

export interface CursorRules {
  readonly limits: Pick<ServiceLimits, 'maxParameters' | 'maxPageSize'>
  /** Of the store. */
  readonly catalogue: EventTypeCatalogue
}

/** Proxies close connections that are silent for a minute, many already after half of that. */
const longestWaitSeconds = 30

/** Reads the parameters that the operation has; it does not know the others, which keep their defaults. */
export function readCursorParameters(
  queryText: string,
  names: readonly CursorName[],
  feed: FeedName,
  { limits, catalogue }: CursorRules,
): ParametersReading<CursorParameters> {
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
  const changes = query.values.get('changes') ?? 'false'
  if (changes !== 'true' && changes !== 'false') {
    const message = `${quoteInput(changes)} is not allowed; changes must be true or false.`
    errors.push({ parameter: 'changes', code: 'unknown_value', message })
  }
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
  if (typeof view !== 'string') return invalidParameters(...errors, view)
  const types = readTypes(query.values.get('types'), feed, catalogue)
  if ('message' in types) return invalidParameters(...errors, types)
  if (typeof wait === 'object') errors.push(wait)
  if (typeof wait === 'object' || errors.length > 0) return invalidParameters(...errors)
  const parameters = { after, limit, epoch, head, view, types: types.filter, wait }
  return { kind: 'parameters', parameters: { ...parameters, changes: changes === 'true' } }
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
  const own =
    feed === 'property' ? 'To make one from your own reference, use `property-events reference`' : ''
  const remedy = uuidRemedy(text, own)
  const message = `${shown} is not a UUID: 8-4-4-4-12 hexadecimal digits, without braces or prefix.${remedy && ` ${remedy}.`}`
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

/** `types`: short codes of events, separated by commas (PROTOCOL §13.4). */

/** `undefined`: events of all types. Each code is one of the store's, in its spelling. */
function readTypes(
  text: string | undefined,
  feed: FeedName,
  catalogue: EventTypeCatalogue,
): { readonly filter: TypeFilter | undefined } | ProblemError {
  if (text === undefined) return { filter: undefined }
  const known = Object.keys(catalogue[feed])
  const codes = text.split(',')
  const unknown = codes.find((code) => !known.includes(code))
  if (unknown === undefined) return { filter: typeFilter(feed, codes) }
  const nearest = nearestName(unknown, known)
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  const message = `${quoteInput(unknown)} is not a short code of this feed.${meant} Allowed: ${known.join(', ')}; put commas between several.`
  return { parameter: 'types', code: 'unknown_type', message }
}

/** The view that `apiEventType` asks for, or what is wrong with it (D1). */
export function readApiEventType(feed: FeedName, text: string): ViewName | ProblemError {
  const view = viewOfApiEventType(feed, text)
  if (view !== undefined) return view
  const allowed = Object.keys(feeds[feed].apiEventTypes)
  const letters = text.toLowerCase().replaceAll(/[ _-]/g, '')
  const nearest =
    allowed.find((one) => letters !== '' && one.startsWith(letters)) ??
    categoryMeant(letters, allowed) ??
    nearestName(letters, allowed)
  const meant = nearest === undefined ? listOfOther(feed, text) : ` Did you mean ${nearest}?`
  const message = `${quoteInput(text)} is not an event type of this feed; allowed: ${allowed.join(', ')}.${meant}`
  return { parameter: 'apiEventType', code: 'unknown_value', message }
}

/** For `rental`, `to let` or `for sale`. */
function categoryMeant(letters: string, allowed: readonly string[]): string | undefined {
  const [, lettings, sales] = /^(?:to)?(let|rent)|^(?:for)?(sale|buy)/.exec(letters) ?? []
  const begins = lettings === undefined ? (sales === undefined ? undefined : 'sales') : 'lettings'
  return begins === undefined ? undefined : allowed.find((one) => one.startsWith(begins))
}

/** Where the events are that another feed has under this name; after a blank. */
function listOfOther(feed: FeedName, text: string): string {
  const other = feedNames.find((name) => name !== feed && viewOfApiEventType(name, text) !== undefined)
  if (other === undefined) return ''
  return ` Events of the ${other} feed are listed with GET ${feeds[other].eventsPath}/getevents.`
}

/** The cursor parameters that an operation has. */
export function cursorSchemas(
  names: readonly CursorName[],
  feed: FeedName,
  limits: ServiceLimits,
): Readonly<Record<string, ParameterSchema>> {
  const whole = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
  const schemas: Readonly<Record<CursorName, ParameterSchema>> = {
    after: { ...whole, default: 0, description: 'Only events with a greater sequenceNumber.' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: limits.maxPageSize,
      default: limits.maxPageSize,
      description: 'At most this many events.',
    },
    epoch: {
      type: 'string',
      pattern: '^[0-9A-Za-z]{1,64}$',
      description:
        'The epoch that `after` was read in. If the feed has left it, the answer is `epoch_changed`.',
    },
    head: { ...whole, description: 'The `head` of a snapshot that was cut off, to continue it.' },
    apiEventType: apiEventTypeSchema(feed),
    types: typesSchema(feed),
    wait: waitSchema('an event to report'),
    changes: {
      type: 'boolean',
      default: false,
      description: 'With `true`, each event says what it changed since the one before.',
    },
  }
  return Object.fromEntries(names.map((name) => [name, schemas[name]]))
}

/** The store decides the codes, and a document is made without a store. */
function typesSchema(feed: FeedName): ParameterSchema {
  const appeared = standardCode(feed, 'appeared')
  const gone = standardCode(feed, 'gone')
  return {
    type: 'string',
    pattern: '^[A-Za-z][A-Za-z0-9]{0,63}(?:,[A-Za-z][A-Za-z0-9]{0,63})*$',
    description: `Only events with these short codes, with commas between them, such as \`${appeared}\`. Removals (\`${gone}\`) are always included. Left out: all.`,
    examples: [appeared],
  }
}

export function waitSchema(what: string): ParameterSchema {
  return {
    type: 'integer',
    minimum: 1,
    maximum: longestWaitSeconds,
    description: `Seconds for which the answer may wait until there is ${what}. Left out: it does not wait.`,
  }
}
