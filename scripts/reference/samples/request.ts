/** The request that an operation is shown with, in every language. */
import type { OpenApi, Operation, Parameter } from '../openapi.ts'
import { sampleOf } from '../sample-value.ts'

export interface SampleRequest {
  readonly operationId: string
  readonly method: string
  /** With values in place of parameters, and with its query. */
  readonly target: string
  readonly needsKey: boolean
  readonly query: Readonly<Record<string, string>>
  readonly params: Readonly<Record<string, string>>
  /** `undefined`: the request has no body. */
  readonly body: unknown
}

/** The ids in the examples of `openapi.json`. */
export const ids = {
  event: '01946e3a-52f0-7c3b-9a61-5d2f0e8b7c11',
  property: '0d4b6a1e-58c5-4f0e-9a57-2b7c1f3d9e10',
  contact: '7c1d52aa-0b6e-4b0f-8f55-31c9f3f0a2b4',
  tenant: '2f6b0c1e-4a57-4c1f-9d3e-8a1b5c7d9e02',
  key: '5Rk2pQ7wX0aZ',
}

export function sampleRequest(document: OpenApi, operation: Operation): SampleRequest {
  const { operationId, method, path, parameters, requestBody } = operation
  const params = valuesOf(parameters, 'path', (name) => idFor(path, name))
  const query = queryOf(parameters)
  const asked = new URLSearchParams(query).toString()
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
  const schema = requestBody?.content['application/json']?.schema
  return {
    operationId,
    method,
    target: asked === '' ? filled : `${filled}?${asked}`,
    needsKey: operation.security.length > 0,
    query,
    params,
    // Where a list of publications is taken as well, one of them.
    body: schema === undefined ? undefined : sampleOf(document, schema),
  }
}

function idFor(path: string, name: string): string {
  if (name === 'tenantId') return ids.tenant
  if (name === 'keyId') return ids.key
  if (name === 'actor') return `key:${ids.key}`
  if (name === 'feed') return 'property'
  if (name === 'name') return 'website'
  if (path.includes('eventId')) return ids.event
  return path.includes('contact') ? ids.contact : ids.property
}

/** A page, or a run from the beginning: what a reader tries first. */
function queryOf(parameters: readonly Parameter[]): Readonly<Record<string, string>> {
  const names = new Set(parameters.map(({ name }) => name))
  return {
    ...(names.has('buckets') ? { from: '2026-01-01', to: '2026-12-31' } : {}),
    ...(names.has('page') ? { page: '1' } : {}),
    ...(names.has('pageSize') ? { pageSize: '50' } : {}),
    ...(names.has('limit') ? { ...(beginsAtZero(parameters) ? { after: '0' } : {}), limit: '50' } : {}),
    ...(names.has('text') ? { text: 'SW19' } : {}),
    // A stream begins somewhere.
    ...(names.has('last-event-id') ? { after: '0' } : {}),
  }
}

/** The places of some lists are ids or texts that the service makes, and those of lists with a window of time are no numbers either: they begin without one. */
function beginsAtZero(parameters: readonly Parameter[]): boolean {
  if (parameters.some(({ name }) => name === 'from')) return false
  return parameters.some(
    ({ name, schema }) => name === 'after' && schema?.format !== 'uuid' && schema?.pattern === undefined,
  )
}

function valuesOf(
  parameters: readonly Parameter[],
  place: Parameter['in'],
  valueOf: (name: string) => string,
) {
  return Object.fromEntries(
    parameters.filter((one) => one.in === place).map(({ name }) => [name, valueOf(name)]),
  )
}

/** Its answer goes on for minutes. */
export function isStream(operationId: string): boolean {
  return operationId.startsWith('stream')
}
