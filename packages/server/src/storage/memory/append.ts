import type { Ticks } from '@property-events/protocol'
import { decideAppend, defaultClockToleranceTicks, previewOf } from '../decide-append.ts'
import type { AppendDecision, EventRow } from '../decide-append.ts'
import { eventJson, parseEventJson } from '../event-json.ts'
import type { AppendLookups } from '../plan-append.ts'
import type { AppendBatch, AppendOutcome, FeedKey } from '../storage.ts'
import { enterBranchViews } from './branch-views.ts'
import { feedOf, openState } from './state.ts'
import type { MemoryFeed, MemoryStore } from './state.ts'

export interface MemoryAppendContext {
  readonly now: Ticks
  readonly overrideClockCheck: boolean
}

export function append(
  store: MemoryStore,
  batches: readonly AppendBatch[],
  context: MemoryAppendContext,
): readonly AppendOutcome[] {
  return batches.map((batch) => {
    const decided = decide(store, batch, context)
    if (decided.kind === 'refused') return decided.outcome
    const { feed, decision } = decided
    for (const row of decision.rows) insert(feed, batch.key, row)
    for (const { id, contentHash, position } of decision.reserved) {
      feed.ids.set(id, { position, contentHash, skipped: context.now })
    }
    return decision.outcome
  })
}

export function preview(store: MemoryStore, batch: AppendBatch, context: MemoryAppendContext): AppendOutcome {
  const decided = decide(store, batch, context)
  return decided.kind === 'refused' ? decided.outcome : previewOf(decided.decision)
}

type Decided =
  | { readonly kind: 'refused'; readonly outcome: AppendOutcome }
  | { readonly kind: 'decided'; readonly feed: MemoryFeed; readonly decision: AppendDecision }

function decide(store: MemoryStore, batch: AppendBatch, context: MemoryAppendContext): Decided {
  const state = openState(store)
  const feed = feedOf(store, batch.key)
  if (feed === undefined) return { kind: 'refused', outcome: { kind: 'unknownFeed' } }
  if (state.needsEpoch || feed.needsEpoch) return { kind: 'refused', outcome: { kind: 'epochRequired' } }
  if (feed.move !== 'open') return { kind: 'refused', outcome: { kind: 'tenantMoving' } }
  const counter = {
    lastPosition: feed.events.length,
    offset: feed.offset,
    lastCreated: feed.events.at(-1)?.created,
  }
  const decision = decideAppend(batch, counter, lookupsOf(feed), {
    catalogue: state.settings.catalogue,
    now: context.now,
    floor: feed.stampFloor > state.stampFloor ? feed.stampFloor : state.stampFloor,
    clockToleranceTicks: context.overrideClockCheck ? undefined : defaultClockToleranceTicks,
  })
  return { kind: 'decided', feed, decision }
}

function lookupsOf(feed: MemoryFeed): AppendLookups {
  return {
    idTaken: (id) => feed.ids.get(id),
    subject: (subjectId) => feed.subjects.get(subjectId),
    event(position) {
      const event = feed.events[position - 1]
      if (event === undefined) throw new Error(`no event at position ${position}`)
      return parseEventJson(new TextDecoder().decode(event.json))
    },
    firstEvent(subjectId) {
      const event = feed.events.find((one) => one.subjectId === subjectId)
      if (event === undefined) throw new Error(`no event of ${subjectId}`)
      return parseEventJson(new TextDecoder().decode(event.json))
    },
  }
}

function insert(feed: MemoryFeed, key: FeedKey, row: EventRow): void {
  const { position, sequenceNumber, created, createdDate, event } = row
  const { id, subjectId, contentHash, state, payloadState } = event
  const json = new TextEncoder().encode(eventJson(key, event, sequenceNumber, createdDate))
  const { category, branch } = state
  feed.events.push({ sequenceNumber, created, id, subjectId, payloadState, category, branch, json })
  feed.ids.set(id, { position, contentHash, skipped: null })
  if (event.kept !== undefined) {
    const whole = eventJson(key, { ...event, payload: event.kept }, sequenceNumber, createdDate)
    feed.kept.set(position, new TextEncoder().encode(whole))
  }
  feed.subjects.set(subjectId, { ...state, position })
  if (category !== null) feed.views.get(category)?.push(position)
  enterBranchViews(feed, position - 1, position)
}
