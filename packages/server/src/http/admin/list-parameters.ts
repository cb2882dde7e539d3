/** `limit` and `after` of the administration lists, and their answers. */
import { isKeyId } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import type { ParameterSchema } from '../openapi/operation-schema.ts'
import { quoteInput } from '../requests/echo-text.ts'

export interface ListParameters {
  readonly limit: number
  /** The place after which the list continues; 0 for its beginning. */
  readonly after: number
}

const defaultLimit = 50
export const mostOfList = 200

export const limitSchema: ParameterSchema = {
  type: 'integer',
  minimum: 1,
  maximum: mostOfList,
  default: defaultLimit,
  description: 'At most this many items.',
}

export const listSchemas = {
  limit: limitSchema,
  after: {
    type: 'string',
    pattern: '^[0-9a-z]{1,11}$',
    description: 'The `next` of the previous answer, unchanged.',
  },
} as const satisfies Readonly<Record<string, ParameterSchema>>

export function readListParameters(
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): ListParameters {
  return { limit: readLimit(values, errors), after: readPlace(values, errors) }
}

export function readLimit(values: ReadonlyMap<string, string>, errors: ProblemError[]): number {
  const text = values.get('limit')
  if (text === undefined) return defaultLimit
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= mostOfList) return Number(text)
  const message = `${quoteInput(text)} is not allowed; limit must be a whole number from 1 to ${mostOfList}, in digits.`
  errors.push({ parameter: 'limit', code: 'not_a_count', message })
  return defaultLimit
}

/** The parameter `key`; `undefined` for all keys. */
export function readKeyId(values: ReadonlyMap<string, string>, errors: ProblemError[]): string | undefined {
  const text = values.get('key')
  if (text === undefined || isKeyId(text)) return text
  const message = `${quoteInput(text)} is not the id of a key: the 12 letters and digits after pev_ in its text.`
  errors.push({ parameter: 'key', code: 'not_a_key_id', message })
  return undefined
}

function readPlace(values: ReadonlyMap<string, string>, errors: ProblemError[]): number {
  const text = values.get('after')
  if (text === undefined) return 0
  const place = /^[0-9a-z]{1,11}$/.test(text) ? Number.parseInt(text, 36) : Number.NaN
  if (Number.isSafeInteger(place)) return place
  const message = `${quoteInput(text)} is not a place in a list; send the "next" of the previous answer, unchanged.`
  errors.push({ parameter: 'after', code: 'not_a_place', message })
  return 0
}

/** `places`: of the items that were found, at most one more than the limit. */
export function listOf<Item extends { readonly place: number }, Shown>(
  found: readonly Item[],
  limit: number,
  show: (item: Item) => Shown,
): { readonly items: readonly Shown[]; readonly next: string | null } {
  const items = found.slice(0, limit)
  const last = found.length > limit ? items.at(-1) : undefined
  return { items: items.map(show), next: last === undefined ? null : last.place.toString(36) }
}
