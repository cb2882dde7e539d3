/** Parameters, headers and refusals that several operations share, each described once and referred to. */
import { STATUS_CODES } from '../../runtime/node-http.ts'
import { capital } from './responses.ts'

/** The part of a document that matters for sharing. */
export interface DocumentedOperation {
  readonly operationId: string
  readonly [member: string]: unknown
  readonly parameters?: readonly NamedParameter[]
  readonly responses: Readonly<Record<string, DocumentedResponse>>
}

interface NamedParameter {
  readonly name: string
}

interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: object | undefined
}

type DocumentedPaths = Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>

/** The paths with references in place of repeated parts, and the components that they refer to. */
export function shareParts(paths: DocumentedPaths) {
  const headers = sharedParts('headers', (operation) =>
    Object.values(operation.responses).flatMap((response) =>
      Object.entries(response.headers ?? {}).map(([name, header]) => [[nameOf(name)], header] as const),
    ),
  )(paths)
  const withHeaders = mapOperations(paths, (operation) => ({
    ...operation,
    responses: mapValues(operation.responses, (response) => ({
      ...response,
      ...(response.headers && { headers: mapValues(response.headers, headers.refer) }),
    })),
  }))
  const responses = sharedParts('responses', (operation) =>
    Object.entries(operation.responses)
      .filter(([status]) => Number(status) >= 300)
      .map(([status, response]) => [[nameOfResponse(status, response)], response] as const),
  )(withHeaders)
  const parameters = sharedParts('parameters', ({ operationId, parameters: given = [] }) => {
    const [feed = ''] = /Property|Contact/.exec(operationId) ?? []
    return given.map(
      (parameter) => [[nameOf(parameter.name), feed + nameOf(parameter.name)], parameter] as const,
    )
  })(withHeaders)
  return {
    paths: mapOperations(withHeaders, (operation) => ({
      ...operation,
      ...(operation.parameters && { parameters: operation.parameters.map(parameters.refer) }),
      responses: mapValues(operation.responses, responses.refer),
    })),
    components: { parameters: parameters.named, headers: headers.named, responses: responses.named },
  }
}

/**
 * Names each part that several operations share. If different parts want the same name, the first gets it; the others get their next
 * choice, or a number after the name.
 */
function sharedParts(
  kind: string,
  partsOf: (operation: DocumentedOperation) => readonly (readonly [readonly string[], object])[],
) {
  return (paths: DocumentedPaths) => {
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
    const uses = new Map<string, { count: number; readonly wanted: readonly string[] }>()
    for (const operation of operations) {
      for (const [wanted, part] of partsOf(operation)) {
        const text = JSON.stringify(part)
        const known = uses.get(text)
        if (known === undefined) uses.set(text, { count: 1, wanted })
        else known.count += 1
      }
    }
    const named: Record<string, unknown> = {}
    const refs = new Map<string, string>()
    for (const [text, { count, wanted }] of uses) {
      if (count < 2) continue
      const numbered = Array.from({ length: uses.size }, (_, index) => `${wanted[0]}${index + 2}`)
      const name = [...wanted, ...numbered].find((candidate) => !(candidate in named)) ?? ''
      named[name] = JSON.parse(text)
      refs.set(text, `#/components/${kind}/${name}`)
    }
    const refer = <Part extends object>(part: Part): Part | { readonly $ref: string } => {
      const ref = refs.get(JSON.stringify(part))
      return ref === undefined ? part : { $ref: ref }
    }
    return { named, refer }
  }
}

/** `x-feed-min-sequence` → `FeedMinSequence`. */
function nameOf(name: string): string {
  return name.replace(/^x-/, '').split('-').map(capital).join('')
}

/** `404` → `NotFound`, and without a body, as HEAD has it, `NotFoundToHead`. */
function nameOfResponse(status: string, { content }: DocumentedResponse): string {
  const phrase = (STATUS_CODES[status] ?? status).replaceAll(/[^A-Za-z]/g, '')
  return Number(status) >= 400 && content === undefined ? `${phrase}ToHead` : phrase
}

function mapOperations<Changed>(
  paths: DocumentedPaths,
  change: (operation: DocumentedOperation) => Changed,
): Record<string, Record<string, Changed>> {
  return mapValues(paths, (methods) => mapValues(methods, change))
}

export function mapValues<Value, Changed>(
  values: Readonly<Record<string, Value>>,
  change: (value: Value) => Changed,
): Record<string, Changed> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))
}
