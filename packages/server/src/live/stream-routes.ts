/** `GET /v1/property-events/stream` and the same for contacts: events as they are published (PROTOCOL §13). */
import type { WaitingReaders } from './waiting-readers.ts'
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { LiveTail } from './tail.ts'
import { checkCursor, lengthOf } from '../reading/run.ts'
import type { BufferedRead } from './broadcast-buffer.ts'
import { representCopies } from '../reading/representation/representation.ts'
import { disclosedEvents } from '../privacy/disclosure/disclosure.ts'
import { ofTypes } from '../reading/representation/type-filter.ts'
import { deliveredAfter } from '../consumers/delivered.ts'
import type { Disclosure } from '../privacy/disclosure/disclosure.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import type { EventStore } from '../events/event-log.ts'
import { consumerNameOf } from '../consumers/consumer-name.ts'
import { refused, invalidParameters } from '../http/exchange.ts'
import { feedKeyOf } from '../http/access.ts'
import type { Outcome, Request } from '../http/exchange.ts'
import type { Access } from '../http/access.ts'
import { feedViewOf } from '../reading/feed-view.ts'
import { cursorSchemas, refusalOfCursor } from '../reading/routes/cursor-parameters.ts'
import { answer, capital, feedHeaders, feedReadProblems } from '../http/openapi/responses.ts'
import { success } from '../http/problem/problem.ts'
import { lastIdHeader, lastIdPattern, readStreamQuery, streamStart } from './stream-parameters.ts'
import type { StreamQuery, StreamStart } from './stream-parameters.ts'
import { committedMs } from './shared-run.ts'
import { watchRight } from '../keys/access/still-granted.ts'
import { sendEventStream } from './event-stream.ts'
import type { StreamParts, StreamReading } from './event-stream.ts'
import type { Operation, OperationSchema } from '../http/operation.ts'
import { eventsPiece, sharedPieces } from './stream-pieces.ts'
import type { ReadCounts } from '../consumers/read-counts.ts'
import type { ServiceLimits } from '../http/limits.ts'
import type { ReadsInProgress } from '../http/reads-in-progress.ts'
import type { RightsContext } from '../keys/access/still-granted.ts'
import type { DisclosureLog } from '../privacy/disclosure/disclosure-log.ts'
import type { RepresentationOf } from '../reading/representation/representation.ts'
import type { CursorRules } from '../reading/routes/cursor-parameters.ts'
import type { RequestObserver } from '../http/observer.ts'

interface Context extends CursorRules, RightsContext {
  readonly events: EventStore
  readonly formOf: RepresentationOf
  readonly ledger: DisclosureLog
  readonly metrics: RequestObserver
  readonly readCounts: ReadCounts
  readonly reads: ReadsInProgress
  readonly tail: LiveTail
  readonly limits: ServiceLimits
  readonly waiting: WaitingReaders
}

const mediaType = 'text/event-stream'

/** nginx buffers answers unless a header forbids it. */
const headers = {
  'content-type': mediaType,
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

/** The most that is handed to the connection at once, except for a longer event. */
const pieceBytes = 65_536

export function streamEvents(context: Context, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  return {
    method: 'GET',
    path: `${feed.publishPath}/stream`,
    mediaType,
    access: { scope: feed.readScope, refusal: 'own' },
    transport: 'node',
    schema: () => schemaFor(context, feedName),

    prepare({ query }) {
      const reading = readStreamQuery(query, feedName, context)
      if ('kind' in reading) return () => reading
      return (request, access) => {
        const start = streamStart(request, reading)
        if ('code' in start) return invalidParameters(start)
        return openStream(context, { request, access, key: feedKeyOf(access, feedName) }, reading, start)
      }
    },
  }
}

interface StreamRequest {
  readonly request: Request
  readonly access: Access
  readonly key: FeedKey
}

async function openStream(
  context: Context,
  asked: StreamRequest,
  query: StreamQuery,
  start: StreamStart,
): Promise<Outcome> {
  const leave = context.waiting.enter(asked.access.keyId ?? '', 'stream')
  if (leave === undefined) return refused({ code: 'too_many_waiting' })
  // Begins before the head is read, so that it reports everything stored after that.
  const follower = context.tail.follow(asked.key)
  const watched = watchRight(context, asked.request, asked.access)
  const release = (): void => {
    watched.end()
    follower.stop()
    leave()
  }
  try {
    const { epoch, after } = start
    const head = await checkCursor(context.events, {
      key: asked.key,
      epoch,
      after: after === 'head' ? 0 : after,
    })
    if ('kind' in head) {
      release()
      return refused(refusalOfCursor(head))
    }
    const from = after === 'head' ? head.sequenceNumber : after
    const view = feedViewOf(asked.access, query.view)
    const parts = partsOf(context, asked, {
      follower,
      over: watched.signal,
      head,
      view,
      types: query.types,
      after: from,
    })
    let stop = (): void => undefined
    return {
      kind: 'live',
      headers,
      feed: head,
      use: 'stream',
      begin: (out) => void (stop = sendEventStream(parts, out)),
      release() {
        stop()
        release()
      },
    }
  } catch (error) {
    release()
    throw error
  }
}

interface StreamPlace extends Pick<StreamParts, 'follower' | 'over' | 'head' | 'after'> {
  readonly view: FeedView
  readonly types: StreamQuery['types']
}

/** What all readers with the same form and types get from the same events. */
interface SharedReading extends Omit<StreamReading, 'through'> {
  /** The bytes of the events, without the framing of the stream. */
  readonly eventBytes: number
  readonly sent: Disclosure | undefined
}

const shared = sharedPieces<SharedReading>(({ piece }) => piece?.chunk.byteLength ?? 0)

function partsOf(
  context: Context,
  { request, access, key }: StreamRequest,
  { follower, over, head, view, types, after }: StreamPlace,
): StreamParts {
  const { limits, metrics, ledger, reads, readCounts } = context
  const { keyId = '' } = access
  const name = consumerNameOf(request)
  const form = context.formOf(access, key.feed)
  const toSend = ({ events, through }: BufferedRead): StreamReading => {
    const made = shared.of(events, [form, types], () => {
      // Copies, because all waiting readers share the events. The types are those that the reader sees.
      const passing = ofTypes(representCopies(events, form), types)
      return {
        events: passing,
        eventBytes: lengthOf(passing),
        sent: disclosedEvents(key, passing),
        committedMs: committedMs(passing),
        piece: passing.length === 0 ? undefined : eventsPiece(head.epoch, passing),
      }
    })
    metrics.streamed(key.tenantId, made.eventBytes)
    if (made.sent !== undefined) ledger.note(keyId, made.sent)
    return { events: made.events, committedMs: made.committedMs, piece: made.piece, through }
  }
  return {
    follower,
    head,
    after,
    markEveryMs: Math.min(limits.markEveryMs, limits.idleSocketTimeoutMs / 2),
    endsMs: performance.now() + limits.streamMs * (0.9 + 0.2 * Math.random()),
    over,
    read(from) {
      const found = follower.read(view, from, pieceBytes)
      if (!(found instanceof Promise)) return toSend(found)
      const reading = found.then(toSend)
      // An erasure waits for this read, and not for the whole stream.
      reads.add(reading)
      return reading
    },
    onDelivered: (ms) => metrics.live.delivered('stream', (Date.now() - ms) / 1_000),
    onTaken(from, next, events) {
      const delivered = deliveredAfter({
        key,
        view,
        after: from,
        route: 'stream',
        isPart: types !== undefined,
      })
      const run = { events, next, head: { sequenceNumber: from === next ? next : Infinity } }
      readCounts.note(keyId, name, delivered(run), success.ok)
    },
  }
}

function schemaFor({ limits }: Context, feedName: FeedName): OperationSchema {
  const others = cursorSchemas(['epoch', 'apiEventType', 'types'], feedName, limits)
  return {
    operationId: `stream${capital(feedName)}Events`,
    summary: `Follow ${feedName} events as they are published`,
    description:
      'A stream for `EventSource` and other readers of `text/event-stream`. First `retry` and an event `mark`, then each event of the category: its `id` is `<epoch>.<sequenceNumber>`, its `data` the event. A `mark` with `{"next", "head", "revision"}` comes at least every 15 seconds. A reader that connects again with `Last-Event-ID` gets exactly what comes after it. An event `reset` ends the stream where numbers mean something else now: begin again with a snapshot. A stream ends after some 15 minutes, and its reader connects again.',
    tags: ['Copying'],
    security: [{ apiKey: [] }],
    querystring: {
      type: 'object',
      properties: {
        after: {
          type: 'string',
          pattern: '^(?:head|0|[1-9][0-9]{0,15})$',
          description:
            'Only events with a greater sequenceNumber; `head`: only those that come from now on. Needed where `Last-Event-ID` is not sent.',
          examples: ['0', 'head'],
        },
        ...others,
      },
    },
    headers: {
      type: 'object',
      properties: {
        [lastIdHeader]: {
          type: 'string',
          pattern: lastIdPattern.source,
          description: 'The last id that came, in place of `after` and `epoch`.',
          examples: ['5f0c.1204'],
        },
      },
    },
    response: {
      [success.ok]: answer(
        'The stream.',
        { type: 'string', description: 'Events and marks as they come.' },
        {
          ...feedHeaders,
          'x-accel-buffering': {
            type: 'string',
            description: '`no`: proxies must not hold it back.',
          },
        },
        mediaType,
      ),
      ...feedReadProblems(
        feedName,
        'missing_scope',
        'ambiguous_tenant',
        'cursor_beyond_head',
        'epoch_changed',
        'too_many_waiting',
      ),
    },
  }
}
