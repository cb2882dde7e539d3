/** `GET /v1/property-events/snapshot` and the same for contacts: the latest of every subject (PROTOCOL §11). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { representAll } from '../representation/representation.ts'
import type { Representation, RepresentationOf } from '../representation/representation.ts'
import { checkCursor, freeEvents, readInSteps } from '../run.ts'
import { disclosedEvents } from '../../privacy/disclosure/disclosure.ts'
import { deliveredThrough } from '../../consumers/delivered.ts'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import type { EventStore, Head, StoredEvent } from '../../events/event-log.ts'
import { refused } from '../../http/exchange.ts'
import { feedKeyOf } from '../../http/access.ts'
import { feedViewOf } from '../feed-view.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import { cursorSchemas, readCursorParameters, refusalOfCursor } from './cursor-parameters.ts'
import { answer, capital, feedHeaders, feedReadProblems } from '../../http/openapi/responses.ts'
import { success } from '../../http/problem/problem.ts'
import { preferredCoding } from '../../http/requests/accept.ts'
import { cacheHeaders, gzipped } from './answers.ts'
import type { ReadsInProgress } from '../../http/reads-in-progress.ts'
import type { Operation, OperationSchema } from '../../http/operation.ts'
import type { KeyLimits } from '../../http/rate-limit/key-limits.ts'
import type { DisclosureLog } from '../../privacy/disclosure/disclosure-log.ts'
import type { CursorRules } from './cursor-parameters.ts'
import type { RequestObserver } from '../../http/observer.ts'
import type { FeedView } from '../../events/branches/branch-view.ts'
import type { Cursor, CursorRefusal } from '../run.ts'

/** What reading a snapshot needs. */
export interface SnapshotContext extends CursorRules {
  readonly events: EventStore
  readonly formOf: RepresentationOf
  readonly keyLimits: KeyLimits
  readonly ledger: DisclosureLog
  readonly limits: ServiceLimits
  readonly metrics: RequestObserver
  readonly reads: ReadsInProgress
}

const names = ['after', 'head', 'epoch', 'apiEventType'] as const
const mediaType = 'application/x-ndjson'
const problems = [
  'missing_scope',
  'ambiguous_tenant',
  'cursor_beyond_head',
  'epoch_changed',
  'too_many_snapshots',
] as const

const headers = { 'content-type': mediaType, ...cacheHeaders }

export function readSnapshot(context: SnapshotContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { events, limits, metrics, keyLimits } = context
  return {
    method: 'GET',
    path: `${feed.publishPath}/snapshot`,
    mediaType,
    access: { scope: feed.readScope, refusal: 'own' },
    transport: 'node',
    schema: () => schemaFor(limits, feedName),

    prepare({ query }) {
      const reading = readCursorParameters(query, names, feedName, context)
      if (reading.kind === 'refused') return () => reading
      const { head: headNumber, ...cursor } = reading.parameters
      return async (request, access) => {
        const release = keyLimits.enterSnapshot(access.keyId ?? '')
        if (release === undefined) return refused({ code: 'too_many_snapshots' })
        try {
          const key = feedKeyOf(access, feedName)
          const view = feedViewOf(access, cursor.view)
          const snapshot = await openSnapshot(events, { key, ...cursor, view, headNumber })
          if (snapshot.kind !== 'snapshot') {
            release()
            return refused(refusalOfCursor(snapshot))
          }
          const { keyId = '' } = access
          const onPiece = (events: readonly StoredEvent[], bytes: number): void => {
            metrics.streamed(key.tenantId, bytes)
            const sent = disclosedEvents(key, events)
            if (sent !== undefined) context.ledger.note(keyId, sent)
          }
          const feed = { ...snapshot.head, sequenceNumber: snapshot.headNumber }
          const coding = preferredCoding(request.header('accept-encoding'))
          const form = context.formOf(access, feedName)
          const lines = () => linesOf(inForm(snapshot, form), onPiece, context.reads)
          const pieces = () => (coding === 'gzip' ? gzipped(lines()) : freed(lines()))
          const stream = { kind: 'stream', use: 'snapshot', etag: undefined, byteLength: undefined } as const
          const { after } = cursor
          const through = snapshot.headNumber
          const delivered = deliveredThrough({
            key,
            view,
            after,
            through,
            route: 'snapshot',
            isQuiet: after >= through,
          })
          return { ...stream, headers, feed, coding, delivered, pieces, release }
        } catch (error) {
          release()
          throw error
        }
      }
    },
  }
}

function inForm(snapshot: Snapshot, form: Representation | undefined): Snapshot {
  async function* pieces(): AsyncGenerator<readonly StoredEvent[]> {
    for await (const piece of snapshot.pieces()) yield representAll(piece, form)
  }
  return form === undefined ? snapshot : { ...snapshot, pieces }
}

const lineEnd = Buffer.from('\n')

/**
 * Frees each piece once it has been taken, or its reader has gone: V8 would not look for this memory soon. Not used for a stream, which
 * asks for the next piece while it still uses the last one.
 */
async function* freed(pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    try {
      yield piece
    } finally {
      freeBytes(piece)
    }
  }
}

/** `onPiece`: called before the piece is handed over. Each piece is a separate read, because its reader may take hours. */
async function* linesOf(
  snapshot: Snapshot,
  onPiece: (events: readonly StoredEvent[], bytes: number) => void,
  reads: ReadsInProgress,
): AsyncGenerator<Uint8Array> {
  let count = 0
  const pieces = snapshot.pieces()
  const readPiece = async (): Promise<Buffer | undefined> => {
    const next = await pieces.next()
    if (next.done === true) return undefined
    const piece = next.value
    count += piece.length
    const lines = Buffer.concat(piece.flatMap(({ json }) => [json, lineEnd]))
    onPiece(piece, lines.byteLength)
    freeEvents(piece)
    return lines
  }
  try {
    for (;;) {
      const reading = readPiece()
      reads.add(reading)
      const lines = await reading
      if (lines === undefined) break
      yield lines
    }
  } finally {
    await pieces.return(undefined)
  }
  const { headNumber, head } = snapshot
  const end = { end: true, head: headNumber, epoch: head.epoch, revision: head.revision, events: count }
  yield Buffer.from(`${JSON.stringify(end)}\n`)
}

function schemaFor(limits: ServiceLimits, feedName: FeedName): OperationSchema {
  return {
    operationId: `read${capital(feedName)}Snapshot`,
    summary: `Read the latest event of every ${feedName}`,
    description:
      'One event a line, ascending; the last line is `{"end":true,"head":…,"epoch":…,"revision":…,"events":…}`, and without it the answer was cut off: ask again with `after` = the last number that came, and the same `head` and `epoch`. Then go on with the events after `head`. A subject that changes meanwhile is left out here and comes there.',
    tags: ['Copying'],
    security: [{ apiKey: [] }],
    querystring: { type: 'object', properties: cursorSchemas(names, feedName, limits) },
    response: {
      [success.ok]: answer(
        'The snapshot.',
        { type: 'string', description: 'An Event a line, then the end line.' },
        feedHeaders,
        mediaType,
      ),
      ...feedReadProblems(feedName, ...problems),
    },
  }
}

/**
 * The snapshot of a feed (PROTOCOL §11): the latest event of every subject, as of a head that is announced first. It is read piece by
 * piece while publishing continues, and holds no lock and no state. A subject that gets a newer event before its turn is left out: its
 * new event has a number after the head, and a client that continues from the head reads it there. So a copy made from the snapshot and
 * everything after its head equals the copy made from the whole feed. That is the promise, and not that the snapshot itself contains
 * every subject.
 */
interface SnapshotQuery extends Cursor {
  readonly view: FeedView
  /** As of this number; by default, as of the feed's head. */
  readonly headNumber: number | undefined
}

interface Snapshot {
  readonly kind: 'snapshot'
  readonly head: Head
  /** The snapshot is as of this number. */
  readonly headNumber: number
  /** Pieces of about a megabyte, in ascending order; each is read on demand, in a separate turn. */
  pieces(): AsyncGenerator<readonly StoredEvent[]>
}

async function openSnapshot(events: EventStore, query: SnapshotQuery): Promise<Snapshot | CursorRefusal> {
  const { key, view, after, epoch } = query
  const head = await checkCursor(events, { key, epoch, after: Math.max(after, query.headNumber ?? 0) })
  if ('kind' in head) return head
  const headNumber = query.headNumber ?? head.sequenceNumber

  async function* pieces(): AsyncGenerator<readonly StoredEvent[]> {
    if (after >= headNumber) return
    const readNext = (from: number, limit: number) =>
      events.readAfter({ key, view, after: from, limit, latestOnly: true })
    for await (const found of readInSteps(after, readNext)) {
      const piece = found.filter(({ sequenceNumber }) => sequenceNumber <= headNumber)
      if (piece.length > 0) yield piece
      if (found.at(-1)?.sequenceNumber === headNumber || piece.length < found.length) return
    }
  }
  return { kind: 'snapshot', head, headNumber, pieces }
}
