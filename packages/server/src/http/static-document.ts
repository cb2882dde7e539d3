/** Documents made once, when they are first asked for: the OpenAPI document and the page about it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpContext } from './context.ts'
import { contentTag, tagMatches } from './entity-tag.ts'
import { success } from './problem.ts'
import { refusalOfParameters } from './query.ts'
import { sendProblem } from './send.ts'
import { queryText } from './target.ts'

export interface StaticDocument {
  readonly mediaType: string
  readonly bytes: Buffer
  readonly tag: string
  readonly headers: Readonly<Record<string, string>>
}

export function staticDocument(
  mediaType: string,
  text: string,
  headers: StaticDocument['headers'] = {},
): StaticDocument {
  const bytes = Buffer.from(text)
  return { mediaType, bytes, tag: contentTag(bytes, 'identity'), headers }
}

/** Makes it at the first call and keeps it. What fails is tried again at the next call. */
export function madeOnce(make: () => StaticDocument): () => StaticDocument {
  let document: StaticDocument | undefined
  return () => (document ??= make())
}

/** Answers with the document, or 304. Our own routes take no parameter they do not know (D19). */
export function sendDocument(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  document: StaticDocument,
): FastifyReply {
  const refusal = refusalOfParameters(queryText(request.originalUrl), context.limits.maxParameters)
  if (refusal !== undefined) return sendProblem(request, reply, context.basePath, refusal)
  reply.headers({ 'cache-control': 'no-cache', etag: document.tag, ...document.headers })
  if (tagMatches(request.headers['if-none-match'], document.tag)) {
    return reply.code(success.notModified).send()
  }
  return reply.header('content-type', document.mediaType).code(success.ok).send(document.bytes)
}
