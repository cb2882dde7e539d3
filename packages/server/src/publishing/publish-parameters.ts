/** The query parameters of a publish request: `dryRun` and `unchanged`. The route is our own, so unknown names are faults. */
import type { ProblemError } from '@property-events/protocol'
import { quoteInput } from '../http/requests/echo-text.ts'
import { readParameters } from '../http/requests/query.ts'
import type { ParametersReading, QueryReading, QueryRules } from '../http/requests/query.ts'

export interface PublishParameters {
  readonly dryRun: boolean
  readonly unchanged: 'store' | 'skip'
}

const allowedValues = { dryRun: ['true', 'false'], unchanged: ['store', 'skip'] } as const

export function readPublishParameters(
  queryText: string,
  limits: Pick<QueryRules, 'maxParameters'>,
): ParametersReading<PublishParameters> {
  return readParameters(queryText, Object.keys(allowedValues), limits, (values, errors) => ({
    dryRun: readChoice('dryRun', values, errors) === 'true',
    unchanged: readChoice('unchanged', values, errors) === 'skip' ? 'skip' : 'store',
  }))
}

/** For operations that have no other parameter. */
export function readDryRun(
  queryText: string,
  limits: Pick<QueryRules, 'maxParameters'>,
): ParametersReading<boolean> {
  return readParameters(queryText, ['dryRun'], limits, (values, errors) => {
    return readChoice('dryRun', values, errors) === 'true'
  })
}

function readChoice(
  parameter: keyof typeof allowedValues,
  values: QueryReading['values'],
  errors: ProblemError[],
): string | undefined {
  const value = values.get(parameter)
  const allowed = allowedValues[parameter]
  if (value !== undefined && !allowed.some((candidate) => candidate === value)) {
    const message = `${quoteInput(value)} is not allowed; ${parameter} must be ${allowed.join(' or ')}.`
    errors.push({ parameter, code: 'unknown_value', message })
  }
  return value
}
