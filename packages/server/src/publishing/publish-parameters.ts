/** The query parameters of a publish request: `dryRun` and `unchanged`. The route is our own, so unknown names are faults. */
import type { ProblemError } from '@property-events/protocol'
import { quoteInput } from '../http/requests/echo-text.ts'
import { readQuery } from '../http/requests/query.ts'
import type { QueryReading } from '../http/requests/query.ts'

export interface PublishParameters {
  readonly dryRun: boolean
  readonly unchanged: 'store' | 'skip'
}

type PublishReading =
  | { readonly kind: 'parameters'; readonly parameters: PublishParameters }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

const allowedValues = { dryRun: ['true', 'false'], unchanged: ['store', 'skip'] } as const

type DryRunReading =
  | { readonly kind: 'parameters'; readonly dryRun: boolean }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

/** For operations that have no other parameter. */
export function readDryRun(queryText: string, maxParameters: number): DryRunReading {
  const query = readQuery(queryText, { names: ['dryRun'], style: 'own', maxParameters })
  const errors = [...query.errors, ...faultOf(query, 'dryRun')]
  if (errors.length > 0) return { kind: 'faults', errors }
  return { kind: 'parameters', dryRun: query.values.get('dryRun') === 'true' }
}

function faultOf({ values }: QueryReading, parameter: keyof typeof allowedValues): readonly ProblemError[] {
  const value = values.get(parameter)
  const allowed = allowedValues[parameter]
  if (value === undefined || allowed.some((candidate) => candidate === value)) return []
  const message = `${quoteInput(value)} is not allowed; ${parameter} must be ${allowed.join(' or ')}.`
  return [{ parameter, code: 'unknown_value', message }]
}

export function readPublishParameters(queryText: string, maxParameters: number): PublishReading {
  const query = readQuery(queryText, { names: Object.keys(allowedValues), style: 'own', maxParameters })
  const errors = [...query.errors, ...faultOf(query, 'dryRun'), ...faultOf(query, 'unchanged')]
  if (errors.length > 0) return { kind: 'faults', errors }
  return {
    kind: 'parameters',
    parameters: {
      dryRun: query.values.get('dryRun') === 'true',
      unchanged: query.values.get('unchanged') === 'skip' ? 'skip' : 'store',
    },
  }
}
