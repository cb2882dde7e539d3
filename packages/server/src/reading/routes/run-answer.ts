/** Answers that are runs of events, read within the budget of bytes in flight. */
import { representCopies } from '../representation/representation.ts'
import { freeEvents } from '../read-in-steps.ts'
import { runPieces } from '../run.ts'
import type { CursorRefusal, EventRun, NoRoom, TakeBytes } from '../run.ts'
import type { Delivered } from '../../consumers/read-ranges.ts'
import { disclosedEvents } from '../../privacy/disclosure/disclosure.ts'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import { refused } from '../../http/exchange.ts'
import type { Outcome, Refused, Request } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import type { Refusal } from '../../http/problem/problem.ts'
import { preferredCoding } from '../../http/requests/accept.ts'
import { refusalOfCursor } from './cursor-parameters.ts'
import { jsonAnswer, jsonHeaders } from './answers.ts'
import { ownBody } from '../../http/answer-body.ts'
import type { PiecesAnswer } from './answers.ts'
import type { BytesInFlight } from '../../http/bytes-in-flight.ts'
import type { RepresentationOf } from '../representation/representation.ts'

/** What answering with a run needs. */
export interface RunContext {
  readonly formOf: RepresentationOf
  readonly inFlight: BytesInFlight
}

export interface RunAsked {
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
  asked: RunAsked,
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
  { request, access, key, delivered }: RunAsked,
  run: EventRun,
): PiecesAnswer | Promise<PiecesAnswer> {
  const events = representCopies(run.events, formOf(access, key.feed))
  const bytes = Buffer.concat(runPieces({ ...run, events }))
  const body = { ...ownBody(bytes), release: () => freeBytes(bytes) }
  const coding = preferredCoding(request.header('accept-encoding'))
  const sent = disclosedEvents(key, run.events)
  return jsonAnswer(
    { headers: jsonHeaders, etag: undefined, feed: run.head, sent, delivered: delivered(run) },
    body,
    coding,
  )
}
