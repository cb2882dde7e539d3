/** The page at `/docs`: one static HTML text, no script, nothing loaded from anywhere. */
import { hash } from 'node:crypto'
import type { Headers } from '../exchange.ts'
import { problems } from '../problem.ts'
import type { Operation } from '../operations/operation.ts'
import type { ParameterSchemas } from './operation-schema.ts'

const style =
  'body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color-scheme:light dark}' +
  'code{font:0.9em ui-monospace,monospace}table{border-collapse:collapse;width:100%}' +
  'dl{margin:.4rem 0 0}dd{margin:0 0 0 1.5rem}' +
  'td,th{border-top:1px solid #8886;padding:.4rem .6rem;text-align:left;vertical-align:top}:target{background:#fc06}'

export interface DocsPage {
  readonly html: string
  /** Nothing may be loaded or run, and no form sent. */
  readonly headers: Headers
}

export function docsPage(operations: readonly Operation[], basePath: string): DocsPage {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Property Events</title><style>${style}</style></head><body>
<h1>Property Events</h1>
<p>Send your key in the header <code>x-api-key</code>. Machines read
<a href="${escapeHtml(basePath)}/openapi.json">openapi.json</a>.</p>
<h2>Operations</h2>
<table><tr><th>Operation</th><th>What it does</th></tr>
${operations.map((operation) => operationRow(operation, basePath)).join('\n')}
</table>
<h2>Problem codes</h2>
<table><tr><th>Code</th><th>Status</th><th>Meaning</th></tr>
${Object.entries(problems)
  .map(
    ([code, { status, detail }]) =>
      `<tr id="${escapeHtml(code)}"><td><code>${escapeHtml(code)}</code></td><td>${status}</td><td>${escapeHtml(detail)}</td></tr>`,
  )
  .join('\n')}
</table></body></html>
`
  const headers = {
    'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
  }
  return { html, headers }
}

function operationRow({ method, path, schema }: Operation, basePath: string): string {
  const shown = `${basePath}${path.replaceAll(/:([A-Za-z]+)/g, '{$1}')}`
  const { summary, description, params, querystring } = schema()
  const parameters = [params, querystring].flatMap(parametersOf)
  const list = parameters.length === 0 ? '' : `<dl>${parameters.join('')}</dl>`
  return `<tr><td><code>${method} ${escapeHtml(shown)}</code></td><td><strong>${prose(summary)}.</strong> ${prose(description)}${list}</td></tr>`
}

/** Name, default and meaning of each parameter. */
function parametersOf(schemas: ParameterSchemas | undefined): readonly string[] {
  return Object.entries(schemas?.properties ?? {}).map(([name, { default: preset, description }]) => {
    const shown = preset === undefined ? '' : ` (default ${escapeHtml(textOf(preset))})`
    return `<dt><code>${escapeHtml(name)}</code>${shown}</dt><dd>${prose(description)}</dd>`
  })
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Descriptions mark code with backticks, as Markdown does. */
function prose(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>')
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
