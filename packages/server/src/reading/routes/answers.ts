/** Answers that several operations share, and their cache headers. */
import { ownBody } from '../../http/answer-body.ts'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import type { Delivered } from '../../consumers/read-ranges.ts'
import type { Disclosure } from '../../privacy/disclosure/disclosure.ts'
import { nothingDelivered } from '../../consumers/delivered.ts'
import type { ContentCoding, PageBody } from '../../http/answer-body.ts'
import { mapMaybePromise } from '../../runtime/map-maybe-promise.ts'
import { noHeaders } from '../../http/exchange.ts'
import type { Answer, Headers, Request } from '../../http/exchange.ts'
import { tagMatches } from '../../http/requests/entity-tag.ts'

export type PiecesAnswer = Extract<Answer, { kind: 'pieces' }>

const gzipAsync = promisify(gzip)

/** Which caches may keep an answer, and that they must validate it before use: totals change with every publication. */
export const cacheHeaders: Headers = {
  'cache-control': 'private, no-cache',
  vary: 'x-api-key, x-tenant, accept-encoding',
}

/** The same for JSON. */
export const jsonHeaders: Headers = { 'content-type': 'application/json', ...cacheHeaders }

/** Below this, a gzip header and another trip through the thread pool cost more than they save. */
export const minGzipBytes = 1_024

/** Level 1: an event's 4.5 kB lose two thirds of their bytes either way. */
export const gzipLevel = 1

/** Compresses a stream piece by piece. Rethrows what the source throws. */
export async function* gzipped(pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const coder = createGzip({ level: gzipLevel, chunkSize: chunkBytes })
  // When the reader stops, the coder ends, and with it the source.
  const ended = pipeline(Readable.from(pieces, { objectMode: false }), coder)
  ended.catch(() => undefined)
  for await (const chunk of coder) if (Buffer.isBuffer(chunk)) yield chunk
  await ended
}

const chunkBytes = 65_536

/**
 * Answers with an event and its tag: 304 if the client already has it, otherwise its bytes, compressed if the client accepts that and it
 * is worth it. `noted`: what it tells and sends. `further`: headers in addition to the usual ones.
 */
export function eventAnswer(
  request: Request,
  event: PageBody,
  etag: string,
  coding: ContentCoding,
  noted: { readonly sent: Disclosure | undefined; readonly delivered: Delivered },
  further: Headers = noHeaders,
): Answer | Promise<Answer> {
  if (tagMatches(request.header('if-none-match'), etag)) {
    event.release()
    const headers = joined(cacheHeaders, further)
    return {
      kind: 'notModified',
      headers,
      etag,
      feed: undefined,
      delivered: nothingDelivered(noted.delivered),
    }
  }
  return jsonAnswer({ headers: joined(jsonHeaders, further), etag, feed: undefined, ...noted }, event, coding)
}

/** Returns one of the objects if there is nothing to join, because its lines are kept. */
export function joined(headers: Headers, further: Headers): Headers {
  return further === noHeaders ? headers : { ...headers, ...further }
}

/** Answers with the bytes as they are, or compressed if the client accepts that and it is worth it. */
export function jsonAnswer(
  said: Pick<PiecesAnswer, 'headers' | 'etag' | 'feed' | 'sent' | 'delivered'>,
  plain: PageBody,
  wanted: ContentCoding,
): PiecesAnswer | Promise<PiecesAnswer> {
  const coding = plain.byteLength < minGzipBytes ? 'identity' : wanted
  return mapMaybePromise(coding === 'identity' ? plain : compress(plain), (body) => ({
    ...said,
    kind: 'pieces',
    body,
    coding,
  }))
}

/** Releases the given body. */
async function compress(plain: PageBody): Promise<PageBody> {
  const [bytes = new Uint8Array()] = plain.pieces
  try {
    return ownBody(await gzipAsync(bytes, { level: gzipLevel }))
  } finally {
    plain.release()
  }
}
