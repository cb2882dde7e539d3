/** Documents made once, when they are first asked for: the OpenAPI document and the page about it. */
import type { HttpContext } from '../context.ts'
import { refused } from '../exchange.ts'
import type { Headers } from '../exchange.ts'
import { contentTag, tagMatches } from '../requests/entity-tag.ts'
import { refusalOfParameters } from '../requests/query.ts'
import { sharedBody } from './answers.ts'
import type { Call, OperationTarget } from './operation.ts'

export interface StaticDocument {
  readonly bytes: Buffer
  readonly etag: string
  /** Of a 304 too, but for the media type. */
  readonly headers: Headers
  readonly mediaType: string
}

export function staticDocument(mediaType: string, text: string, headers: Headers = {}): StaticDocument {
  const bytes = Buffer.from(text)
  const etag = contentTag(bytes, 'identity')
  return { bytes, etag, headers: { 'cache-control': 'no-cache', ...headers }, mediaType }
}

/** Makes it at the first call and keeps it. What fails is tried again at the next call. */
export function madeOnce(make: () => StaticDocument): () => StaticDocument {
  let document: StaticDocument | undefined
  return () => (document ??= make())
}

/** Answers with the document, or 304. Our own operations take no parameter they do not know (D19). */
export function documentCall(
  { limits }: Pick<HttpContext, 'limits'>,
  { query }: OperationTarget,
  document: () => StaticDocument,
): Call {
  const refusal = refusalOfParameters(query, limits.maxParameters)
  if (refusal !== undefined) return () => refused(refusal)
  return (request) => {
    const { bytes, etag, headers, mediaType } = document()
    if (tagMatches(request.header('if-none-match'), etag)) {
      return { kind: 'notModified', headers, etag, feed: undefined }
    }
    return {
      kind: 'pieces',
      headers: { 'content-type': mediaType, ...headers },
      etag,
      feed: undefined,
      body: sharedBody(bytes),
      coding: 'identity',
    }
  }
}
