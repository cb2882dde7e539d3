/**
 * Plans what an append will do, once for every engine (P12): repeats, derived event types, categories, removals. Pure. An engine calls it
 * while it holds the feed's counter, with look-ups that see everything committed before, so two publishers can never both find "not
 * published yet" (D12).
 */
import { hash } from 'node:crypto'
import { eventTypeNumber, setMembers, standardCode } from '@property-events/protocol/plain'
import type { EventTypeCatalogue, FeedEvent, FeedName } from '@property-events/protocol'
import { uuidV5 } from '../../runtime/hashes.ts'
import { hashBeside, isRepeat } from './content-hash.ts'
import { isOfOtherBranch, repeatsOtherBranch, subjectRefusal } from './append-plan.ts'
import { erasedPayload, isReducedPayload } from './reduced-event.ts'
import { firstSpelling, keepsUpdateDate, spelled } from './subject-identity.ts'
import { derivedCode, isUnchanged, leavesAView, withoutRestriction, stateAfter } from './subject-state.ts'
import type { StateAfter, SubjectState } from './subject-state.ts'
import type { AppendBatch, AppendRemark, DraftContent, EventDraft } from './append-batch.ts'
import type { AppendLookups, AppendPlan, PlannedEvent, PlanStep } from './append-plan.ts'

/** The latest event of a subject while a plan grows: stored, or planned earlier in the same batch. */
interface Latest {
  readonly state: SubjectState
  readonly of: number | PlannedEvent
  readonly payload: () => string
}

export function planAppend(
  batch: AppendBatch,
  lookups: AppendLookups,
  catalogue: EventTypeCatalogue,
): AppendPlan {
  const feed = batch.key.feed
  const steps: PlanStep[] = []
  const planned = new Map<string, PlannedEvent>()
  const removalType = (): number => numberOf(catalogue, feed, standardCode(feed, 'gone'))
  const plannedIds = new Set<string>()
  const timesNamed = batch.unchanged === 'skip' ? timesOfSubjects(batch) : undefined

  for (const [index, draft] of batch.drafts.entries()) {
    if (isOfOtherBranch(batch, draft)) return { kind: 'branchNotGranted', index, of: 'payload' }
    const existing = lookups.idTaken(draft.id)
    if (existing !== undefined) {
      const repeated = (): FeedEvent => lookups.event(existing.position)
      if (!isRepeat(draft, existing.contentHash, () => repeated().payload)) {
        return conflictOf(index, draft.id, existing, lookups)
      }
      if (repeatsOtherBranch(batch, draft, repeated))
        return { kind: 'branchNotGranted', index, of: 'subject' }
      const derived = lookups.idTaken(derivedId(draft.id))
      if (derived?.contentHash === null) steps.push({ kind: 'repeated', index, position: derived.position })
      steps.push({ kind: 'repeated', index, position: existing.position })
      continue
    }

    if (plannedIds.has(draft.id)) return { kind: 'idConflict', index, id: draft.id }
    const shown = latestOf(draft.subjectId, planned, lookups)
    const latest = shown && { ...shown, state: stateToPlanFrom(feed, draft, shown.state) }
    const refusal = subjectRefusal(batch, index, latest?.state)
    if (refusal !== undefined) return refusal
    const after = stateAfter(feed, draft, latest?.state)
    if (
      batch.unchanged === 'skip' &&
      latest !== undefined &&
      isUnchanged(draft, latest.state, after, latest.payload)
    ) {
      // An engine that has lost the answer to its commit appends the same drafts again. A later draft of the subject is then the latest,
      // and this one must not replace it. It is recognised by its id, even by one that no publisher has sent.
      const isKept = draft.idGiven || (timesNamed?.get(draft.subjectId) ?? 0) > 1
      const reserve = isKept ? { id: draft.id, contentHash: hashBeside(draft, latest.state) } : undefined
      steps.push({ kind: 'unchanged', index, of: latest.of, reserve })
      plannedIds.add(draft.id)
      continue
    }
    const event = planEvent(feed, draft, latest, after, catalogue)
    let appended = shown?.state.keptCode == null ? event : restrictedEvent(feed, draft, event, removalType)
    if (draft.restriction === 'begins' && shown !== undefined) appended = withRestriction(event, shown.state)
    // An erased subject has nothing left that another view could show.
    const mayLeave = feed === 'property' && draft.content.kind !== 'erased'
    if (mayLeave && latest !== undefined && leavesAView(latest.state, event.state)) {
      const departure = planDeparture(feed, draft, event, latest, catalogue)
      if (plannedIds.has(departure.id) || lookups.idTaken(departure.id) !== undefined) {
        return { kind: 'idConflict', index, id: draft.id }
      }
      steps.push({ kind: 'append', index, derived: true, event: departure })
      plannedIds.add(departure.id)
      // A client that reads only the new category has never seen the subject: for that client the subject appears now.
      const code = draft.eventTypeShortCode ?? derivedCode(feed, event.state.published, false)
      const eventType = numberOf(catalogue, feed, code)
      appended = { ...event, eventType, state: { ...event.state, code } }
    }
    steps.push({ kind: 'append', index, derived: false, event: appended })
    planned.set(draft.subjectId, appended)
    plannedIds.add(draft.id)
  }
  return { kind: 'plan', steps }
}

/** The service's own events have no hash either, so the event itself shows whether its content is gone. */
function conflictOf(
  index: number,
  id: string,
  { position, contentHash }: { readonly position: number; readonly contentHash: Uint8Array | null },
  lookups: AppendLookups,
): AppendPlan {
  const isGone = contentHash === null && isReducedPayload(lookups.event(position).payload)
  return { kind: 'idConflict', index, id, ...(isGone ? { isGone } : {}) }
}

function timesOfSubjects({ drafts }: AppendBatch): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const { subjectId } of drafts) times.set(subjectId, (times.get(subjectId) ?? 0) + 1)
  return times
}

/** The id of the event derived for the event `id`. It follows from that id, so that a repeat finds the whole first result. */
function derivedId(id: string): string {
  return uuidV5(id, 'derived')
}

function latestOf(
  subjectId: string,
  planned: ReadonlyMap<string, PlannedEvent>,
  lookups: AppendLookups,
): Latest | undefined {
  const pending = planned.get(subjectId)
  if (pending !== undefined) {
    return { state: pending.state, of: pending, payload: () => pending.payload }
  }
  const stored = lookups.subject(subjectId)
  if (stored === undefined) return undefined
  return { state: stored, of: stored.position, payload: () => lookups.event(stored.position).payload }
}

function planEvent(
  feed: FeedName,
  draft: EventDraft,
  latest: Latest | undefined,
  after: StateAfter,
  catalogue: EventTypeCatalogue,
): PlannedEvent {
  const { content, subjectId } = draft
  const keptSpelling =
    latest?.state.spelling ?? firstSpelling(subjectId, draft.transactionId, draft.subjectSpelling)
  const spelling = spelled(subjectId, keptSpelling)
  const { transactionId = spelling } = draft
  const updateDateHash = updateDateHashAfter(content, latest?.state.updateDateHash ?? null)
  const payload = payloadOf(feed, content, spelling, latest)
  // Computed here, so that the publisher's next file finds the payload unchanged.
  const payloadHash = content.kind === 'moved' ? hash('sha256', payload, 'buffer') : after.payloadHash
  const state = { ...after, payloadHash, spelling: keptSpelling, updateDateHash, keptCode: null }
  return {
    id: draft.id,
    subjectId,
    transactionId,
    eventType: numberOf(catalogue, feed, after.code),
    state,
    payload,
    payloadState: content.kind === 'erased' ? 'erased' : 'full',
    contentHash: content.kind === 'erased' || draft.restriction !== undefined ? null : draft.contentHash,
    requestedCreated: draft.requestedCreated,
    remarks: remarksOf(draft, { transactionId, spelling, state }, latest?.state),
  }
}

function updateDateHashAfter(content: DraftContent, before: Uint8Array | null): Uint8Array | null {
  if (content.kind === 'payload') return content.updateDateHash
  return content.kind === 'erased' ? null : before
}

function payloadOf(
  feed: FeedName,
  content: DraftContent,
  spelling: string,
  latest: Latest | undefined,
): string {
  if (content.kind === 'payload') return content.text
  if (content.kind === 'erased') return erasedPayload(feed, spelling)
  const before = latest?.payload() ?? '{}'
  if (content.kind === 'moved') return setMembers(before, { branch_id: JSON.stringify(content.to) })
  return removedPayload(before, content.reason)
}

/** D26. Only these two members change; every other byte of the payload stays. */
function removedPayload(payload: string, reason: string | undefined): string {
  return setMembers(payload, {
    published: 'false',
    ...(reason === undefined ? {} : { removal_reason: reason }),
  })
}

function planDeparture(
  feed: FeedName,
  draft: EventDraft,
  event: PlannedEvent,
  latest: Latest,
  catalogue: EventTypeCatalogue,
): PlannedEvent {
  const code = standardCode(feed, 'gone')
  return {
    id: derivedId(draft.id),
    subjectId: draft.subjectId,
    transactionId: event.transactionId,
    eventType: numberOf(catalogue, feed, code),
    state: { ...latest.state, code, published: false, payloadHash: null, spelling: event.state.spelling },
    payload: removedPayload(latest.payload(), undefined),
    payloadState: 'full',
    contentHash: null,
    requestedCreated: event.requestedCreated,
    remarks: [],
  }
}

function numberOf(catalogue: EventTypeCatalogue, feed: FeedName, code: string): number {
  const number = eventTypeNumber(catalogue, feed, code)
  if (number === undefined) throw new Error(`the catalogue has no ${feed} event type ${code}`)
  return number
}

/** `transactionId` and `state` are those of the event; `before` is the subject's state before it. */
function remarksOf(
  draft: EventDraft,
  { transactionId, spelling, state }: Described,
  before: SubjectState | undefined,
): readonly AppendRemark[] {
  const remarks: AppendRemark[] = []
  const against = againstPrice(draft, state)
  if (against !== undefined) remarks.push(against)
  if (transactionId !== spelling && transactionId.toLowerCase() === draft.subjectId) {
    remarks.push('otherSpelling')
  }
  if (before !== undefined && keepsUpdateDate(before, state)) remarks.push('updateDateUnchanged')
  return remarks
}

interface Described {
  readonly transactionId: string
  /** The subject as its first event spells it. */
  readonly spelling: string
  readonly state: SubjectState
}

/** A derived category decides who is shown the property, so the publisher hears of one that is probably wrong (D23). */
function againstPrice({ category, content }: EventDraft, state: SubjectState): AppendRemark | undefined {
  if (category !== undefined || content.kind !== 'payload' || content.priceLooksLike === undefined)
    return undefined
  if (state.category === content.priceLooksLike) return undefined
  return state.category === 'sales' ? 'salesAgainstPrice' : 'lettingsAgainstPrice'
}

/** How a restriction changes an event that is being planned (D17, docs/decisions/0033). */

/** An event of a restricted contact is planned as if the contact were not restricted, and then put aside (D17). */
function stateToPlanFrom(feed: FeedName, { restriction }: EventDraft, state: SubjectState): SubjectState {
  return restriction === 'ends' ? { ...state, keptCode: null } : withoutRestriction(feed, state)
}

/** Puts the event aside, with the removal (with this number of event type) in its place; unless the event itself ends the restriction. */
function restrictedEvent(
  feed: FeedName,
  draft: EventDraft,
  event: PlannedEvent,
  removalType: () => number,
): PlannedEvent {
  if (draft.restriction === 'ends' || draft.content.kind === 'erased') return event
  const gone = standardCode(feed, 'gone')
  const spelling = spelled(event.subjectId, event.state.spelling)
  return {
    ...event,
    eventType: removalType(),
    state: { ...event.state, code: gone, published: false, keptCode: event.state.code },
    payload: erasedPayload(feed, spelling),
    payloadState: 'restricted',
    kept: event.payload,
    remarks: [...event.remarks, 'restricted'],
  }
}

/**
 * The event that removes a contact from consumers' copies. The hash of what is kept stays, so that sending the same again is no change.
 */
function withRestriction(event: PlannedEvent, { keptCode, code, payloadHash }: SubjectState): PlannedEvent {
  return { ...event, state: { ...event.state, keptCode: keptCode ?? code, payloadHash } }
}
