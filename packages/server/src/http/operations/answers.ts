/** Answers that several operations give, and what they say to caches. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { runPieces } from '../../feed/read-run.ts'
import type { EventRun } from '../../feed/read-run.ts'
import type { ContentCoding, PageBody } from '../../pages/index.ts'
import { whenThere } from '../../when-there.ts'
import { noHeaders } from '../exchange.ts'
import type { Answer, Headers, Request } from '../exchange.ts'
import { preferredCoding } from '../requests/accept.ts'
import { tagMatches } from '../requests/entity-tag.ts'

type PiecesAnswer = Extract<Answer, { kind: 'pieces' }>

const gzipAsync = promisify(gzip)

/** Whose cache may keep an answer, and that it must ask before using it: totals change with every publish. */
export const cacheHeaders: Headers = {
  'cache-control': 'private, no-cache',
  vary: 'x-api-key, accept-encoding',
}

/** The same, of JSON. */
export const jsonHeaders: Headers = { 'content-type': 'application/json', ...cacheHeaders }

/** Below this, a gzip header and another trip through the thread pool cost more than they save. */
const minGzipBytes = 1_024

/** Level 1: an event's 4.5 kB lose two thirds of their bytes either way. */
const gzipLevel = 1

/** Bytes that nobody lent. */
export function ownBody(bytes: Uint8Array): PageBody {
  return { pieces: [bytes], byteLength: bytes.byteLength, release: () => undefined }
}

/**
 * An event with its tag: 304 where the client has it already, else its bytes, compressed where that is wanted and worth it.
 * `further`: headers beside the usual ones.
 */
export function eventAnswer(
  request: Request,
  event: PageBody,
  etag: string,
  coding: ContentCoding,
  further: Headers = noHeaders,
): Answer | Promise<Answer> {
  if (tagMatches(request.header('if-none-match'), etag)) {
    event.release()
    return { kind: 'notModified', headers: joined(cacheHeaders, further), etag, feed: undefined }
  }
  return jsonAnswer({ headers: joined(jsonHeaders, further), etag, feed: undefined }, event, coding)
}

/** Answers with a run of events. It has no tag: a reader that has caught up gets an empty run of 80 bytes. */
export function runAnswer(request: Request, run: EventRun): Answer | Promise<Answer> {
  const feed = { ...run.head, sequenceNumber: run.headNumber }
  const body = ownBody(Buffer.concat(runPieces(run)))
  const coding = preferredCoding(request.header('accept-encoding'))
  return jsonAnswer({ headers: jsonHeaders, etag: undefined, feed }, body, coding)
}

/** One object where there is nothing to join: its lines are kept. */
export function joined(headers: Headers, further: Headers): Headers {
  return further === noHeaders ? headers : { ...headers, ...further }
}

function jsonAnswer(
  said: Pick<PiecesAnswer, 'headers' | 'etag' | 'feed'>,
  plain: PageBody,
  wanted: ContentCoding,
): Answer | Promise<Answer> {
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
