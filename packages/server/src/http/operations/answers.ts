/** Answers that several operations give, and what they say to caches. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import type { Told } from '../../feed/noted-parts.ts'
import type { Sent } from '../../feed/sent.ts'
import { toldUnchanged } from '../../feed/told.ts'
import type { ContentCoding, PageBody } from '../../pages/index.ts'
import { whenThere } from '../../when-there.ts'
import { noHeaders } from '../exchange.ts'
import type { Answer, Headers, Request } from '../exchange.ts'
import { tagMatches } from '../requests/entity-tag.ts'

export type PiecesAnswer = Extract<Answer, { kind: 'pieces' }>

const gzipAsync = promisify(gzip)

/** Whose cache may keep an answer, and that it must ask before using it: totals change with every publish. */
export const cacheHeaders: Headers = {
  'cache-control': 'private, no-cache',
  vary: 'x-api-key, x-tenant, accept-encoding',
}

/** The same, of JSON. */
export const jsonHeaders: Headers = { 'content-type': 'application/json', ...cacheHeaders }

/** Below this, a gzip header and another trip through the thread pool cost more than they save. */
const minGzipBytes = 1_024

/** Level 1: an event's 4.5 kB lose two thirds of their bytes either way. */
const gzipLevel = 1

/** Bytes that nobody lent, and no other answer has. */
export function ownBody(bytes: Uint8Array): PageBody {
  const { byteLength } = bytes
  return { kind: 'whole', pieces: [bytes], byteLength, ownBytes: byteLength, release: () => undefined }
}

/** Bytes that many answers have. */
export function sharedBody(bytes: Uint8Array): PageBody {
  return { ...ownBody(bytes), ownBytes: 0 }
}

/** Compresses what is made piece by piece. What the source throws is thrown here. */
export async function* gzipped(pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const coder = createGzip({ level: gzipLevel, chunkSize: chunkBytes })
  // Whoever stops reading ends the coder, and that the source.
  const ended = pipeline(Readable.from(pieces, { objectMode: false }), coder)
  ended.catch(() => undefined)
  for await (const chunk of coder) if (Buffer.isBuffer(chunk)) yield chunk
  await ended
}

const chunkBytes = 65_536

/**
 * An event with its tag: 304 where the client has it already, else its bytes, compressed where that is wanted and worth it.
 * `noted`: what it tells and sends. `further`: headers beside the usual ones.
 */
export function eventAnswer(
  request: Request,
  event: PageBody,
  etag: string,
  coding: ContentCoding,
  noted: { readonly sent: Sent | undefined; readonly told: Told },
  further: Headers = noHeaders,
): Answer | Promise<Answer> {
  if (tagMatches(request.header('if-none-match'), etag)) {
    event.release()
    const headers = joined(cacheHeaders, further)
    return { kind: 'notModified', headers, etag, feed: undefined, told: toldUnchanged(noted.told) }
  }
  return jsonAnswer({ headers: joined(jsonHeaders, further), etag, feed: undefined, ...noted }, event, coding)
}

/** One object where there is nothing to join: its lines are kept. */
export function joined(headers: Headers, further: Headers): Headers {
  return further === noHeaders ? headers : { ...headers, ...further }
}

/** With the bytes as they stand, or compressed where that is wanted and worth it. */
export function jsonAnswer(
  said: Pick<PiecesAnswer, 'headers' | 'etag' | 'feed' | 'sent' | 'told'>,
  plain: PageBody,
  wanted: ContentCoding,
): PiecesAnswer | Promise<PiecesAnswer> {
  const coding = plain.byteLength < minGzipBytes ? 'identity' : wanted
  return whenThere(coding === 'identity' ? plain : compress(plain), (body) => ({
    ...said,
    kind: 'pieces',
    body,
    coding,
  }))
}

/** The given body is released. */
async function compress(plain: PageBody): Promise<PageBody> {
  const [bytes = new Uint8Array()] = plain.pieces
  try {
    return ownBody(await gzipAsync(bytes, { level: gzipLevel }))
  } finally {
    plain.release()
  }
}
