import { millisecondsOfTicks } from '@property-events/protocol'
import type { SharedClock } from '../clock.ts'
import { restrictionBegun, restrictionLifted } from '../audit-changes.ts'
import {
  begunRestriction,
  closingOfRestriction,
  refusalOfRestriction,
  reopening,
} from '../begin-restriction.ts'
import { readClock } from '../clock.ts'
import { bytesPerReduction } from '../erasure-store.ts'
import { nodeSilenceMs } from '../node-store.ts'
import { erasedEventJson } from '../reduced-event.ts'
import { isInForce, isOver } from '../restriction-store.ts'
import { feedName } from '../storage.ts'
import type {
  FeedKey,
  LiftOutcome,
  LiftRequest,
  ReduceOutcome,
  RestrictOutcome,
  Restriction,
  RestrictionRequest,
  RestrictionStore,
} from '../storage.ts'
import type { Watchers } from '../watchers.ts'
import { append } from './append.ts'
import type { MemoryAppendContext } from './append.ts'
import { noteChanges } from './audit.ts'
import { feedOf, openState } from './state.ts'
import type { MemoryFeed, MemoryRestriction, MemoryStore } from './state.ts'

export function memoryRestrictions(
  store: MemoryStore,
  clock: SharedClock | undefined,
  overrideClockCheck: boolean,
  watching: Watchers,
): RestrictionStore {
  const context = () => ({ now: readClock(clock), overrideClockCheck })
  return {
    async begin(request) {
      const outcome = begin(store, request, context())
      if (outcome.kind === 'restricted') watching.tell(request.key)
      return outcome
    },
    async lift(request) {
      const outcome = lift(store, request, context())
      if (outcome.kind === 'lifting') watching.tell(outcome.restriction.key)
      return outcome
    },
    async step(restrictionId, limit) {
      const outcome = step(store, restrictionId, limit)
      if (outcome.kind === 'reduced')
        watching.tell(openState(store).restrictions.get(restrictionId)?.restriction.key)
      return outcome
    },
    async open() {
      const open = inOrder(store).filter(
        ({ restriction: { state } }) => state === 'hiding' || state === 'hidden' || state === 'lifting',
      )
      return open.map(({ restriction, acknowledgedBy }) => ({ ...restriction, acknowledgedBy }))
    },
    acknowledge: async (restrictionId, nodeId) =>
      acknowledge(store, restrictionId, nodeId, millisecondsOfTicks(readClock(clock))),
    async find(tenantId, restrictionId) {
      const restriction = openState(store).restrictions.get(restrictionId)?.restriction
      return restriction?.key.tenantId === tenantId ? restriction : undefined
    },
    async list(tenantId, after, limit) {
      const own = inOrder(store).map(({ restriction }) => restriction)
      return own
        .filter((one) => one.key.tenantId === tenantId && (after === undefined || one.restrictionId > after))
        .slice(0, limit)
    },
    async kept({ key, subjectId, after, limit }) {
      const feed = feedOf(store, key)
      const positions = [...(feed?.kept ?? [])].toSorted(([a], [b]) => a - b)
      const found = positions.flatMap(([position, json]) => {
        const event = feed?.events[position - 1]
        if (event?.subjectId !== subjectId || event.sequenceNumber <= after) return []
        return [{ sequenceNumber: event.sequenceNumber, json: Buffer.from(json) }]
      })
      return found.slice(0, limit)
    },
  }
}

function inOrder(store: MemoryStore): readonly MemoryRestriction[] {
  const all = [...openState(store).restrictions.values()]
  return all.toSorted((a, b) => (a.restriction.restrictionId < b.restriction.restrictionId ? -1 : 1))
}

function ofSubject(store: MemoryStore, key: FeedKey, subjectId: string): readonly MemoryRestriction[] {
  return inOrder(store).filter(
    ({ restriction }) =>
      feedName(restriction.key) === feedName(key) &&
      restriction.subjectId === subjectId &&
      !isOver(restriction),
  )
}

/** From its beginning until everything is shown again: retention leaves the contact alone meanwhile. */
export function isRestricted(store: MemoryStore, key: FeedKey, subjectId: string): boolean {
  return ofSubject(store, key, subjectId).length > 0
}

function begin(
  store: MemoryStore,
  request: RestrictionRequest,
  context: MemoryAppendContext,
): RestrictOutcome {
  const { restrictions } = openState(store)
  const { key, subjectId } = request
  const unfinished = ofSubject(store, key, subjectId)
  const known =
    restrictions.get(request.restrictionId) ?? unfinished.find(({ restriction }) => isInForce(restriction))
  if (known !== undefined) return { kind: 'restricted', restriction: known.restriction }
  const feed = feedOf(store, key)
  const latest = feed?.subjects.get(subjectId)?.position
  if (feed === undefined) return { kind: 'unknownFeed' }
  if (latest === undefined) return { kind: 'unknownTarget' }
  const [outcome] = append(store, [closingOfRestriction(request)], context)
  if (outcome?.kind !== 'stored') return outcome ? refusalOfRestriction(outcome) : { kind: 'unknownFeed' }
  // Events that are still being shown again stay hidden.
  for (const one of unfinished) put(store, { ...one, restriction: { ...one.restriction, state: 'lifted' } })
  raise(feed, hide(feed, key, latest) ? [latest] : [])
  const sequenceNumber = outcome.events.at(-1)?.stored?.sequenceNumber ?? 0
  const restriction = begunRestriction(request, sequenceNumber, millisecondsOfTicks(context.now))
  const lastPosition = feed.events.length - 1
  put(store, { restriction, nextPosition: 1, lastPosition, acknowledgedBy: [] })
  noteChanges(store, restrictionBegun(request), request.actor)
  return { kind: 'restricted', restriction }
}

function lift(store: MemoryStore, request: LiftRequest, context: MemoryAppendContext): LiftOutcome {
  const one = openState(store).restrictions.get(request.restrictionId)
  if (one?.restriction.key.tenantId !== request.tenantId) return { kind: 'unknownRestriction' }
  const { restriction } = one
  if (!isInForce(restriction)) return { kind: 'lifting', restriction }
  const { key, subjectId } = restriction
  const feed = feedOf(store, key)
  const state = feed?.subjects.get(subjectId)
  if (feed === undefined || state === undefined) return { kind: 'unknownRestriction' }
  const kept = keptPositions(feed, subjectId, 0, Infinity).at(-1)
  const bytes = kept === undefined ? undefined : feed.kept.get(kept)
  const json = bytes && new TextDecoder().decode(bytes)
  const [outcome] = append(store, [reopening(key, subjectId, request, state, json)], context)
  if (outcome?.kind !== 'stored')
    return outcome ? refusalOfRestriction(outcome) : { kind: 'unknownRestriction' }
  const endedMs = millisecondsOfTicks(context.now)
  const lifting: Restriction = { ...restriction, state: 'lifting', endedMs, endedBy: request.actor }
  put(store, { ...one, restriction: lifting, nextPosition: 1, lastPosition: feed.events.length - 1 })
  noteChanges(store, restrictionLifted(restriction), request.actor)
  return { kind: 'lifting', restriction: lifting }
}

function step(store: MemoryStore, restrictionId: string, limit: number): ReduceOutcome {
  const one = openState(store).restrictions.get(restrictionId)
  const feed = one && feedOf(store, one.restriction.key)
  if (one === undefined || feed === undefined) return { kind: 'finished' }
  const { restriction, nextPosition, lastPosition } = one
  const { state, key, subjectId } = restriction
  if (state !== 'hiding' && state !== 'lifting') return { kind: 'finished' }
  // What another store has already taken over must not change here.
  if (feed.move !== 'open') return { kind: 'busy' }
  const all =
    state === 'hiding'
      ? shownPositions(feed, subjectId, nextPosition, lastPosition)
      : keptPositions(feed, subjectId, nextPosition, lastPosition)
  const taken = withinBytes(feed, all, limit)
  for (const position of taken) {
    if (state === 'hiding') hide(feed, key, position)
    else show(feed, position)
  }
  raise(feed, taken)
  const isLast = taken.length === all.length
  const last = isLast ? lastPosition : (taken.at(-1) ?? lastPosition)
  const next = state === 'hiding' ? 'hidden' : 'lifted'
  const changed: Restriction = { ...restriction, state: isLast ? next : state }
  put(store, { ...one, restriction: changed, nextPosition: last + 1 })
  return { kind: 'reduced', events: taken.length }
}

function withinBytes(feed: MemoryFeed, positions: readonly number[], limit: number): readonly number[] {
  let bytes = 0
  const end = positions.findIndex((position, index) => {
    bytes += (feed.kept.get(position) ?? feed.events[position - 1]?.json)?.byteLength ?? 0
    return index > 0 && (index >= limit || bytes > bytesPerReduction)
  })
  return end < 0 ? positions : positions.slice(0, end)
}

function shownPositions(feed: MemoryFeed, subjectId: string, first: number, last: number): readonly number[] {
  return feed.events.flatMap((event, index) => {
    const position = index + 1
    const isMeant = event.subjectId === subjectId && event.payloadState === 'full'
    return isMeant && position >= first && position <= last ? [position] : []
  })
}

function keptPositions(feed: MemoryFeed, subjectId: string, first: number, last: number): readonly number[] {
  const positions = [...feed.kept.keys()].filter((at) => feed.events[at - 1]?.subjectId === subjectId)
  return positions.filter((at) => at >= first && at <= last).toSorted((a, b) => a - b)
}

/** False if the event shows no payload. */
export function hide(feed: MemoryFeed, key: FeedKey, position: number): boolean {
  const event = feed.events[position - 1]
  if (event?.payloadState !== 'full') return false
  const json = erasedEventJson(key.feed, event.subjectId, new TextDecoder().decode(event.json))
  feed.kept.set(position, event.json)
  feed.events[position - 1] = { ...event, payloadState: 'restricted', json: new TextEncoder().encode(json) }
  return true
}

export function show(feed: MemoryFeed, position: number): void {
  const [event, json] = [feed.events[position - 1], feed.kept.get(position)]
  if (event === undefined || json === undefined) return
  feed.events[position - 1] = { ...event, payloadState: 'full', json }
  feed.kept.delete(position)
}

function raise(feed: MemoryFeed, positions: readonly number[]): void {
  if (positions.length === 0) return
  feed.revision += 1
  feed.reductions.push({ revision: feed.revision, positions })
}

function put(store: MemoryStore, one: MemoryRestriction): void {
  openState(store).restrictions.set(one.restriction.restrictionId, one)
}

/** An erasure of the contact has begun. */
export function endRestrictions(
  store: MemoryStore,
  key: FeedKey,
  subjectId: string,
  actor: string,
  endedMs: number,
): void {
  for (const one of ofSubject(store, key, subjectId)) {
    const { endedMs: before = endedMs, endedBy = actor } = one.restriction
    put(store, {
      ...one,
      restriction: { ...one.restriction, state: 'erased', endedMs: before, endedBy },
    })
  }
}

function acknowledge(
  store: MemoryStore,
  restrictionId: string,
  nodeId: string | undefined,
  nowMs: number,
): 'restricted' | 'waiting' {
  const one = openState(store).restrictions.get(restrictionId)
  if (one === undefined || one.restriction.state === 'hiding') return 'waiting'
  const acknowledgedBy = [...new Set([...one.acknowledgedBy, ...(nodeId === undefined ? [] : [nodeId])])]
  const live = [...store.nodes.values()].filter(({ seenMs }) => nowMs - seenMs < nodeSilenceMs)
  const { restriction } = one
  const isEnd = restriction.state === 'hidden' && live.every((node) => acknowledgedBy.includes(node.nodeId))
  const changed: Restriction = isEnd
    ? { ...restriction, state: 'restricted', restrictedMs: nowMs }
    : restriction
  put(store, { ...one, acknowledgedBy, restriction: changed })
  return changed.state === 'hidden' ? 'waiting' : 'restricted'
}
