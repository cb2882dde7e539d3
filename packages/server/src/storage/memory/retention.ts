import { millisecondsOfTicks } from '@property-events/protocol'
import { retentionSet } from '../audit-changes.ts'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import { cutThinStep, nextThinStep, retentionTurnMs } from '../retention-store.ts'
import type { DueEvent, ThinProgress, ThinStep } from '../retention-store.ts'
import type { FeedKey, RetentionStore, ThinSpan } from '../storage.ts'
import type { Watchers } from '../watchers.ts'
import { noteChanges } from './audit.ts'
import { reduceEvent } from './erasures.ts'
import { activeHold } from './holds.ts'
import { isRestricted } from './restrictions.ts'
import { feedOf, openState } from './state.ts'
import type { MemoryFeed, MemoryStore } from './state.ts'

export function memoryRetention(
  store: MemoryStore,
  clock: SharedClock | undefined,
  watching: Watchers,
): RetentionStore {
  const takeTurn = (nodeId: string): boolean => {
    const nowMs = millisecondsOfTicks(readClock(clock))
    const { thinning } = store
    if (thinning !== undefined && thinning.nodeId !== nodeId && thinning.untilMs > nowMs) return false
    store.thinning = { nodeId, untilMs: nowMs + retentionTurnMs }
    return true
  }
  return {
    takeTurn: async (nodeId) => takeTurn(nodeId),
    async endTurn(nodeId) {
      if (store.thinning?.nodeId === nodeId) store.thinning = undefined
    },
    rules: async (tenantId) =>
      [...openState(store).retentionRules.values()]
        .filter((one) => tenantId === undefined || one.tenantId === tenantId)
        .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
    async setRule(tenantId, rule, days, actor) {
      const { tenants, retentionRules } = openState(store)
      if (!tenants.has(tenantId)) return 'unknownTenant'
      const name = nameOf({ tenantId, rule })
      if (retentionRules.get(name)?.days === days) return 'done'
      if (days === undefined) retentionRules.delete(name)
      else retentionRules.set(name, { tenantId, rule, days })
      noteChanges(store, retentionSet(tenantId, rule, days), actor)
      return 'done'
    },
    async thin(span, limit, nodeId) {
      const feed = feedOf(store, span.key)
      if (feed?.move !== 'open') return { kind: 'closed' }
      const step = nextThinStep(feed.thinProgress, endsOf(feed, span), span, limit)
      if (step === undefined) return { kind: 'finished' }
      if (!takeTurn(nodeId)) return { kind: 'busy' }
      const { due, to } = cutThinStep(step, dueEvents(store, span.key, feed, step))
      const positions = due.map(({ position }) => position)
      for (const position of positions) reduceEvent(feed, span.key, position, 'thinned')
      feed.thinProgress = to
      if (positions.length > 0) {
        feed.thinned += 1
        feed.thinnings.push({ thinned: feed.thinned, positions })
        watching.tell(span.key)
      }
      return { kind: 'thinned', events: positions.length }
    },
    async countDue(span, limit, progress) {
      const feed = feedOf(store, span.key)
      if (feed === undefined) return undefined
      const step = nextThinStep(progress ?? feed.thinProgress, endsOf(feed, span), span, limit)
      if (step === undefined) return undefined
      const { due, to } = cutThinStep(step, dueEvents(store, span.key, feed, step))
      return { events: due.length, progress: to }
    },
  }
}

function nameOf({ tenantId, rule }: { readonly tenantId: string; readonly rule: string }): string {
  return `${tenantId} ${rule}`
}

/** The last positions before the two times. */
function endsOf({ events }: MemoryFeed, { before, supersededBefore }: ThinSpan): ThinProgress {
  const aged = events.findLastIndex(({ created }) => created < before) + 1
  return { aged, superseded: events.findLastIndex(({ created }) => created < supersededBefore) + 1 }
}

function dueEvents(
  store: MemoryStore,
  key: FeedKey,
  feed: MemoryFeed,
  { from, to, supersededUntil }: ThinStep,
): readonly DueEvent[] {
  const due: DueEvent[] = []
  const { events } = feed
  const add = (at: number, position: number): void => {
    const event = events[position - 1]
    if (event?.payloadState !== 'full' && event?.payloadState !== 'restricted') return
    const isHeld =
      activeHold(store, key, event.subjectId) !== undefined || isRestricted(store, key, event.subjectId)
    due.push({ at, position, byteLength: event.json.byteLength, isHeld })
  }
  const isOf = (subjectId: string | undefined) => (event: { readonly subjectId: string }) =>
    event.subjectId === subjectId
  for (let at = from.aged + 1; at <= to.aged; at += 1) {
    if (events.slice(at, supersededUntil).some(isOf(events[at - 1]?.subjectId))) add(at, at)
  }
  for (let at = from.superseded + 1; at <= to.superseded; at += 1) {
    const position = events.slice(0, at - 1).findLastIndex(isOf(events[at - 1]?.subjectId)) + 1
    if (position > 0 && position <= to.aged) add(at, position)
  }
  return due
}
