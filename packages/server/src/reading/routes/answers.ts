/** Answers that several operations share, and their cache headers. */
import { ownBody } from '../../http/answer-body.ts'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import type { Delivered } from '../../consumers/read-ranges.ts'
import type { Disclosure } from '../../privacy/disclosure/disclosure.ts'
import { disclosedEvents } from '../../privacy/disclosure/disclosure.ts'
import { nothingDelivered } from '../../consumers/delivered.ts'
import type { ContentCoding, PageBody } from '../../http/answer-body.ts'
import { mapMaybePromise } from '../../runtime/map-maybe-promise.ts'
import { noHeaders, refused } from '../../http/exchange.ts'
import type { Answer, Headers, Outcome, Refused, Request, StreamAnswer } from '../../http/exchange.ts'
import { tagMatches } from '../../http/requests/entity-tag.ts'
import type { StreamedBody } from '../page-cache/index.ts'
import { representCopies } from '../representation/representation.ts'
import type { RepresentationOf } from '../representation/representation.ts'
import { freeEvents, runPieces } from '../run.ts'
import type { CursorRefusal, EventRun, NoRoom, TakeBytes } from '../run.ts'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { Access } from '../../http/access.ts'
import type { Refusal } from '../../http/problem/problem.ts'
import { preferredCoding } from '../../http/requests/accept.ts'
import { refusalOfCursor } from './cursor-parameters.ts'
import type { BytesInFlight } from '../../http/bytes-in-flight.ts'

type PiecesAnswer = Extract<Answer, { kind: 'pieces' }>

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
 * is worth it. `recorded`: what counts as sent and delivered with it. `further`: headers in addition to the usual ones.
 */
export function eventAnswer(
  request: Request,
  event: PageBody,
  etag: string,
  coding: ContentCoding,
  recorded: { readonly sent: Disclosure | undefined; readonly delivered: Delivered },
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
      delivered: nothingDelivered(recorded.delivered),
    }
  }
  return jsonAnswer(
    { headers: joined(jsonHeaders, further), etag, feed: undefined, ...recorded },
    event,
    coding,
  )
}

/** Returns one of the objects if there is nothing to join, because its lines are kept. */
export function joined(headers: Headers, further: Headers): Headers {
  return further === noHeaders ? headers : { ...headers, ...further }
}

/** Answers with the bytes as they are, or compressed if the client accepts that and it is worth it. */
export function jsonAnswer(
  fields: Pick<PiecesAnswer, 'headers' | 'etag' | 'feed' | 'sent' | 'delivered'>,
  plain: PageBody,
  wanted: ContentCoding,
): PiecesAnswer | Promise<PiecesAnswer> {
  const coding = plain.byteLength < minGzipBytes ? 'identity' : wanted
  return mapMaybePromise(coding === 'identity' ? plain : compress(plain), (body) => ({
    ...fields,
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

/** The answer that sends a page: whole, or in pieces if it is long. */
type PageFields = Pick<
  StreamAnswer,
  'headers' | 'etag' | 'feed' | 'completeUntil' | 'coding' | 'sent' | 'delivered'
>

/** `onBytes`: called for each piece of a long page when it is made. */
export function pageAnswer(
  fields: PageFields,
  body: PageBody | StreamedBody,
  onBytes: (bytes: number) => void,
): Answer {
  return body.kind === 'whole' ? { ...fields, kind: 'pieces', body } : longPage(fields, body, onBytes)
}

function longPage(fields: PageFields, body: StreamedBody, onBytes: (bytes: number) => void): Answer {
  // It holds only the piece that is being sent.
  const { byteLength } = body
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of body.pieces()) {
      onBytes(piece.byteLength)
      yield piece
    }
  }
  return { ...fields, kind: 'stream', use: 'largePage', byteLength, pieces, release: () => undefined }
}

/** What answering with a run needs. */
export interface RunContext {
  readonly formOf: RepresentationOf
  readonly inFlight: BytesInFlight
}

export interface RunRequest {
  readonly request: Request
  readonly access: Access
  readonly key: FeedKey
  readonly delivered: (run: EventRun) => Delivered
}

/**
 * Reads a run and answers with it. Its events count as bytes in flight as soon as they are read, so that a key with 200 simultaneous
 * requests holds no more than its share; if that is used up, the run ends before its limit.
 */
export async function answerRun(
  context: Pick<RunContext, 'inFlight' | 'formOf'>,
  asked: RunRequest,
  read: (take: TakeBytes<Refusal>) => Promise<EventRun | NoRoom<Refusal> | CursorRefusal | Refused>,
): Promise<Outcome> {
  const flight = context.inFlight.begin(asked.access.keyId, 'page')
  try {
    const found = await read((bytes) => flight.take(bytes))
    if (found.kind === 'refused') return found
    if (found.kind === 'noRoom') return refused(found.reason)
    if (found.kind !== 'run') return refused(refusalOfCursor(found))
    const made = await runAnswer(context, asked, found)
    freeEvents(found.events)
    return made
  } finally {
    // From here on, what nobody has taken of the answer is counted.
    flight.end()
  }
}

/** A run has no tag: a reader that has caught up gets an empty run of 80 bytes. The bytes of the events are copied. */
export function runAnswer(
  { formOf }: Pick<RunContext, 'formOf'>,
  { request, access, key, delivered }: RunRequest,
  run: EventRun,
): PiecesAnswer | Promise<PiecesAnswer> {
  const events = representCopies(run.events, formOf(access, key.feed))
  const bytes = Buffer.concat(runPieces({ ...run, events }))
  const body = { ...ownBody(bytes), release: () => freeBytes(bytes) }
  const coding = preferredCoding(request.header('accept-encoding'))
  const sent = disclosedEvents(key, run.before === undefined ? run.events : [run.before, ...run.events])
  return jsonAnswer(
    { headers: jsonHeaders, etag: undefined, feed: run.head, sent, delivered: delivered(run) },
    body,
    coding,
  )
}
