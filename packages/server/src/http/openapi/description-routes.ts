/** `GET /openapi.json` and `GET /docs`: the description of the service, for machines and for people (D21). Neither needs a key. */
import { answer, documentHeaders, notModified, openProblems } from './responses.ts'
import { success } from '../problem/problem.ts'
import type { ProblemCode } from '../problem/problem.ts'
import type { Operation } from '../operation.ts'
import { withoutParameters } from '../requests/query.ts'
import { documentCall } from './static-document.ts'
import type { StaticDocument } from './static-document.ts'
import type { LimitsContext } from '../limits.ts'

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

export function openApi(context: LimitsContext, document: () => StaticDocument): Operation {
  return openOperation({
    path: '/openapi.json',
    mediaType: 'application/json',
    operationId: 'getOpenApi',
    summary: 'The OpenAPI document',
    description: 'This document. Needs no key.',
    ok: 'The OpenAPI 3.1 document.',
    prepare: withoutParameters(context.limits, () => documentCall(document)),
  })
}

export function docs(context: LimitsContext, document: () => StaticDocument): Operation {
  return openOperation({
    path: '/docs',
    mediaType: 'text/html',
    operationId: 'getDocs',
    summary: 'The reference, as a page',
    description:
      'Operations with samples, fields, code lists, problem codes and limits, on one page that loads nothing else. Needs no key.',
    ok: 'The page.',
    prepare: withoutParameters(context.limits, () => documentCall(document)),
  })
}
