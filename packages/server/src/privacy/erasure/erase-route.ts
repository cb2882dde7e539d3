/** `POST /v1/erasures`: removes the payloads of a property, a contact or one event from the feed (PROTOCOL §5.7, D17). */
import { uuidV7, erasureReasons, feedNames } from '@property-events/protocol'
import type { BeginErasureOutcome, ErasureRequest, ErasureTarget, ErasureStore } from './erasure.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import { refusalUnlessFresh } from '../../console/fresh-sign-in.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { keyedOperation } from '../../http/keyed-operation.ts'
import { changeProblems } from '../../http/openapi/responses.ts'
import { success } from '../../http/problem/problem.ts'
import { readDryRun } from '../../publishing/publish-parameters.ts'
import { erasureReceipt } from './receipt.ts'
import { lastDayOf } from '../hold/hold-answer.ts'
import { erasedFeed } from './erasing-access.ts'
import { inMaintenance, refusalOfPublish } from '../../publishing/publish-refusal.ts'
import type { Operation } from '../../http/operation.ts'
import { withReadBody } from '../../http/requests/read-body.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import type { MaintenanceContext } from '../../publishing/publish-refusal.ts'
import type { FeedName } from '@property-events/protocol'
import { isDay, readCaseRef, readObject } from '../../http/requests/body-members.ts'
import type { BodyMembers, BodyReading } from '../../http/requests/body-members.ts'

/** What erasing needs. */
export interface EraseContext extends MaintenanceContext, BodyContext {
  /** When backups of the store were begun, milliseconds since 1970, the newest first. Only recent backups on record are included. */
  readonly backups: () => Promise<readonly number[]>
  readonly erasures: ErasureStore
  readonly limits: ServiceLimits
}

const dryRun = {
  type: 'object',
  properties: {
    dryRun: { type: 'boolean', default: false, description: 'Count the events and change nothing.' },
  },
} as const

export function erase(context: EraseContext): Operation {
  return keyedOperation({
    method: 'POST',
    path: '/v1/erasures',
    scope: 'anyErase',
    tag: 'Erasing',
    operationId: 'erase',
    summary: 'Erase a property, a contact or one event',
    description:
      'Takes payloads out of the feed; ids, numbers, times and types stay. A subject is first closed with an event of its own. The answer is the receipt as it stands: ask for it again until its state is `unreachable`, and no answer, row or page holds the payloads any more.',
    query: dryRun,
    body: 'ErasureRequest',
    ok: { description: 'A dry run: how many events there are.', schema: 'ErasureCount' },
    alsoOk: { status: success.accepted, description: 'It has started, and is on disk.', schema: 'Erasure' },
    problems: [
      'subject_not_found',
      'event_not_found',
      'event_is_latest',
      'on_hold',
      'storage_full',
      'clock_behind',
      'epoch_required',
      ...changeProblems,
    ],

    prepare({ query }) {
      const reading = readDryRun(query, context.limits)
      if (reading.kind === 'refused') return () => reading
      return async (request, access) =>
        withReadBody(context, { request, access }, readErasureBody, async (body) => {
          const key = erasedFeed(access, body.feed)
          if ('refusal' in key) return key
          if (reading.parameters) return count(context, key, body)
          return refusalUnlessFresh(access) ?? begin(context, key, body, access)
        })
    },
  })
}

async function count(
  { erasures }: EraseContext,
  key: FeedKey,
  { target, feed }: ErasureBody,
): Promise<Outcome> {
  const counted = await erasures.count(key, target)
  if (counted.kind !== 'counted') return refused(refusalOf(counted, target, key))
  const named = target.kind === 'subject' ? { subjectId: target.subjectId } : { eventId: target.eventId }
  return uncachedAnswer({
    dryRun: true,
    tenantId: key.tenantId,
    feed,
    ...named,
    events: counted.events,
  })
}

async function begin(
  context: EraseContext,
  key: FeedKey,
  { target, reason, caseRef, receivedOn }: ErasureBody,
  { keyId = '' }: Access,
): Promise<Outcome> {
  const stopped = await inMaintenance(context)
  if (stopped !== undefined) return stopped
  // Read before the erasure begins: once it has begun, the answer must not be a failure.
  const madeBackups = await context.backups()
  const outcome = await context.erasures.begin({
    erasureId: uuidV7(Date.now()),
    key,
    target,
    reason,
    caseRef,
    receivedOn,
    actor: `key:${keyId}`,
    closingEventId: uuidV7(Date.now()),
  })
  if (outcome.kind !== 'begun') return refused(refusalOf(outcome, target, key))
  return uncachedAnswer(erasureReceipt(outcome.erasure, madeBackups), success.accepted)
}

function refusalOf(
  outcome: Exclude<BeginErasureOutcome, { kind: 'begun' }>,
  target: ErasureTarget,
  { feed }: FeedKey,
) {
  if (outcome.kind === 'unknownTarget')
    return { code: target.kind === 'subject' ? 'subject_not_found' : 'event_not_found' } as const
  if (outcome.kind === 'eventIsLatest') return { code: 'event_is_latest' } as const
  if (outcome.kind === 'onHold') {
    const detail = `The ${feed} is on hold until the end of ${lastDayOf(outcome.untilMs)} (UTC): hold ${outcome.holdId}. Nothing was changed.`
    return { code: 'on_hold', detail } as const
  }
  return refusalOfPublish({ ...outcome, inList: false })
}

/** Strict: what is erased by mistake cannot be brought back. */
interface ErasureBody extends Pick<ErasureRequest, 'target' | 'reason' | 'caseRef' | 'receivedOn'> {
  readonly feed: FeedName
}

const names = ['feed', 'subjectId', 'eventId', 'reason', 'caseRef', 'receivedOn'] as const

/** `text`: valid UTF-8, decoded. Faults repeat no value of the body, because it may be about a person. */
function readErasureBody(text: string): BodyReading<ErasureBody> {
  return readObject(text, names, '{"feed":"contact","subjectId":"…","reason":"…"}', (members) => {
    const feed = members.oneOf('feed', feedNames)
    const reason = members.oneOf('reason', erasureReasons)
    const target = readTarget(members)
    const caseRef = readCaseRef(members)
    const receivedOn = members.matching('receivedOn', isDay, 'a day such as 2026-01-31')
    const isWhole = feed !== undefined && reason !== undefined && target !== undefined
    return isWhole ? { feed, target, reason, caseRef, receivedOn } : undefined
  })
}

function readTarget(members: BodyMembers<(typeof names)[number]>): ErasureTarget | undefined {
  const isSubject = members.given.has('subjectId')
  if (isSubject === members.given.has('eventId'))
    return members.fault(
      'subjectId',
      'Send exactly one of subjectId (a property or contact) and eventId (one event).',
    )
  const id = members.uuid(isSubject ? 'subjectId' : 'eventId')
  if (id === undefined) return undefined
  return isSubject ? { kind: 'subject', subjectId: id } : { kind: 'event', eventId: id }
}
