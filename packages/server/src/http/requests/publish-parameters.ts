/** What a publish request asks for beside its body: `dryRun` and `unchanged`. Our own route, so unknown names are faults. */
import type { ProblemError } from '@property-events/protocol'
import { quoteInput } from './echo-text.ts'
import { readQuery } from './query.ts'

export interface PublishParameters {
  readonly dryRun: boolean
  readonly unchanged: 'store' | 'skip'
}

export type PublishReading =
  | { readonly kind: 'parameters'; readonly parameters: PublishParameters }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

const allowedValues = { dryRun: ['true', 'false'], unchanged: ['store', 'skip'] } as const

export function readPublishParameters(queryText: string, maxParameters: number): PublishReading {
  const query = readQuery(queryText, { names: Object.keys(allowedValues), style: 'own', maxParameters })
  const errors: ProblemError[] = [...query.errors]
  for (const [parameter, allowed] of Object.entries(allowedValues)) {
    const value = query.values.get(parameter)
    if (value === undefined || allowed.some((candidate) => candidate === value)) continue
    const message = `${quoteInput(value)} is not allowed; ${parameter} is ${allowed.join(' or ')}.`
    errors.push({ parameter, code: 'unknown_value', message })
  }
  if (errors.length > 0) return { kind: 'faults', errors }
  return {
    kind: 'parameters',
    parameters: {
      dryRun: query.values.get('dryRun') === 'true',
      unchanged: query.values.get('unchanged') === 'skip' ? 'skip' : 'store',
    },
  }
}
