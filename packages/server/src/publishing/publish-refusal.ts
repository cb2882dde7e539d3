import { millisecondsOfTicks } from '@property-events/protocol'
import { isFeedRefusal } from '../events/feed.ts'
import type { FeedRefusal } from '../events/feed.ts'
import type { MaintenanceWatch } from '../maintenance/watch.ts'
import { refused } from '../http/exchange.ts'
import type { Refused } from '../http/exchange.ts'
import type { PublishOutcome } from './publish.ts'
import type { ProblemCode, Refusal } from '../http/problem/problem.ts'

const feedCodes = {
  unknownFeed: 'key_disabled',
  epochRequired: 'epoch_required',
  tenantMoving: 'tenant_moving',
} as const satisfies Readonly<Record<FeedRefusal['kind'], ProblemCode>>

/** Why a feed took no change, whatever it was, as a problem. */
export function refusalOfFeed({ kind }: FeedRefusal): Refusal {
  return { code: feedCodes[kind] }
}

/** Why nothing was stored, as a problem. */
export function refusalOfPublish(outcome: Exclude<PublishOutcome, { kind: 'receipt' }>): Refusal {
  if (outcome.kind === 'invalid') return { code: 'invalid_body', errors: outcome.errors }
  if (outcome.kind === 'maintenance') {
    return { code: 'maintenance', headers: { 'retry-after': String(outcome.retryAfterSeconds) } }
  }
  if (outcome.kind === 'idConflict') {
    const why =
      outcome.isGone === true
        ? 'was the id of an event whose content has been erased, or was not kept any longer, and stays taken'
        : 'is taken by an event with other content'
    const message = `The id ${outcome.id} ${why}. Send it with another id.`
    const pointer = `${placeOf(outcome)}/id`
    return { code: 'id_conflict', errors: [{ pointer, code: 'id_conflict', message }] }
  }
  if (outcome.kind === 'unknownSubject') {
    const message = `The feed has no event of ${outcome.subjectId}, so there is nothing to remove. Nothing was stored.`
    const pointer = `${placeOf(outcome)}/remove/agentRef`
    return { code: 'unknown_subject', errors: [{ pointer, code: 'unknown_subject', message }] }
  }
  if (outcome.kind === 'branchNotGranted') {
    const isPayload = outcome.of === 'payload'
    const message = isPayload
      ? 'branch_id must be one of the branches that this key was granted. GET /v1/admin/self names them.'
      : 'The property belongs to no branch that this key was granted. A key of the whole agency can publish it, or move it (branches move).'
    const pointer = `${placeOf(outcome)}${isPayload ? '/payload/branch_id' : ''}`
    return { code: 'branch_not_granted', errors: [{ pointer, code: 'branch_not_granted', message }] }
  }
  if (outcome.kind === 'clockBehind') {
    const aheadMs = millisecondsOfTicks(outcome.headCreated) - millisecondsOfTicks(outcome.now)
    // Publishing resumes once the head is at most 5 minutes ahead (D25); asking more than once an hour is pointless.
    const waitSeconds = Math.min(3_600, Math.max(1, Math.ceil(aheadMs / 1_000 - 300)))
    return { code: 'clock_behind', headers: { 'retry-after': String(waitSeconds) } }
  }
  return isFeedRefusal(outcome) ? refusalOfFeed(outcome) : { code: outcome.kind }
}

/** The place of the event in the body. */
function placeOf({ index, inList }: { readonly index: number; readonly inList: boolean }): string {
  return inList ? `/${index}` : ''
}

/** What knows of maintenance. */
export interface MaintenanceContext {
  readonly maintenance: MaintenanceWatch
}

/** Refuses changes while the store is under maintenance: a copy that is being made of it would lack them. */
export async function inMaintenance({ maintenance }: MaintenanceContext): Promise<Refused | undefined> {
  const stopped = await maintenance.now()
  return stopped && refused(refusalOfPublish({ ...stopped, kind: 'maintenance' }))
}
