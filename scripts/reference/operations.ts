/** One operation: what it does, what it takes, what it answers, and how to ask it in three languages. */
import { catalogues } from '../../packages/protocol/src/event-types.ts'
import { code, block, escapeHtml, link, prose, rows } from './html.ts'
import type { Row } from './html.ts'
import { schemaNamed } from './openapi.ts'
import type { OpenApi, Operation, Parameter, Schema, StatusResponse } from './openapi.ts'
import { codesIn } from './problems.ts'
import { sampleOf } from './sample-value.ts'
import { curlSample } from './samples/curl.ts'
import { phpSample } from './samples/php.ts'
import { ids, sampleRequest } from './samples/request.ts'
import type { SampleRequest } from './samples/request.ts'
import { typescriptSample } from './samples/typescript.ts'
import { limitsText, typeText, wordOf } from './schemas.ts'
import type { FieldLinks } from './schemas.ts'

/** In the order in which they are offered. */
export const languages = {
  curl: { name: 'curl', sample: curlSample },
  typescript: { name: 'TypeScript', sample: typescriptSample },
  php: { name: 'PHP', sample: phpSample },
} as const

export interface OperationContext {
  readonly document: OpenApi
  readonly fields: FieldLinks
  /** Codes that every operation with a key can answer, which are listed once. */
  readonly common: ReadonlySet<string>
}

export function operationHtml(operation: Operation, context: OperationContext): string {
  const { operationId, method, path, summary, description, deprecated } = operation
  const request = sampleRequest(context.document, operation)
  const body =
    request.body === undefined ? '' : ` data-body="${escapeHtml(JSON.stringify(request.body, null, 2))}"`
  const ended = deprecated === true ? '<p><strong>Deprecated.</strong> Its end has been announced.</p>' : ''
  return `<section id="${operationId}" class="operation" data-method="${method}" data-path="${escapeHtml(path)}"${body}>
<div>
<h3>${link(operationId, escapeHtml(summary))}</h3>
<p class="route"><span class="${method.toLowerCase()}">${method}</span> <code>${pathHtml(path)}</code></p>
${ended}<p>${prose(description, context.fields.links)}</p>
${needHtml(operation)}
${parametersHtml(operation, request, context)}
${bodyHtml(operation)}
<h4>Answers</h4>
${answersHtml(operation, context)}
</div>
<div class="samples">
${Object.entries(languages)
  .map(([language, { name, sample }]) => block(sample(request), name, language))
  .join('\n')}
${answerSample(operation, context.document)}
</div>
</section>`
}

/** A long path may break after each slash. */
function pathHtml(path: string): string {
  return escapeHtml(path).replaceAll(/(?<=.)\//g, '<wbr>/')
}

function needHtml({ security, 'x-scopes': scopes = [], headId }: Operation): string {
  const key =
    security.length === 0
      ? 'Needs no key.'
      : `Needs a ${link('authentication', 'key')} with ${scopes.map(code).join(' or ')}.`
  const head =
    headId === undefined ? '' : ` <span id="${headId}"><code>HEAD</code> gives the headers alone.</span>`
  return `<p class="need">${key}${head}</p>`
}

function parametersHtml(
  { operationId, parameters }: Operation,
  request: SampleRequest,
  context: OperationContext,
): string {
  if (parameters.length === 0) return ''
  const list = parameters.map((parameter) => parameterRow(operationId, parameter, request, context))
  return `<h4>Parameters</h4>\n${rows(list)}`
}

const places = { query: 'query', path: 'path', header: 'header' } as const

function parameterRow(
  operationId: string,
  { name, in: place, required, description, schema, example }: Parameter,
  { query, params }: SampleRequest,
  { fields }: OperationContext,
): Row {
  const preset = schema.default === undefined ? '' : ` · default ${code(wordOf(schema.default))}`
  const shown =
    example === undefined || schema.enum !== undefined ? '' : ` For example ${code(wordOf(example))}.`
  const sample = params[name] ?? query[name] ?? ''
  const type = schema.enum === undefined ? `${String(schema.type)}${limitsText(schema)}` : typeText(schema)
  return {
    anchor: `${operationId}.${name}`,
    name: code(name),
    kind: `${places[place]} · ${type}${preset}${required ? ' · <b>required</b>' : ''}`,
    text: prose(description, fields.links) + shown,
    attributes: ` data-in="${place}" data-name="${escapeHtml(name)}" data-value="${escapeHtml(sample)}"`,
  }
}

function bodyHtml({ requestBody }: Operation): string {
  if (requestBody === undefined) return ''
  const bodies = Object.entries(requestBody.content).map(
    ([mediaType, { schema }]) => `<p>${code(mediaType)}: ${typeText(schema)}.</p>`,
  )
  return `<h4>Body</h4>\n${bodies.join('\n')}`
}

function answersHtml(operation: Operation, { common, fields }: OperationContext): string {
  const answers = operation.responses.filter(({ status }) => status < 400)
  const own = operation.responses.flatMap(({ status, description }) => {
    const names = codesIn(description).filter((name) => operation.security.length === 0 || !common.has(name))
    return names.length === 0 ? [] : [`${status} ${names.map((name) => link(name, code(name))).join(', ')}`]
  })
  const list: Row[] = answers.map((answer) => ({
    anchor: undefined,
    name: `<code>${answer.status}</code>`,
    kind: contentText(answer),
    text: `${prose(answer.description, fields.links)} ${headersText(answer)}`,
  }))
  const shared = operation.security.length === 0 ? '' : `those of ${link('every-request', 'every request')}`
  const text = [own.join('; '), shared].filter((part) => part !== '').join('; and ')
  return rows([
    ...list,
    { anchor: undefined, name: 'Problems', kind: link('Problem', 'Problem'), text: `${text}.` },
  ])
}

function contentText({ content }: StatusResponse): string {
  return Object.entries(content)
    .map(([mediaType, { schema }]) => (schema.$ref === undefined ? escapeHtml(mediaType) : typeText(schema)))
    .join(', ')
}

function headersText({ headers }: StatusResponse): string {
  return headers.length === 0
    ? ''
    : `<small>Headers: ${headers.map((name) => link(`header-${name}`, name)).join(', ')}.</small>`
}

/** The first answer with something in it. */
function answerSample(operation: Operation, document: OpenApi): string {
  const answers = operation.responses.filter(
    ({ status, content }) => status < 300 && Object.keys(content).length > 0,
  )
  // A dry run is answered with 200, what is usual with the other one.
  const answer = operation.method === 'GET' ? answers[0] : (answers.at(-1) ?? answers[0])
  const [first] = Object.entries(answer?.content ?? {})
  const empty = operation.responses.find(({ status }) => status < 300)
  if (answer === undefined || first === undefined) {
    return empty === undefined ? '' : block('An answer without a body.', `Answer ${empty.status}`)
  }
  const [mediaType, { schema }] = first
  return block(answerText(document, operation, mediaType, schema), `Answer ${answer.status}`)
}

function answerText(document: OpenApi, operation: Operation, mediaType: string, schema: Schema): string {
  if (mediaType === 'application/x-ndjson') {
    const end = { end: true, head: 1, epoch: '1', revision: 0, events: 1 }
    const event = ofItsFeed(document, operation, sampleOf(document, schemaNamed(document, 'FeedEvent')))
    return [event, end].map((line) => JSON.stringify(line)).join('\n')
  }
  if (mediaType === 'text/html') return '<!doctype html>\n…'
  if (operation.path === '/openapi.json') {
    const { openapi, info } = document
    return `${JSON.stringify({ openapi, info }, null, 2).slice(0, -2)},\n  …\n}`
  }
  return JSON.stringify(ofItsFeed(document, operation, sampleOf(document, schema)), null, 2)
}

/** The examples of `openapi.json` are of properties; where an operation reads contacts, they become contacts. */
function ofItsFeed(document: OpenApi, { path }: Operation, sample: unknown): unknown {
  if (!path.includes('contact')) return sample
  const payload = sampleOf(document, schemaNamed(document, 'ContactPayload'))
  const contact = {
    eventType: catalogues.default.contact['ContactCreated'],
    eventTypeShortCode: 'ContactCreated',
    payload: JSON.stringify(payload),
    transactionId: ids.contact,
  }
  const changed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(changed)
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value).map(([name, member]) => [name, changed(member)] as const)
    const own = 'eventTypeShortCode' in value ? Object.entries(contact).filter(([name]) => name in value) : []
    return { ...Object.fromEntries(members), ...Object.fromEntries(own) }
  }
  return changed(sample)
}
