/** Long-poll: a run of events that is answered once it has any (PROTOCOL §13). */
import type { WaitingReaders } from './waiting-readers.ts'
import type { EndSignal } from '../runtime/end-signal.ts'
import type { FeedFollower, LiveTail } from './tail.ts'
import { readRun } from '../reading/run.ts'
import type { EventRun, RunQuery } from '../reading/run.ts'
import type { Head, EventStore } from '../events/event-log.ts'
import { mapMaybePromise } from '../runtime/map-maybe-promise.ts'
import { refused, uncachedJson } from '../http/exchange.ts'
import type { Answer, Outcome } from '../http/exchange.ts'
import { minSequenceHeader } from '../reading/min-sequence.ts'
import type { Refusal } from '../http/problem/problem.ts'
import { preferredCoding } from '../http/requests/accept.ts'
import { refusalNow, watchRight } from '../keys/access/still-granted.ts'
import { ownBody } from '../http/answer-body.ts'
import { readSharedRun } from './shared-run.ts'
import type { SharedRun } from './shared-run.ts'
import { answerRun, runAnswer } from '../reading/routes/answers.ts'
import type { RunRequest, RunContext } from '../reading/routes/answers.ts'
import type { ReadsInProgress } from '../http/reads-in-progress.ts'
import type { RightsContext } from '../keys/access/still-granted.ts'
import type { DisclosureLog } from '../privacy/disclosure/disclosure-log.ts'

/** What waiting for events needs. */
export interface LongPollContext extends RunContext, RightsContext {
  readonly events: EventStore
  readonly ledger: DisclosureLog
  readonly reads: ReadsInProgress
  readonly stopping: () => boolean
  readonly tail: LiveTail
  readonly waiting: WaitingReaders
}

/** The most that one answer has of events that were there already; the next request gets the rest. */
const mostBytes = 2 ** 20

/**
 * Answers as soon as the view has an event after the number, or after `waitMs` without any. Answers earlier if the service stops or the
 * key ends. An answer without events costs no token (D10).
 */
export async function waitForRun(
  context: LongPollContext,
  asked: RunRequest,
  query: RunQuery,
  waitMs: number,
): Promise<Outcome> {
  const leave = context.waiting.enter(asked.access.keyId ?? '', 'long_poll')
  if (leave === undefined) return refused({ code: 'too_many_waiting' })
  // Begins before the first read, so that it reports everything stored after that.
  const follower = context.tail.follow(asked.key)
  const watched = watchRight(context, asked.request, asked.access)
  const end = { untilMs: performance.now() + waitMs, over: watched.signal }
  try {
    return await whileWaiting(context, asked, query, follower, end)
  } finally {
    watched.end()
    follower.stop()
    leave()
  }
}

async function whileWaiting(
  context: LongPollContext,
  asked: RunRequest,
  query: RunQuery,
  follower: FeedFollower,
  { untilMs, over }: { readonly untilMs: number; readonly over: EndSignal },
): Promise<Outcome> {
  let { after } = query
  let seen = knownHead(asked, follower, query)
  for (;;) {
    const head = follower.known
    const isContinued =
      seen !== undefined &&
      after >= seen.sequenceNumber &&
      head !== undefined &&
      head !== 'unread' &&
      head.epoch === seen.epoch
    let found: EventRun
    let kept: SharedRun | undefined
    if (isContinued) {
      const reading = readSharedRun(context, asked, follower, head, { ...query, after })
      if (reading instanceof Promise) context.reads.add(reading)
      kept = reading instanceof Promise ? await reading : reading
      found = kept.run
    } else {
      // Reads from the store the first time, while there is more to read, and when numbers may have changed their meaning.
      const reading = storedRun(context, { ...query, after })
      context.reads.add(reading)
      const read = await reading
      if (read.kind !== 'run') return answerRun(context, asked, () => Promise.resolve(read))
      found = read
    }
    const leftMs = untilMs - performance.now()
    const isOver = leftMs <= 0 || over.aborted || context.stopping()
    if (over.aborted) {
      const refusal = await refusalNow(context, asked.request, asked.access)
      if (refusal !== undefined) return refused(refusal)
    }
    if (found.events.length > 0 || isOver) {
      return kept === undefined ? answerOf(context, asked, found) : keptAnswer(context, asked, kept)
    }
    after = found.next
    seen = found.head
    if (after >= seen.sequenceNumber) await follower.moved(seen, leftMs, over)
  }
}

/**
 * The head that the tail knows, if the reader already has everything up to it. The tail looks at the feed whenever it changes, and once a
 * second in any case, so the store has nothing to add.
 */
function knownHead(
  { request }: RunRequest,
  { known }: FeedFollower,
  { after, epoch }: RunQuery,
): Head | undefined {
  if (known === undefined || known === 'unread' || request.header(minSequenceHeader) !== undefined)
    return undefined
  const isThere = after === known.sequenceNumber && (epoch === undefined || epoch === known.epoch)
  return isThere ? known : undefined
}

/** Answers of this kind are small; if there is no room for more, they end before their limit. */
function storedRun({ events }: LongPollContext, query: RunQuery) {
  let bytes = 0
  return readRun<Refusal>(events, query, (more) => {
    bytes += more
    return bytes > mostBytes && bytes > more ? { code: 'overloaded' } : undefined
  })
}

async function answerOf(context: LongPollContext, asked: RunRequest, run: EventRun): Promise<Outcome> {
  const { sent, ...answer } = await runAnswer(context, asked, run)
  // Noted here, because an erasure waits for reads, and not for waiting requests.
  if (sent !== undefined) context.ledger.note(asked.access.keyId ?? '', sent)
  return { ...answer, headers: uncachedJson, isFree: run.events.length === 0 }
}

/** The same bytes for all readers that asked the same. */
function keptAnswer(
  context: LongPollContext,
  { request, access, delivered }: RunRequest,
  { run, sent, committedMs, body }: SharedRun,
): Answer | Promise<Answer> {
  if (sent !== undefined) context.ledger.note(access.keyId ?? '', sent)
  const isCompressed = preferredCoding(request.header('accept-encoding')) !== 'identity'
  return mapMaybePromise(body(isCompressed), ({ bytes, isCompressed }) => ({
    kind: 'pieces',
    headers: uncachedJson,
    etag: undefined,
    feed: run.head,
    // Counted as the reader's own, so that what it does not take is charged to its key.
    body: ownBody(bytes),
    coding: isCompressed ? 'gzip' : 'identity',
    delivered: delivered(run),
    isFree: run.events.length === 0,
    committedMs,
  }))
}
