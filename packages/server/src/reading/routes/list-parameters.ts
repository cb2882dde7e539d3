/** What a list request asks for: `apiEventType`, `page`, `pageSize`, `from`, `to` (spec §4.1, D1, D2, D5), `current` (PROTOCOL §3.5). */
import { parseWindowBound } from '@property-events/protocol'
import type { FeedName, ProblemError, Ticks, ViewName } from '@property-events/protocol'
import type { ServiceLimits } from '../../http/limits.ts'
import { readApiEventType } from './cursor-parameters.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { readQuery } from '../../http/requests/query.ts'

export interface ListParameters {
  readonly view: ViewName
  readonly from?: Ticks
  readonly to?: Ticks
  readonly page: number
  readonly pageSize: number
  /** Left out: the key decides. */
  readonly current?: boolean
}

type ListReading =
  | { readonly kind: 'parameters'; readonly parameters: ListParameters; readonly ignored: readonly string[] }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[]; readonly ignored: readonly string[] }

const listParameterNames = ['apiEventType', 'page', 'pageSize', 'from', 'to', 'current'] as const

/** Page numbers have at most nine digits, so every product of page and size is exact. */
const maxPage = 999_999_999

export function readListParameters(queryText: string, feed: FeedName, limits: ServiceLimits): ListReading {
  const { maxParameters, maxPageSize, defaultPageSize } = limits
  const query = readQuery(queryText, { names: listParameterNames, style: 'spec', maxParameters })
  const errors: ProblemError[] = [...query.errors]
  const take = <Value>(
    name: (typeof listParameterNames)[number],
    read: (text: string) => Value | ProblemError,
  ) => {
    const text = query.values.get(name)
    if (text === undefined) return undefined
    const value = read(text)
    if (!isFault(value)) return value
    errors.push(value)
    return undefined
  }
  const view = take('apiEventType', (text) => readApiEventType(feed, text))
  const page = take('page', (text) => readCount('page', text, maxPage))
  const pageSize = take('pageSize', (text) => readCount('pageSize', text, maxPageSize))
  const from = take('from', (text) => readBound('from', text))
  const to = take('to', (text) => readBound('to', text))
  const current = take('current', readSwitch)
  if (from !== undefined && to !== undefined && from >= to) {
    const [begin, end] = [
      quoteInput(query.values.get('from') ?? ''),
      quoteInput(query.values.get('to') ?? ''),
    ]
    const remedy = 'swap them or leave one out.'
    const code = 'window_reversed'
    errors.push({ parameter: 'from', code, message: `${begin} is later than to, which is ${end}; ${remedy}` })
    errors.push({
      parameter: 'to',
      code,
      message: `${end} is earlier than from, which is ${begin}; ${remedy}`,
    })
  }
  if (current === true) errors.push(...windowFaults({ from, to }))
  if (errors.length > 0) return { kind: 'faults', errors, ignored: query.ignored }
  return {
    kind: 'parameters',
    ignored: query.ignored,
    parameters: {
      view: view ?? 'all',
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      page: page ?? 1,
      pageSize: pageSize ?? Math.min(defaultPageSize, maxPageSize),
      ...(current === undefined ? {} : { current }),
    },
  }
}

function isFault(value: unknown): value is ProblemError {
  return typeof value === 'object' && value !== null && 'message' in value
}

function readCount(parameter: 'page' | 'pageSize', text: string, maximum: number): number | ProblemError {
  if (/^[1-9][0-9]{0,8}$/.test(text) && Number(text) <= maximum) return Number(text)
  const message = `${quoteInput(text)} is not allowed; ${parameter} must be a whole number from 1 to ${maximum}, in digits.`
  return { parameter, code: 'not_a_count', message }
}

function readSwitch(text: string): boolean | ProblemError {
  if (text === 'true' || text === 'false') return text === 'true'
  const message = `${quoteInput(text)} is not allowed; current must be true or false.`
  return { parameter: 'current', code: 'not_a_switch', message }
}

/**
 * A list of current events is as of a moment: a client that polls it by time would miss what was published between that moment and its
 * answer (P3).
 */
export function windowFaults(window: {
  readonly from?: Ticks | undefined
  readonly to?: Ticks | undefined
}): readonly ProblemError[] {
  const { from, to } = window
  const given = [...(from === undefined ? [] : ['from']), ...(to === undefined ? [] : ['to'])]
  const message =
    'A list of current events has no window of time. Leave it out, or ask for all events with current=false.'
  return given.map((parameter) => ({ parameter, code: 'not_with_current', message }))
}

function readBound(parameter: 'from' | 'to', text: string): Ticks | ProblemError {
  const ticks = parseWindowBound(parameter, text)
  if (ticks !== undefined) return ticks
  const form =
    'write a date that exists as YYYY-MM-DD, YYYY-MM-DD HH:mm or YYYY-MM-DD HH:mm:ss.ff, in UTC or with an offset such as +01:00'
  const message = `${quoteInput(text)} is not a time this service reads; ${form}${hintFor(text)}.`
  return { parameter, code: 'not_a_time', message }
}

/** The most likely meaning of a refused bound. */
function hintFor(text: string): string {
  if (/^\d{9,16}$/.test(text)) return '. Unix times are not read'
  if (/\d:\d\d.*[+ -]\d\d?:?\d{0,2}$/.test(text))
    return '. An offset is written +01:00, without a space before it'
  if (/^\d{4}-\d\d-\d\d(?:z|[+ -]\d\d(?::?\d\d)?)$/i.test(text))
    return '. An offset or Z needs a time of day before it'
  return ''
}
