/** Makes the collection for HTTP clients (format 2.1, which most of them import) of `openapi.json`. The same input makes the same bytes. */
import type { OpenApi, Operation, Parameter } from './openapi.ts'
import { operationsOf } from './openapi.ts'
import { sampleRequest } from './samples/request.ts'

const format = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** A folder for each tag of the document, and in it a request for each operation; address and key are variables. */
export function collectionText(openApiText: string): string {
  const document: OpenApi = JSON.parse(openApiText)
  const operations = operationsOf(document)
  const collection = {
    info: {
      name: 'Property Events',
      description:
        'Set the variables `url` and `key` first. The key goes into the header `x-api-key` of every request that needs one.',
      schema: format,
    },
    auth: {
      type: 'apikey',
      apikey: [setting('key', 'x-api-key'), setting('value', '{{key}}'), setting('in', 'header')],
    },
    variable: [
      { key: 'url', value: 'http://127.0.0.1:8080' },
      { key: 'key', value: '' },
    ],
    item: document.tags.map(({ name, description }) => ({
      name,
      description,
      item: operations.filter(({ tags }) => tags.includes(name)).map((one) => requestOf(document, one)),
    })),
  }
  return `${JSON.stringify(collection, null, 2)}\n`
}

const setting = (key: string, value: string) => ({ key, value, type: 'string' })

function requestOf(document: OpenApi, operation: Operation) {
  const { method, path, summary, description, parameters } = operation
  const { query, params, body, needsKey } = sampleRequest(document, operation)
  const segments = path
    .slice(1)
    .replaceAll(/\{(\w+)\}/g, ':$1')
    .split('/')
  const asked = parametersIn(parameters, 'query').map(({ name, description: text, example }) => ({
    key: name,
    value: query[name] ?? textOf(example),
    description: text,
    ...(Object.hasOwn(query, name) ? {} : { disabled: true }),
  }))
  const used = new URLSearchParams(query).toString()
  const raw = ['{{url}}', ...segments].join('/')
  return {
    name: summary,
    request: {
      method,
      description,
      ...(needsKey ? {} : { auth: { type: 'noauth' } }),
      header: body === undefined ? [] : [{ key: 'content-type', value: 'application/json' }],
      url: {
        raw: used === '' ? raw : `${raw}?${used}`,
        host: ['{{url}}'],
        path: segments,
        ...(asked.length === 0 ? {} : { query: asked }),
        ...(Object.keys(params).length === 0
          ? {}
          : { variable: Object.entries(params).map(([key, value]) => ({ key, value })) }),
      },
      ...(body === undefined
        ? {}
        : {
            body: {
              mode: 'raw',
              raw: JSON.stringify(body, null, 2),
              options: { raw: { language: 'json' } },
            },
          }),
    },
  }
}

/** Examples of parameters are texts, numbers and booleans. */
function textOf(example: unknown): string {
  return typeof example === 'string' ? example : example === undefined ? '' : JSON.stringify(example)
}

function parametersIn(parameters: readonly Parameter[], place: Parameter['in']): readonly Parameter[] {
  return parameters.filter((one) => one.in === place)
}
