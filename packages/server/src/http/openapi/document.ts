/** The OpenAPI 3.1 document: its head, and how the route table becomes its paths. Nothing here runs before the document is requested. */
import { scopes } from '@property-events/protocol'
import { isAnyScope, isOfAny } from '../access.ts'
import type { AccessNeed } from '../access.ts'
import { takesTenant } from '../operation.ts'
import type { Operation } from '../operation.ts'
import { tenantHeaderParameter, tenantQueryParameter } from '../requests/tenant-choice.ts'
import type { HeaderSchema, ParameterSchema, ParameterSchemas, ResponseSchema } from './operation-schema.ts'
import { capital } from './responses.ts'
import { readNamedSchemas } from './schemas.ts'
import { mapValues, shareParts } from './shared-parts.ts'
import type { DocumentedOperation } from './shared-parts.ts'
import { webhooksObject } from './webhooks.ts'

/** The headers that any operation with such a need may be sent, besides those of its schema. */
type HeadersOf = (access: AccessNeed | undefined) => readonly ParameterSchemas[]

/** The document's text, as committed and as served. */
export function openApiText(
  operations: readonly Operation[],
  basePath: string,
  headersOf: HeadersOf,
): string {
  const { paths, components } = shareParts(pathsOf(operations, headersOf))
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Property Events',
      version: '1.0.0',
      description:
        'Feeds of property and contact events: list, fetch and publish. Every answer carries `x-request-id`; every error is a `Problem`.',
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'An opaque key, issued by the operator.',
        },
      },
      schemas: readNamedSchemas(),
      ...components,
    },
    paths,
    webhooks: webhooksObject,
    // Programs that import a collection look for the key here, and not at each operation.
    security: [{ apiKey: [] }],
    servers: serversOf(basePath),
    tags: [
      { name: 'Reading', description: 'The two operations of each feed.' },
      {
        name: 'Copying',
        description: 'Reads that this service adds to the contract, for keeping a copy in step.',
      },
      { name: 'Publishing', description: 'Putting events into a feed.' },
      {
        name: 'Erasing',
        description:
          'Erasures, which take payloads out of a feed for good, and their receipts; holds, which prevent them; restrictions, which keep a contact and hide it.',
      },
      {
        name: 'Webhooks',
        description: 'Addresses to which the events of a feed are posted, and what became of each try.',
      },
      {
        name: 'Administration',
        description:
          'Tenants, keys, the audit, and a look at feeds: for operator keys, and for keys with `tenant:inspect` or `tenant:manage` within their tenant.',
      },
      { name: 'Description', description: 'About the service itself; no key is needed.' },
    ],
  }
  return `${JSON.stringify(document)}\n`
}

/**
 * Paths are in the document without the base path: the servers' URLs carry it. The first is for tools that read the document from a file,
 * or take no relative address; the second for those that know where they got it.
 */
function serversOf(basePath: string) {
  const origin = {
    default: 'http://127.0.0.1:8080',
    description: 'Scheme, host and port of the service.',
  }
  return [
    { url: `{origin}${basePath}`, description: 'The service, by its address.', variables: { origin } },
    { url: basePath === '' ? '/' : basePath, description: 'The service that this document came from.' },
  ]
}

function pathsOf(
  operations: readonly Operation[],
  headersOf: HeadersOf,
): Record<string, Record<string, DocumentedOperation>> {
  const paths: Record<string, Record<string, DocumentedOperation>> = {}
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:([A-Za-z]+)/g, '{$1}')
    const described = operationObject(operation, headersOf)
    const head = operation.method === 'GET' ? { head: headOf(described) } : {}
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described, ...head }
  }
  return paths
}

/** HEAD works wherever GET does, with the same statuses and headers (D9). */
function headOf(operation: ReturnType<typeof operationObject>): ReturnType<typeof operationObject> {
  return {
    ...operation,
    operationId: `head${capital(operation.operationId)}`,
    summary: `${operation.summary}: headers only`,
    responses: mapValues(operation.responses, (response) => ({ ...response, content: undefined })),
  }
}

function operationObject({ path, schema, access, deprecation }: Operation, headersOf: HeadersOf) {
  const { operationId, summary, tags, description, security, body, response, querystring, params, headers } =
    schema()
  const parameters = [
    ...parametersOf('query', querystring),
    ...parametersOf('query', takesTenant({ path, access }) ? tenantQueryParameter : undefined),
    ...parametersOf('path', params),
    ...parametersOf('header', headers),
    ...parametersOf('header', access === undefined ? undefined : tenantHeaderParameter),
    ...headersOf(access).flatMap((parameters) => parametersOf('header', parameters)),
  ]
  return {
    operationId,
    summary,
    tags,
    description,
    ...(deprecation === undefined ? {} : { deprecated: true }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: body.content } }),
    ...(parameters.length === 0 ? {} : { parameters }),
    security,
    ...(access === undefined ? {} : { 'x-scopes': scopesOf(access) }),
    responses: mapValues(response, responseObject),
  }
}

/** The scopes of which a key needs any one. */
function scopesOf({ scope, orScope }: AccessNeed): readonly string[] {
  if (scope === 'anyKey') return []
  if (isAnyScope(scope)) return scopes.filter((one) => isOfAny(scope, one))
  return orScope === undefined ? [scope] : [scope, orScope]
}

function parametersOf(place: 'query' | 'path' | 'header', schemas: ParameterSchemas | undefined) {
  return Object.entries(schemas?.properties ?? {}).map(([name, parameter]: [string, ParameterSchema]) => {
    const { description, examples: [example] = [], ...schema } = parameter
    const shown = example === undefined ? {} : { example }
    const required = place === 'path' || schemas?.required?.includes(name) === true
    return { schema, ...shown, in: place, name, required, description }
  })
}

function responseObject({ description, headers, content }: ResponseSchema) {
  return { description, headers: mapValues(headers, headerObject), content }
}

function headerObject({ description, ...schema }: HeaderSchema): object {
  return { schema, description }
}
