/** What erasures, holds and restrictions have in common: how a path names one of them, and how a list of them is paged. */
import { parseUuid } from '@property-events/protocol'
import { refused, uncachedJson } from './exchange.ts'
import type { Outcome, Refused } from './exchange.ts'
import { exampleIds } from '@property-events/protocol/example-ids'
import { uuidSchema } from './openapi/parameters.ts'
import { success } from './problem/problem.ts'
import { quoteInput } from './requests/echo-text.ts'
import { readQuery, refusalOfParameters } from './requests/query.ts'
import type { OperationTarget } from './operation.ts'
import type { ServiceLimits } from './limits.ts'

/** What lists need. */
export interface ListContext {
  readonly limits: ServiceLimits
}

/** A kind of thing that is listed. */
export interface Listed {
  /** One of them in a sentence: `a hold`. */
  readonly one: string
  /** The parameter with its id in a path: `holdId`. */
  readonly parameter: string
}

/** How many of them an answer has. */
export const listedPerPage = 100

/** The schema of a path that names one, by default by its `id`. */
export function idParams({ one, parameter }: Listed, member = '`id`') {
  const example = parameter === 'contactRef' ? exampleIds.contactRef : exampleIds.listedId
  const id = uuidSchema(`The ${member} of ${one}.`, example)
  return { type: 'object', properties: { [parameter]: id } } as const
}

/** The id in the path of a request that takes no parameters. */
export function readId(
  { query, params: [given = ''] }: OperationTarget,
  { one, parameter }: Listed,
  { limits }: ListContext,
): string | Refused {
  const refusal = refusalOfParameters(query, limits.maxParameters)
  if (refusal !== undefined) return refused(refusal)
  const id = parseUuid(given)
  if (id !== undefined) return id
  const message = `The id of ${one} must be a UUID: 8-4-4-4-12 hexadecimal digits.`
  return refused({ code: 'invalid_parameter', errors: [{ parameter, code: 'not_a_uuid', message }] })
}

/** The schema of a list's query. */
export const afterQuery = {
  type: 'object',
  properties: {
    after: { type: 'string', format: 'uuid', description: 'The id of the last one that was read.' },
  },
} as const

/** `including`: what a reader might not expect in the list. */
export function listDescription(including: string): string {
  return `At most ${listedPerPage}, the oldest first, ${including}. Ask again with \`after\` = \`next\` until \`next\` is null.`
}

/** The id after which a page of a list begins; `undefined` for the first page. */
export function readAfter(
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
  return errors.length > 0 ? refused({ code: 'invalid_parameter', errors }) : after
}

/**
 * A page of a list. `ids`: everything the store returned for it, including what this key may not see, so that the next page begins after
 * that.
 */
export function listAnswer(name: string, rows: readonly unknown[], ids: readonly string[]): Outcome {
  const next = ids.length < listedPerPage ? null : (ids.at(-1) ?? null)
  const body = JSON.stringify({ [name]: rows, next })
  return { kind: 'text', status: success.ok, headers: uncachedJson, body }
}
