/** Makes the page at `/docs` of `openapi.json`, the code lists and the problem codes. The same input makes the same bytes. */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import type { OpenApi } from './openapi.ts'
import { pageHtml } from './page.ts'

export interface ReferenceFiles {
  readonly html: string
  /** What the page may run and be styled by, as a Content-Security-Policy names it. */
  readonly policy: string
}

/** Each is one module of the page. They share nothing but the page. */
const scripts = ['address', 'contents', 'languages', 'samples', 'search', 'try-it'] as const

export function referenceFiles(openApiText: string): ReferenceFiles {
  const document: OpenApi = JSON.parse(openApiText)
  const style = lean(readFileSync(join(import.meta.dirname, 'page.css'), 'utf8'))
  const code = scripts.map((name) => scriptOf(join(import.meta.dirname, 'browser', `${name}.ts`)))
  const policy = {
    style: [sourceOf(style)],
    script: code.map(sourceOf),
  }
  return {
    html: pageHtml({ document, style, scripts: code }),
    policy: `${JSON.stringify(policy, null, 2)}\n`,
  }
}

/** A script without its types and without indentation. */
function scriptOf(path: string): string {
  const text = lean(stripTypeScriptTypes(readFileSync(path, 'utf8')))
  if (/<\/script|<!--/i.test(text)) throw new Error(`${path} would end its own element`)
  return text
}

/** Without comments of whole lines, indentation and empty lines. No text of the sources begins a line with one of these signs. */
function lean(text: string): string {
  return text
    .replaceAll(/^\s*\/\*[\s\S]*?\*\/\s*$/gm, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n\s*/g, '\n')
    .trim()
}

function sourceOf(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`
}
