/** `from`, `to` and `at` of our own operations: times in the forms that a list takes (PROTOCOL §3.1). */
import { millisecondsOfTicks, parseWindowBound, windowBoundPattern } from '@property-events/protocol'
import type { ProblemError, Ticks } from '@property-events/protocol'
import { quoteInput } from './echo-text.ts'

/** `at` is read as `to`. */
export type TimeParameter = 'from' | 'to' | 'at'

export const timeWords = 'a date or a time such as 2027-01-31 or 2027-01-31T09:30:00Z'

/** For the OpenAPI document. */
export function timeSchema(description: string) {
  return { type: 'string', pattern: windowBoundPattern, description, examples: ['2027-01-31'] } as const
}

/** For `to` and `at`, the first tick after what it includes. `undefined`: the parameter is missing, or noted as a fault. */
export function readTime(
  parameter: TimeParameter,
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): Ticks | undefined {
  const text = values.get(parameter)
  const ticks = text === undefined ? undefined : parseWindowBound(parameter === 'from' ? 'from' : 'to', text)
  if (text !== undefined && ticks === undefined) {
    const message = `${quoteInput(text)} is not a time; ${parameter} is ${timeWords}.`
    errors.push({ parameter, code: 'not_a_time', message })
  }
  return ticks
}

/** The same in milliseconds since 1970. */
export function readTimeMs(
  parameter: TimeParameter,
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): number | undefined {
  const ticks = readTime(parameter, values, errors)
  return ticks === undefined ? undefined : millisecondsOfTicks(ticks)
}

/** The last millisecond that `to` includes, or the first that `from` includes, for what is counted by the minute, hour or day. */
export function readTimeWithin(
  parameter: TimeParameter,
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): number | undefined {
  const ms = readTimeMs(parameter, values, errors)
  return ms === undefined || parameter === 'from' ? ms : ms - 1
}
