/** The page as a whole: its contents and its sections, in one file with its style and its scripts. */
import { codeLists, codeListsHtml, eventTypesHtml, fieldCodes, listAnchor } from './code-lists.ts'
import { code, escapeHtml, link } from './html.ts'
import type { Links } from './html.ts'
import { headersOf, lastOf, operationsOf } from './openapi.ts'
import type { OpenApi, Operation, Schema } from './openapi.ts'
import { operationHtml } from './operations.ts'
import type { OperationContext } from './operations.ts'
import { commonCodes, problemCodes, problemsHtml } from './problems.ts'
import { schemaHtml } from './schemas.ts'
import type { FieldLinks } from './schemas.ts'
import { authenticationHtml, copyHtml, headersHtml, limitsHtml, orderingHtml, startHtml } from './topics.ts'
import { warnings, warningsHtml } from './warnings.ts'

export interface PageParts {
  readonly document: OpenApi
  readonly style: string
  readonly scripts: readonly string[]
}

interface Section {
  readonly anchor: string
  readonly title: string
  /** Entries below it in the contents. */
  readonly entries: readonly (readonly [anchor: string, html: string])[]
  readonly html: string
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%230b7261' d='M8 1 1 7v8h5v-5h4v5h5V7z'/%3E%3C/svg%3E"

export function pageHtml({ document, style, scripts }: PageParts): string {
  const sections = sectionsOf(document)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Property Events reference</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
</head>
<body>
<a class="skip" href="#start">Skip to the text</a>
<header><a class="brand" href="#start">Property Events <span>reference</span></a></header>
<nav aria-label="Contents">
${sections.map(contentsHtml).join('\n')}
</nav>
<main>
<h1>Property Events reference</h1>
${sections.map(({ anchor, title, html }) => `<section id="${anchor}"><h2>${link(anchor, escapeHtml(title))}</h2>\n${html}\n</section>`).join('\n')}
</main>
${scripts.map((script) => `<script type="module">${script}</script>`).join('\n')}
</body>
</html>
`
}

function contentsHtml({ anchor, title, entries }: Section): string {
  const inner = entries.map(([place, html]) => `<li>${link(place, html)}</li>`).join('\n')
  const list = entries.length === 0 ? '' : `\n<ul>\n${inner}\n</ul>`
  return `<p>${link(anchor, escapeHtml(title))}</p>${list}`
}

function sectionsOf(document: OpenApi): readonly Section[] {
  const operations = operationsOf(document)
  const links = linksOf(document)
  const codes = fieldCodes(document)
  const context = { document, fields: { document, links, codes }, common: commonCodes(operations) }
  const topic = (anchor: string, title: string, html: string): Section => ({
    anchor,
    title,
    entries: [],
    html,
  })
  const payload = (anchor: string, title: string, root: string): Section =>
    schemasSection(anchor, title, partsOf(document, root), context.fields)
  const properties = partsOf(document, 'PropertyPayload')
  const contacts = partsOf(document, 'ContactPayload')
  const others = Object.keys(document.components.schemas).filter(
    (name) => !properties.includes(name) && !contacts.includes(name),
  )
  return [
    topic('start', 'Start here', startHtml()),
    topic('authentication', 'Keys', authenticationHtml(links)),
    topic('ordering', 'Order', orderingHtml(links)),
    topic('copying', 'Keeping a copy', `<div class="operation">${copyHtml()}</div>`),
    ...document.tags.map((tag) => operationsSection(tag, operations, context)),
    schemasSection('schemas', 'Events, answers, requests', others, context.fields),
    topic(
      'event-types',
      'Event types',
      `<p>Which numbers a service uses is fixed when its store is created. A client should decide by the short code.</p>\n${eventTypesHtml()}`,
    ),
    payload('property', 'Property payload', 'PropertyPayload'),
    payload('contact', 'Contact payload', 'ContactPayload'),
    {
      anchor: 'codes',
      title: 'Code lists',
      entries: codeLists().map((list) => [listAnchor(list), escapeHtml(list.name)]),
      html: `<p>A code that is in no list is stored and passed on as it is, and a publisher is warned of it. The client and the PHP files have these names.</p>\n${codeListsHtml(codes)}`,
    },
    topic('problems', 'Problems', problemsSection(context)),
    topic(
      'warnings',
      'Warnings',
      `<p>A value that is merely doubtful is stored. The receipt has a ${link('PublishWarning', 'warning')} for it, with one of these codes; there can be more later.</p>\n${warningsHtml(links)}`,
    ),
    topic('limits', 'Limits', limitsHtml(links)),
    topic('headers', 'Headers of answers', headersHtml(document, links)),
  ]
}

function operationsSection(
  { name, description }: OpenApi['tags'][number],
  operations: readonly Operation[],
  context: OperationContext,
): Section {
  const own = operations.filter(({ tags }) => tags[0] === name)
  return {
    anchor: `tag-${name}`,
    title: name,
    entries: own.map(({ operationId, method, summary }) => [
      operationId,
      `<span class="${method.toLowerCase()}">${method}</span> ${escapeHtml(summary)}`,
    ]),
    html: `<p>${escapeHtml(description)}</p>\n${own.map((operation) => operationHtml(operation, context)).join('\n')}`,
  }
}

function schemasSection(
  anchor: string,
  title: string,
  names: readonly string[],
  fields: FieldLinks,
): Section {
  return {
    anchor,
    title,
    entries: names.map((name) => [name, escapeHtml(name)]),
    html: names.map((name) => schemaHtml(name, fields)).join('\n'),
  }
}

function problemsSection({ fields, common }: OperationContext): string {
  return `<p>Every refusal has a ${link('Problem', 'problem document')} for a body (RFC 9457, sent as <code>application/json</code>). Decide by <code>code</code>
and <code>status</code>, which are stable, and not by the texts. <code>requestId</code> names the request in the log of the service.</p>
<p id="every-request">Every request with a key can be refused with ${[...common].map((name) => link(name, code(name))).join(', ')}.</p>
${problemsHtml(fields.links)}`
}

/** A schema and the named parts of it, each once, in the order in which a reader meets them. */
function partsOf(document: OpenApi, root: string): readonly string[] {
  const found = new Set<string>()
  const visit = (name: string): void => {
    if (found.has(name)) return
    found.add(name)
    for (const part of referencesIn(document.components.schemas[name] ?? {})) visit(part)
  }
  visit(root)
  return [...found]
}

function referencesIn(schema: Schema): readonly string[] {
  if (schema.$ref !== undefined) return [lastOf(schema.$ref)]
  const inner = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [schema.items]),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
  ]
  return inner.flatMap(referencesIn)
}

/** The words that descriptions have in backticks and this page has a place for. */
function linksOf(document: OpenApi): Links {
  return new Map([
    ...Object.keys(document.components.schemas).map((name) => [name, name] as const),
    ...[...headersOf(document).keys()].map((name) => [name, `header-${name}`] as const),
    ...problemCodes().map((name) => [name, name] as const),
    ...Object.keys(warnings).map((name) => [name, `warning-${name}`] as const),
    ['RateLimit', 'header-ratelimit'],
    ['Retry-After', 'header-retry-after'],
    ['x-api-key', 'authentication'],
  ])
}
