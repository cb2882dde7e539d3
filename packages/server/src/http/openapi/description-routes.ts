/** `GET /openapi.json` and `GET /docs`: the description of the service, for machines and for people (D21). Neither needs a key. */
import { answer, documentHeaders, notModified, openProblems } from './responses.ts'
import { success } from '../problem/problem.ts'
import type { ProblemCode } from '../problem/problem.ts'
import type { Operation } from '../operation.ts'
import { documentCall } from './static-document.ts'
import type { StaticDocument, DocumentContext } from './static-document.ts'
import { readFileSync } from 'node:fs'
import type { Headers } from '../exchange.ts'

interface OpenRoute extends Pick<Operation, 'path' | 'mediaType' | 'prepare'> {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  /** What its answer is. */
  readonly ok: string
  readonly problems?: readonly ProblemCode[]
}

/** Reads what everybody may read, and what is the same until the service is renewed. */
export function openOperation(route: OpenRoute): Operation {
  const { path, mediaType, prepare, operationId, summary, description, ok, problems = [] } = route
  const type = mediaType === 'application/json' ? 'object' : 'string'
  return {
    method: 'GET',
    path,
    mediaType,
    access: undefined,
    schema: () => ({
      operationId,
      summary,
      description,
      tags: ['Description'],
      security: [],
      response: {
        [success.ok]: answer(ok, { type }, documentHeaders, mediaType),
        [success.notModified]: notModified(documentHeaders),
        ...openProblems(...problems),
      },
    }),
    prepare,
  }
}

export function openApi(context: DocumentContext, document: () => StaticDocument): Operation {
  return openOperation({
    path: '/openapi.json',
    mediaType: 'application/json',
    operationId: 'getOpenApi',
    summary: 'The OpenAPI document',
    description: 'This document. Needs no key.',
    ok: 'The OpenAPI 3.1 document.',
    prepare: (target) => documentCall(context, target, document),
  })
}

export function docs(context: DocumentContext, document: () => StaticDocument): Operation {
  return openOperation({
    path: '/docs',
    mediaType: 'text/html',
    operationId: 'getDocs',
    summary: 'The reference, as a page',
    description:
      'Operations with samples, fields, code lists, problem codes and limits, on one page that loads nothing else. Needs no key.',
    ok: 'The page.',
    prepare: (target) => documentCall(context, target, document),
  })
}

interface ReferencePage {
  readonly html: string
  readonly headers: Headers
}

interface Policy {
  readonly style: readonly string[]
  readonly script: readonly string[]
}

/**
 * The page at `/docs`, as `npm run openapi` has written it (scripts/reference), with its policy for browsers. Reads the file instead of importing it: an imported file stays in memory, and the document is made once.
 */
export function readReferencePage(): ReferencePage {
  const policy: Policy = JSON.parse(readText('policy.json'))
  return {
    html: readText('page.html'),
    headers: {
      'content-security-policy': policyText(policy),
      'referrer-policy': 'no-referrer',
    },
  }
}

/**
 * The page may use its own style and scripts, identified by their hashes, and send requests to this service alone, for "try it". Nothing
 * else is loaded or run, no text becomes markup, no form is sent, and no other page shows it in a frame.
 */
function policyText({ style, script }: Policy): string {
  const hashes = (list: readonly string[]): string => list.map((hash) => `'${hash}'`).join(' ')
  return [
    `default-src 'none'`,
    `script-src ${hashes(script)}`,
    `style-src ${hashes(style)}`,
    'img-src data:',
    `connect-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    `require-trusted-types-for 'script'`,
    `trusted-types 'none'`,
  ].join('; ')
}

function readText(name: string): string {
  return readFileSync(new URL(`./reference/${name}`, import.meta.url), 'utf8')
}
