/**
 * Resources that are listed page by page. A tenant's keys add, list, read and end erasures, restrictions, holds and the like: these operations
 * are whole here, and a feature says what is its own: words, schemas, and what its store does. The lists of administration have `limit`,
 * `items` and filters of their own, so `listBy` gives them the parameters and the page.
 */
import { parseUuid } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import { exampleIds } from '@property-events/protocol/example-ids'
import type { SchemaName } from '@property-events/protocol/wire'
import type { Access } from './access.ts'
import { uncachedAnswer, invalidParameters } from './exchange.ts'
import type { Outcome, Refused } from './exchange.ts'
import type { ServiceLimits } from './limits.ts'
import { keyedOperation } from './keyed-operation.ts'
import type { RouteWords } from './keyed-operation.ts'
import type { ParameterSchema } from './openapi/operation-schema.ts'
import { uuidSchema } from './openapi/parameters.ts'
import type { Operation, OperationTarget } from './operation.ts'
import { quoteInput } from './requests/echo-text.ts'
import { readQuery, withoutParameters } from './requests/query.ts'
import { withReadBody } from './requests/read-body.ts'
import type { BodyContext } from './requests/read-body.ts'
import type { BodyReading } from './requests/body-members.ts'

/** What lists need. */
export interface ListContext {
  readonly limits: ServiceLimits
}

/** How a path names one thing of a kind. */
export interface Named {
  /** One of them in a sentence: `a hold`. */
  readonly one: string
  /** The parameter with its id in a path: `holdId`. */
  readonly parameter: string
}

/** A kind of thing that a tenant's keys list. */
export interface Listed extends Named {
  /** Of the list. */
  readonly path: string
  readonly scope: 'anyErase' | 'contact:erase'
  /** What the id of one is called, if not `id`. */
  readonly idName?: string
}

/** A page of a list, in the order of the ids. */
interface ListPage {
  readonly rows: readonly object[]
  /** Everything the store returned, including what this key may not see, so that the next page begins after that. */
  readonly ids: readonly string[]
}

/** How many of them an answer has. */
export const listedPerPage = 100

/** The path parameters that name one. */
export function idParams({ one, parameter }: Named, member = '`id`') {
  const example = parameter === 'contactRef' ? exampleIds.contactRef : exampleIds.listedId
  const id = uuidSchema(`The ${member} of ${one}.`, example)
  return { type: 'object', properties: { [parameter]: id } } as const
}

/** The id in a path. */
export function readId([given = '']: readonly string[], { one, parameter }: Named): string | Refused {
  const id = parseUuid(given)
  if (id !== undefined) return id
  const message = `The id of ${one} must be a UUID: 8-4-4-4-12 hexadecimal digits, with hyphens.`
  return invalidParameters({ parameter, code: 'not_a_uuid', message })
}

/** `including`: what a reader might not expect in the list. */
export function listDescription(including: string): string {
  return `At most ${listedPerPage}, the oldest first, so that what is added later comes last, ${including}. Ask again with \`after\` = \`next\` until \`next\` is null.`
}

/** `POST` of a small JSON body. */
export function addOperation<Body>(
  context: ListContext & BodyContext,
  things: Listed,
  given: RouteWords & {
    readonly body: SchemaName
    readonly read: (text: string) => BodyReading<Body>
    readonly answer: (access: Access, body: Body) => Promise<Outcome>
  },
): Operation {
  return keyedOperation({
    ...given,
    ...common(things),
    problems: ['subject_not_found', ...(given.problems ?? [])],
    method: 'POST',
    prepare: withoutParameters(
      context.limits,
      () => (request, access) =>
        withReadBody(context, { request, access }, given.read, (body) => given.answer(access, body)),
    ),
  })
}

/** An operation on the one that its path names: reads it, or with a verb at the end of the path does something to it. */
export function idOperation(
  context: ListContext,
  things: Listed,
  given: RouteWords & {
    /** `undefined`: the operation is a `GET`. */
    readonly verb?: string
    readonly answer: (access: Access, id: string) => Promise<Outcome>
  },
): Operation {
  const { verb } = given
  const path = `${things.path}/:${things.parameter}`
  return keyedOperation({
    ...given,
    ...common(things),
    params: idParams(things, things.idName),
    method: verb === undefined ? 'GET' : 'POST',
    path: verb === undefined ? path : `${path}/${verb}`,
    prepare: withoutParameters(context.limits, (params) => {
      const id = readId(params, things)
      return typeof id === 'string' ? (_request, access) => given.answer(access, id) : () => id
    }),
  })
}

/** The list, page by page, under the name that its schema gives it. */
export function listOperation(
  context: ListContext,
  things: Listed,
  given: RouteWords & {
    readonly name: string
    /** `after`: the id after which the page begins; `undefined` for the first page. */
    readonly page: (access: Access, after: string | undefined) => Promise<ListPage | Refused>
  },
): Operation {
  return keyedOperation({
    ...given,
    ...common(things),
    query: afterQuery,
    method: 'GET',
    prepare(target) {
      const after = readAfter(target, things, context)
      if (typeof after === 'object') return () => after
      return async (_request, access) => {
        const page = await given.page(access, after)
        if ('refusal' in page) return page
        const next = page.ids.length < listedPerPage ? null : (page.ids.at(-1) ?? null)
        return uncachedAnswer({ [given.name]: page.rows, next })
      }
    },
  })
}

function common({ path, scope }: Listed) {
  return { path, scope, tag: 'Erasing' } as const
}

const afterQuery = {
  type: 'object',
  properties: {
    after: { type: 'string', format: 'uuid', description: 'The id of the last one that was read.' },
  },
} as const

function readAfter(
  { query }: OperationTarget,
  { one }: Listed,
  { limits: { maxParameters } }: ListContext,
): string | undefined | Refused {
  const reading = readQuery(query, { names: ['after'], style: 'own', maxParameters })
  const text = reading.values.get('after')
  const after = text === undefined ? undefined : parseUuid(text)
  const errors = [...reading.errors]
  if (text !== undefined && after === undefined) {
    const message = `${quoteInput(text)} is not the id of ${one}, a UUID.`
    errors.push({ parameter: 'after', code: 'not_a_uuid', message })
  }
  return errors.length > 0 ? invalidParameters(...errors) : after
}

/** How `after` and `next` of a list of administration name a row. */
export interface RowCursor<Cursor> {
  /** Of its text, in the document. */
  readonly form: { readonly format: 'uuid' } | { readonly pattern: string }
  readonly parse: (text: string) => Cursor | undefined
  readonly format: (cursor: Cursor) => string
}

export const idCursor: RowCursor<string> = {
  form: { format: 'uuid' },
  parse: parseUuid,
  format: (id) => id,
}

export const positionCursor: RowCursor<number> = {
  form: { pattern: '^[0-9a-z]{1,11}$' },
  parse(text) {
    const position = /^[0-9a-z]{1,11}$/.test(text) ? Number.parseInt(text, 36) : Number.NaN
    return Number.isSafeInteger(position) ? position : undefined
  },
  format: (position) => position.toString(36),
}

const defaultLimit = 50
const maxLimit = 200
export const limitSchema: ParameterSchema = {
  type: 'integer',
  minimum: 1,
  maximum: maxLimit,
  default: defaultLimit,
  description: 'At most this many items.',
}

/** `limit`, `after` and a page of one list of administration, for its operation to put together with what else it takes and answers. */
export function listBy<Cursor>({ form, parse, format }: RowCursor<Cursor>) {
  const after: ParameterSchema = {
    type: 'string',
    ...form,
    description: 'The `next` of the previous answer, unchanged.',
  }
  const parseAfter = (values: ReadonlyMap<string, string>, errors: ProblemError[]): Cursor | undefined => {
    const text = values.get('after')
    const cursor = text === undefined ? undefined : parse(text)
    if (text !== undefined && cursor === undefined) {
      const message = `${quoteInput(text)} is not a place in this list; send the "next" of the previous answer, unchanged and with the same parameters.`
      errors.push({ parameter: 'after', code: 'not_a_place', message })
    }
    return cursor
  }
  return {
    query: { limit: limitSchema, after },
    /** Alone, for a list without `limit`. */
    parseAfter,
    read: (values: ReadonlyMap<string, string>, errors: ProblemError[]) => {
      return { limit: readLimit(values, errors), after: parseAfter(values, errors) }
    },
    /** `found`: at most one more than the limit, if there are more. */
    page: <Row>(found: readonly Row[], most: number, cursorOf: (row: Row) => Cursor) => {
      const items = found.slice(0, most)
      const last = found.length > most ? items.at(-1) : undefined
      return { items, next: last === undefined ? null : format(cursorOf(last)) }
    },
  } as const
}

/** Alone, for a list that is not continued with `after`. */
export function readLimit(values: ReadonlyMap<string, string>, errors: ProblemError[]): number {
  const text = values.get('limit')
  if (text === undefined) return defaultLimit
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= maxLimit) return Number(text)
  const message = `${quoteInput(text)} is not allowed; limit must be a whole number from 1 to ${maxLimit}, in digits.`
  errors.push({ parameter: 'limit', code: 'not_a_count', message })
  return defaultLimit
}
