/**
 * Reads query strings strictly, without a framework (D1, D2, D5, D19): frameworks turn `0x10` into 16, `1e309` into Infinity, keep the
 * last of a repeated name and drop names they do not know.
 */
import { feeds, nearestName } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import { noHeaders, invalidParameters } from '../exchange.ts'
import type { Headers, Refused } from '../exchange.ts'
import type { Call, Operation, OperationTarget } from '../operation.ts'
import { namesForHeader, quoteInput } from './echo-text.ts'

export interface QueryRules {
  /** Names the operation knows, in their documented spelling. */
  readonly names: readonly string[]
  /** `spec`: names match without regard to case and unknown ones are ignored; `own`: unknown ones are faults (D19). */
  readonly style: 'spec' | 'own'
  readonly maxParameters: number
}

export interface QueryReading {
  /** By documented name; each at most once. */
  readonly values: ReadonlyMap<string, string>
  /** Unknown names of a spec route, decoded, in order. */
  readonly ignored: readonly string[]
  readonly errors: readonly ProblemError[]
}

const nothingRead: QueryReading = { values: new Map(), ignored: [], errors: [] }

export function readQuery(text: string, rules: QueryRules): QueryReading {
  if (text === '') return nothingRead
  const values = new Map<string, string>()
  const ignored: string[] = []
  const errors: ProblemError[] = []
  const parts = text.split('&').filter((part) => part !== '')
  if (parts.length > rules.maxParameters) {
    const message = `The query has ${parts.length} parameters; at most ${rules.maxParameters} are allowed.`
    return { values, ignored, errors: [{ code: 'too_many_parameters', message }] }
  }
  for (const part of parts) {
    const equals = part.indexOf('=')
    const name = decode(equals === -1 ? part : part.slice(0, equals))
    const value = decode(equals === -1 ? '' : part.slice(equals + 1))
    if (name === undefined || value === undefined) {
      const message = `${quoteInput(part)} is not percent-encoded UTF-8. Write %25 for the character % itself.`
      errors.push({
        ...(name === undefined ? {} : { parameter: shownName(name) }),
        code: 'invalid_encoding',
        message,
      })
      continue
    }
    const known = rules.names.find((candidate) => sameName(candidate, name, rules.style))
    if (known === undefined) {
      if (rules.style === 'spec') ignored.push(name)
      else errors.push(unknownParameter(name, rules.names))
    } else if (values.has(known)) {
      errors.push({
        parameter: known,
        code: 'repeated',
        message: 'It was sent more than once; send it once.',
      })
    } else values.set(known, value)
  }
  return { values, ignored, errors }
}

/** What a request asks for. */
export type ParametersReading<Parameters> =
  | { readonly kind: 'parameters'; readonly parameters: Parameters }
  | Refused

/** The parameters of one of our own operations (D19). `read` notes what is wrong with their values. */
export function readParameters<Parameters>(
  text: string,
  names: readonly string[],
  { maxParameters }: Pick<QueryRules, 'maxParameters'>,
  read: (values: QueryReading['values'], errors: ProblemError[]) => Parameters,
): ParametersReading<Parameters> {
  const query = readQuery(text, { names, style: 'own', maxParameters })
  const errors = [...query.errors]
  const parameters = read(query.values, errors)
  if (errors.length > 0) return invalidParameters(...errors)
  return { kind: 'parameters', parameters }
}

/** For one of our own operations that takes no parameters (D19). `prepare` is given those of its path. */
export function withoutParameters(
  limits: Pick<QueryRules, 'maxParameters'>,
  prepare: (params: OperationTarget['params']) => Call,
): Operation['prepare'] {
  return ({ query, params }) => {
    const reading = readParameters(query, [], limits, () => undefined)
    return reading.kind === 'refused' ? () => reading : prepare(params)
  }
}

/** The header that names the ignored parameters (D19). */
export function ignoredParameters(names: readonly string[]): Headers {
  return names.length === 0 ? noHeaders : { 'x-ignored-parameters': namesForHeader(names) }
}

function decode(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function sameName(known: string, given: string, style: QueryRules['style']): boolean {
  return known === given || (style === 'spec' && known.toLowerCase() === given.toLowerCase())
}

function shownName(name: string): string {
  return quoteInput(name).slice(1, -1)
}

function unknownParameter(name: string, names: readonly string[]): ProblemError {
  const nearest = nearestName(name, names)
  const known = names.length === 0 ? 'It has none.' : `Allowed: ${names.join(', ')}.`
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  const one =
    nearest === undefined && /^(?:id$|subject|agent|propert|listing|contact)/i.test(name)
      ? oneSubject(names)
      : ''
  const message = `Not a parameter of this operation.${meant} ${known}${one}`
  return { parameter: shownName(name), code: 'unknown_parameter', message }
}

/** For a list that is asked for one subject alone. */
function oneSubject(names: readonly string[]): string {
  if (!names.includes('after')) return ''
  const [property, contact] = [feeds.property.subjectsPath, feeds.contact.subjectsPath]
  return ` One alone is read with GET ${property}/{agent_ref} or GET ${contact}/{contact_ref}.`
}
