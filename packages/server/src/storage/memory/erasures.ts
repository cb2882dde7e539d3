import { millisecondsOfTicks } from '@property-events/protocol'
import { erasureBegun, storeCompacted } from '../audit-changes.ts'
import { begunErasure, closingBatch, refusalOfClosing } from '../begin-erasure.ts'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import { bytesPerReduction, firstNotedHour } from '../erasure-store.ts'
import { numbersPerBlock, runLagMs } from '../ledger-store.ts'
import { nodeSilenceMs } from '../node-store.ts'
import { reducedEventJson } from '../reduced-event.ts'
import type { ReducedState } from '../reduced-event.ts'
import type {
  Actor,
  BeginErasureOutcome,
  Erasure,
  ErasureRefusal,
  ErasureRequest,
  ErasureStore,
  ErasureTarget,
  FeedKey,
  ReduceOutcome,
  SentBefore,
} from '../storage.ts'
import type { Watchers } from '../watchers.ts'
import { append } from './append.ts'
import { noteChanges } from './audit.ts'
import { takeResults } from './consumers.ts'
import { activeHold } from './holds.ts'
import { endRestrictions } from './restrictions.ts'
import { reductionsAfter } from './reductions.ts'
import { feedOf, openState } from './state.ts'
import type { MemoryErasure, MemoryFeed, MemoryStore } from './state.ts'

export function memoryErasures(
  store: MemoryStore,
  clock: SharedClock | undefined,
  overrideClockCheck: boolean,
  watching: Watchers,
): ErasureStore {
  const now = () => readClock(clock)
  const nowMs = () => millisecondsOfTicks(now())
  const all = () =>
    [...openState(store).erasures.values()].toSorted((a, b) =>
      a.erasure.erasureId < b.erasure.erasureId ? -1 : 1,
    )
  return {
    async begin(request) {
      const known = openState(store).erasures.get(request.erasureId)
      if (known !== undefined) return { kind: 'begun', erasure: known.erasure }
      const outcome = begin(store, request, { now: now(), overrideClockCheck })
      if (outcome.kind === 'begun') watching.tell(request.key)
      return outcome
    },
    async beginUnchanged(request, position) {
      const { key, target } = request
      const subject =
        target.kind === 'subject' ? feedOf(store, key)?.subjects.get(target.subjectId) : undefined
      if (subject?.position !== position) return { kind: 'changed' }
      return this.begin(request)
    },
    count: async (key, target) => {
      const found = rangeOf(store, key, target)
      return 'kind' in found ? found : { kind: 'counted', events: found.events }
    },
    async reduce(erasureId, limit) {
      const outcome = reduce(store, erasureId, limit, nowMs())
      const key = openState(store).erasures.get(erasureId)?.erasure.key
      if (outcome.kind === 'reduced') watching.tell(key)
      return outcome
    },
    async open() {
      const open = all().filter(({ erasure: { state } }) => state === 'reducing' || state === 'reduced')
      return open.map(({ erasure, acknowledgedBy }) => ({ ...erasure, acknowledgedBy }))
    },
    acknowledge: async (erasureId, nodeId) => acknowledge(store, erasureId, nodeId, nowMs()),
    sentBefore: async (erasureId) => openState(store).erasures.get(erasureId)?.sentBefore,
    async waiting() {
      const waiting = all().filter(({ erasure: { state } }) => state === 'unreachable')
      return waiting.map(({ erasure: { erasureId, unreachableMs = 0 } }) => ({ erasureId, unreachableMs }))
    },
    markOverwritten: async (erasureIds, actor) => markOverwritten(store, erasureIds, actor, nowMs()),
    async find(tenantId, erasureId) {
      const erasure = openState(store).erasures.get(erasureId)?.erasure
      return erasure?.key.tenantId === tenantId ? erasure : undefined
    },
    async list(tenantId, after, limit) {
      const own = all().filter(({ erasure }) => erasure.key.tenantId === tenantId)
      return own
        .map(({ erasure }) => erasure)
        .filter(({ erasureId }) => after === undefined || erasureId > after)
        .slice(0, limit)
    },
    reductions: async (key, afterRevision, limit, branches) =>
      reductionsAfter(feedOf(store, key), afterRevision, limit, branches),
  }
}

function acknowledge(
  store: MemoryStore,
  erasureId: string,
  nodeId: string | undefined,
  nowMs: number,
): 'unreachable' | 'waiting' {
  const { erasures } = openState(store)
  const one = erasures.get(erasureId)
  if (one === undefined || one.erasure.state === 'reducing') return 'waiting'
  const acknowledgedBy = [...new Set([...one.acknowledgedBy, ...(nodeId === undefined ? [] : [nodeId])])]
  const live = [...store.nodes.values()].filter(({ seenMs }) => nowMs - seenMs < nodeSilenceMs)
  const isEnd = one.erasure.state === 'reduced' && live.every((node) => acknowledgedBy.includes(node.nodeId))
  const erasure: Erasure = isEnd
    ? { ...one.erasure, state: 'unreachable', unreachableMs: nowMs }
    : one.erasure
  const sentBefore = isEnd ? sentUntil(store, erasure, nowMs) : one.sentBefore
  erasures.set(erasureId, { ...one, acknowledgedBy, erasure, sentBefore })
  return erasure.state === 'reduced' ? 'waiting' : 'unreachable'
}

function sentUntil(store: MemoryStore, { key, target, begunMs }: Erasure, nowMs: number): SentBefore {
  const { sent, runs } = openState(store)
  const fromHour = firstNotedHour(begunMs)
  const ofFeed = [...sent.values()].filter(
    (piece) => piece.key.tenantId === key.tenantId && piece.key.feed === key.feed,
  )
  const silent = [...runs.values()].filter(
    ({ throughMs, lostMs = Infinity }) => throughMs < nowMs - runLagMs && lostMs >= fromHour * 3_600_000,
  )
  const doubtMs = silent.length === 0 ? undefined : Math.min(...silent.map(({ throughMs }) => throughMs))
  const blocks = new Set<number>()
  for (const [index, { id, subjectId, sequenceNumber }] of (feedOf(store, key)?.events ?? []).entries()) {
    if (target.kind === 'event' ? id !== target.eventId : subjectId !== target.subjectId) continue
    for (const number of [index + 1, sequenceNumber]) blocks.add(Math.floor(number / numbersPerBlock))
  }
  const pieces = ofFeed.filter(({ hour, block }) => hour >= fromHour && blocks.has(block))
  return { fromHour, pieces, doubtMs }
}

function markOverwritten(
  store: MemoryStore,
  erasureIds: readonly string[],
  actor: Actor,
  overwrittenMs: number,
): number {
  const { erasures, settings } = openState(store)
  const named = [...new Set(erasureIds)].flatMap((erasureId) => erasures.get(erasureId) ?? [])
  const unreachable = named.filter(({ erasure }) => erasure.state === 'unreachable')
  for (const one of unreachable) {
    const erasure: Erasure = { ...one.erasure, state: 'overwritten', overwrittenMs }
    erasures.set(erasure.erasureId, { ...one, erasure })
  }
  noteChanges(store, storeCompacted(settings.storeId, unreachable.length), actor)
  return unreachable.length
}

interface ErasedRange {
  readonly firstPosition: number
  readonly lastPosition: number
  readonly events: number
}

/** What will be reduced, determined before anything is appended. */
function rangeOf(store: MemoryStore, key: FeedKey, target: ErasureTarget): ErasedRange | ErasureRefusal {
  const feed = feedOf(store, key)
  if (feed === undefined) return { kind: 'unknownFeed' }
  if (target.kind === 'subject') {
    const events = feed.events.filter(({ subjectId }) => subjectId === target.subjectId).length
    if (events === 0) return { kind: 'unknownTarget' }
    const onHold = activeHold(store, key, target.subjectId)
    if (onHold !== undefined) return onHold
    return { firstPosition: 1, lastPosition: feed.events.length, events }
  }
  const index = feed.events.findIndex(({ id }) => id === target.eventId)
  const event = feed.events[index]
  if (event === undefined) return { kind: 'unknownTarget' }
  const position = index + 1
  if (feed.subjects.get(event.subjectId)?.position === position || isLatestKept(feed, event, position)) {
    return { kind: 'eventIsLatest' }
  }
  const onHold = activeHold(store, key, event.subjectId)
  if (onHold !== undefined) return onHold
  return { firstPosition: position, lastPosition: position, events: 1 }
}

/** For a restricted contact: a later event that is shown in its place does not show the contact's state. */
function isLatestKept(
  feed: MemoryFeed,
  { subjectId }: { readonly subjectId: string },
  position: number,
): boolean {
  const kept = [...feed.kept.keys()].filter((at) => feed.events[at - 1]?.subjectId === subjectId)
  return kept.length > 0 && Math.max(...kept) === position
}

function begin(
  store: MemoryStore,
  request: ErasureRequest,
  context: Parameters<typeof append>[2],
): BeginErasureOutcome {
  const { erasureId, key, target } = request
  const range = rangeOf(store, key, target)
  if ('kind' in range) return range
  let closing: Erasure['closing']
  if (target.kind === 'subject') {
    const [outcome] = append(store, [closingBatch(request, target.subjectId)], context)
    if (outcome?.kind !== 'stored') return refusalOfClosing(outcome ?? { kind: 'unknownFeed' })
    const { id: eventId = '', stored } = outcome.events.at(-1) ?? {}
    closing = { eventId, sequenceNumber: stored?.sequenceNumber ?? 0 }
    endRestrictions(store, key, target.subjectId, request.actor, millisecondsOfTicks(context.now))
  } else if (feedOf(store, key)?.move !== 'open') return { kind: 'tenantMoving' }
  const { events, firstPosition, lastPosition } = range
  const revision = feedOf(store, key)?.revision ?? 0
  const nowMs = millisecondsOfTicks(context.now)
  const erasure = begunErasure({ request, events, closing, revision, nowMs })
  noteChanges(store, erasureBegun(request), request.actor)
  takeResults(store, request)
  openState(store).erasures.set(erasureId, {
    erasure,
    nextPosition: firstPosition,
    lastPosition,
    acknowledgedBy: [],
    sentBefore: undefined,
  })
  return { kind: 'begun', erasure }
}

function reduce(store: MemoryStore, erasureId: string, limit: number, nowMs: number): ReduceOutcome {
  const one = openState(store).erasures.get(erasureId)
  const feed = one && feedOf(store, one.erasure.key)
  if (one === undefined || feed === undefined || one.erasure.state !== 'reducing') return { kind: 'finished' }
  // What another store has already taken over must not change here.
  if (feed.move !== 'open') return { kind: 'busy' }
  const step = positionsOf(feed, one, limit)
  // What was kept is removed without a trace: the event is still shown as before.
  const positions = step.filter((position) => {
    const isShown = !feed.kept.delete(position)
    return reduceEvent(feed, one.erasure.key, position) && isShown
  })
  if (positions.length > 0) {
    feed.revision += 1
    feed.reductions.push({ revision: feed.revision, positions })
  }
  const nextPosition = (step.at(-1) ?? one.lastPosition) + 1
  const reduced = one.erasure.reduced + step.length
  const isReduced = positionsOf(feed, { ...one, nextPosition }, 1).length === 0
  const erasure: Erasure = {
    ...one.erasure,
    reduced,
    revision: positions.length > 0 ? feed.revision : one.erasure.revision,
    state: isReduced ? 'reduced' : 'reducing',
    reducedMs: isReduced ? nowMs : undefined,
  }
  openState(store).erasures.set(erasureId, { ...one, erasure, nextPosition })
  return { kind: 'reduced', events: step.length }
}

/** The next events, as many as one step takes. */
function positionsOf(feed: MemoryFeed, one: MemoryErasure, limit: number): readonly number[] {
  const { target } = one.erasure
  const positions: number[] = []
  let bytes = 0
  for (let position = one.nextPosition; position <= one.lastPosition; position += 1) {
    const event = feed.events[position - 1]
    if (event === undefined || (target.kind === 'subject' && event.subjectId !== target.subjectId)) continue
    bytes += event.json.byteLength
    if (positions.length >= limit || (positions.length > 0 && bytes > bytesPerReduction)) break
    positions.push(position)
  }
  return positions
}

/** False if it was reduced in this way before, or was erased and is now to be thinned. */
export function reduceEvent(
  feed: MemoryFeed,
  key: FeedKey,
  position: number,
  state: ReducedState = 'erased',
): boolean {
  const event = feed.events[position - 1]
  if (event === undefined || event.payloadState === 'erased' || event.payloadState === state) return false
  const json = reducedEventJson(state, key.feed, event.subjectId, new TextDecoder().decode(event.json))
  const branch = key.feed === 'property' ? event.branch : null
  feed.events[position - 1] = { ...event, branch, payloadState: state, json: new TextEncoder().encode(json) }
  for (const [id, taken] of feed.ids) {
    if (taken.position === position) feed.ids.set(id, { ...taken, contentHash: null })
  }
  return true
}
