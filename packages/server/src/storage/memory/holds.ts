import { millisecondsOfTicks } from '@property-events/protocol'
import { holdAdded, holdEnded, holdsExpired } from '../audit-changes.ts'
import { readClock } from '../clock.ts'
import { addedHold, holdState } from '../../privacy/hold/hold.ts'
import { feedName } from '../storage.ts'
import type { FeedKey, Hold, HoldStore, OnHold } from '../storage.ts'
import { noteChanges } from './audit.ts'
import { feedOf, openState } from './state.ts'
import type { MemoryStore } from './state.ts'

export function memoryHolds(store: MemoryStore): HoldStore {
  const nowMs = () => millisecondsOfTicks(readClock(store.clock))
  return {
    async add(request) {
      const { holds } = openState(store)
      const known = holds.get(request.holdId)
      if (known !== undefined) return { kind: 'added', hold: known }
      const feed = feedOf(store, request.key)
      if (feed === undefined) return { kind: 'unknownFeed' }
      if (!feed.subjects.has(request.subjectId)) return { kind: 'unknownTarget' }
      if (feed.move !== 'open') return { kind: 'tenantMoving' }
      const hold = addedHold(request, nowMs())
      holds.set(hold.holdId, hold)
      noteChanges(store, holdAdded(request), request.actor)
      return { kind: 'added', hold }
    },
    async end(tenantId, holdId, actor) {
      const { holds } = openState(store)
      const hold = holds.get(holdId)
      if (hold?.key.tenantId !== tenantId) return { kind: 'unknownHold' }
      if (hold.endedMs !== undefined) return { kind: 'ended', hold }
      if (feedOf(store, hold.key)?.move !== 'open') return { kind: 'tenantMoving' }
      const ended: Hold = { ...hold, endedMs: nowMs(), endedBy: actor }
      holds.set(holdId, ended)
      noteChanges(store, holdEnded(ended), actor)
      return { kind: 'ended', hold: ended }
    },
    async find(tenantId, holdId) {
      const hold = openState(store).holds.get(holdId)
      return hold?.key.tenantId === tenantId ? hold : undefined
    },
    async list(tenantId, after, limit) {
      const own = inOrder(store).filter(({ key }) => key.tenantId === tenantId)
      return own.filter(({ holdId }) => after === undefined || holdId > after).slice(0, limit)
    },
    active: async (key, subjectId) => activeHold(store, key, subjectId),
    async reportExpired() {
      const { holds } = openState(store)
      const now = nowMs()
      const expired = inOrder(store)
        .filter((hold) => holdState(hold, now) === 'expired' && hold.reportedMs === undefined)
        .map((hold): Hold => ({ ...hold, reportedMs: now }))
      for (const hold of expired) holds.set(hold.holdId, hold)
      noteChanges(store, holdsExpired(expired), 'service')
      return expired
    },
  }
}

function inOrder(store: MemoryStore): readonly Hold[] {
  return [...openState(store).holds.values()].toSorted((a, b) => (a.holdId < b.holdId ? -1 : 1))
}

export function activeHold(store: MemoryStore, key: FeedKey, subjectId: string): OnHold | undefined {
  const nowMs = millisecondsOfTicks(readClock(store.clock))
  const active = inOrder(store).filter(
    (hold) =>
      feedName(hold.key) === feedName(key) &&
      hold.subjectId === subjectId &&
      holdState(hold, nowMs) === 'active',
  )
  const [longest] = active.toSorted((a, b) => b.untilMs - a.untilMs)
  return longest && { kind: 'onHold', holdId: longest.holdId, untilMs: longest.untilMs }
}
