/** Long-poll: a run of events that is answered once it has any (PROTOCOL §13). */
import type { FeedFollower } from '../../feed/live-tail.ts'
import { readRun } from '../../feed/read-run.ts'
import type { EventRun, RunQuery } from '../../feed/read-run.ts'
import { secondsSince } from '../../feed/told-delay.ts'
import { ofTypes } from '../../feed/type-filter.ts'
import type { Head } from '../../storage/storage.ts'
import type { HttpContext } from '../context.ts'
import { refused } from '../exchange.ts'
import type { Outcome } from '../exchange.ts'
import type { Refusal } from '../problem.ts'
import { refusalSince, watchKey } from '../still-granted.ts'
import { answerRun, runAnswer } from './run-answer.ts'
import type { RunAsked } from './run-answer.ts'

/** The most that one answer has of the new events; the next request gets the rest. */
const mostBytes = 2 ** 20

/** Such an answer is valid for one moment only. */
const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }

/**
 * Answers as soon as the view has an event after the number, or after `waitMs` without any. Answers earlier if the service stops or the
 * key ends. An answer without events costs no token (D10).
 */
export async function waitForRun(
  context: HttpContext,
  asked: RunAsked,
  query: RunQuery,
  waitMs: number,
): Promise<Outcome> {
  const leave = context.waiting.enter(asked.access.keyId ?? '', 'long_poll')
  if (leave === undefined) return refused({ code: 'too_many_waiting' })
  // Begins before the first read, so that it reports everything stored after that.
  const follower = context.tail.follow(asked.key)
  const watched = watchKey(context, asked.access, asked.key, asked.request.gone)
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
  context: HttpContext,
  asked: RunAsked,
  query: RunQuery,
  follower: FeedFollower,
  { untilMs, over }: { readonly untilMs: number; readonly over: AbortSignal },
): Promise<Outcome> {
  let after = query.after
  let seen: Head | undefined
  for (;;) {
    // Reads from the store the first time, while there is more to read, and when numbers may have changed their meaning.
    const head = seen === undefined || after < seen.sequenceNumber ? undefined : await follower.head()
    const isContinued = seen !== undefined && head?.epoch === seen.epoch
    const reading = isContinued
      ? keptRun(follower, head, { ...query, after })
      : storedRun(context, { ...query, after })
    context.reads.add(reading)
    const found = await reading
    if (found.kind !== 'run') return answerRun(context, asked, () => Promise.resolve(found))
    const leftMs = untilMs - performance.now()
    const isOver = leftMs <= 0 || over.aborted || context.stopping()
    if (found.events.length > 0 && isContinued)
      context.metrics.live.told('long_poll', secondsSince(found.events))
    if (found.events.length > 0 || isOver) return answerOf(context, asked, found)
    after = found.next
    seen = found.head
    if (after >= seen.sequenceNumber) await follower.moved(seen, leftMs, over)
    const refusal = await refusalSince(context, asked.access, asked.key)
    if (refusal !== undefined) return refused(refusal)
  }
}

type FoundRun = Awaited<ReturnType<typeof storedRun>>

/** Answers of this kind are small; if there is no room for more, they end before their limit. */
function storedRun({ events }: HttpContext, query: RunQuery) {
  let bytes = 0
  return readRun<Refusal>(events, query, (more) => {
    bytes += more
    return bytes > mostBytes && bytes > more ? { code: 'overloaded' } : undefined
  })
}

/** A run from what has been read for all waiting readers. */
async function keptRun(follower: FeedFollower, head: Head | undefined, query: RunQuery): Promise<FoundRun> {
  const { view, after, limit, types } = query
  if (head === undefined) return { kind: 'unknownFeed' }
  const reading =
    after < head.sequenceNumber ? await follower.read(view, after, mostBytes) : { events: [], through: after }
  const passing = ofTypes(reading.events, types)
  const events = passing.slice(0, limit)
  const last = events.at(-1)?.sequenceNumber ?? after
  const next = events.length < passing.length ? last : reading.through
  return { kind: 'run', events, next, headNumber: Math.max(head.sequenceNumber, next), head }
}

async function answerOf(context: HttpContext, asked: RunAsked, run: EventRun): Promise<Outcome> {
  const { sent, ...answer } = await runAnswer(context, asked, run)
  // Noted here, because an erasure waits for reads, and not for waiting requests.
  if (sent !== undefined) context.ledger.note(asked.access.keyId ?? '', sent)
  return { ...answer, headers, isFree: run.events.length === 0 }
}
