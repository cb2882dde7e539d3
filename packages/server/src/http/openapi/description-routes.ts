/** `GET /openapi.json` and `GET /docs`: the description of the service, for machines and for people (D21). Neither needs a key. */
import { answer, documentHeaders, notModified, openProblems } from './responses.ts'
import { success } from '../problem/problem.ts'
import type { Operation } from '../operation.ts'
import { documentCall } from './static-document.ts'
import type { StaticDocument, DocumentContext } from './static-document.ts'

export function openApi(context: DocumentContext, document: () => StaticDocument): Operation {
  return {
    method: 'GET',
    path: '/openapi.json',
    mediaType: 'application/json',
    access: undefined,
    schema: () => ({
      operationId: 'getOpenApi',
      summary: 'The OpenAPI document',
      description: 'This document. Needs no key.',
      tags: ['Description'],
      security: [],
      response: {
        [success.ok]: answer('The OpenAPI 3.1 document.', { type: 'object' }, documentHeaders),
        [success.notModified]: notModified(documentHeaders),
        ...openProblems(),
      },
    }),
    prepare: (target) => documentCall(context, target, document),
  }
}

export function docs(context: DocumentContext, document: () => StaticDocument): Operation {
  return {
    method: 'GET',
    path: '/docs',
    mediaType: 'text/html',
    access: undefined,
    schema: () => ({
      operationId: 'getDocs',
      summary: 'The reference, as a page',
      description:
        'Operations with samples, fields, code lists, problem codes and limits, on one page that loads nothing else. Needs no key.',
      tags: ['Description'],
      security: [],
      response: {
        [success.ok]: answer('The page.', { type: 'string' }, documentHeaders, 'text/html'),
        [success.notModified]: notModified(documentHeaders),
        ...openProblems(),
      },
    }),
    prepare: (target) => documentCall(context, target, document),
  }
}
