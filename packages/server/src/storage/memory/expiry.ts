import { millisecondsOfTicks } from '@property-events/protocol'
import { contactKept } from '../audit-changes.ts'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import type { ExpiryStore, FeedKey } from '../storage.ts'
import type { ExpiringRecord } from '../store-records.ts'
import { noteChanges } from './audit.ts'
import { feedOf, openState } from './state.ts'
import type { MemoryFeed, MemoryListed, MemoryStore } from './state.ts'

export function memoryExpiry(store: MemoryStore, clock: SharedClock | undefined): ExpiryStore {
  const listOf = (tenantId: string): Map<string, MemoryListed> => {
    const { expiring } = openState(store)
    const list = expiring.get(tenantId) ?? new Map<string, MemoryListed>()
    expiring.set(tenantId, list)
    return list
  }
  return {
    async enlist({ tenantId, before, todayMs, limit }) {
      const feed = feedOf(store, { tenantId, feed: 'contact' })
      if (feed === undefined) return 0
      const list = listOf(tenantId)
      const relisted = [...list]
        .filter(([, one]) => one.listedMs === null && one.unchangedSinceMs < millisecondsOfTicks(before))
        .slice(0, limit)
      for (const [subjectId, one] of relisted) list.set(subjectId, { ...one, listedMs: todayMs })
      if (relisted.length > 0) return relisted.length
      const next = latestAfter(feed, feed.listedTo, before).slice(0, limit)
      for (const { subjectId, position, createdMs, isErased } of next) {
        if (list.get(subjectId)?.position === position) continue
        if (isErased) list.delete(subjectId)
        else list.set(subjectId, { position, unchangedSinceMs: createdMs, listedMs: todayMs })
      }
      feed.listedTo = next.at(-1)?.position ?? feed.listedTo
      return next.length
    },
    async listed(tenantId, after, limit) {
      const subjects = feedOf(store, { tenantId, feed: 'contact' })?.subjects
      return [...listOf(tenantId)]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([subjectId, { position, unchangedSinceMs, listedMs }]) => {
          if (listedMs === null || subjects?.get(subjectId)?.position !== position) return []
          return [{ subjectId, position, unchangedSinceMs, listedMs }]
        })
        .filter(({ subjectId }) => after === undefined || subjectId > after)
        .slice(0, limit)
    },
    async keep(tenantId, subjectId, actor) {
      const feed = feedOf(store, { tenantId, feed: 'contact' })
      const position = feed?.subjects.get(subjectId)?.position
      const state = position === undefined ? undefined : feed?.events[position - 1]?.payloadState
      if (position === undefined || state === 'erased' || state === 'restricted') return 'unknownContact'
      if (feed?.move !== 'open') return 'tenantMoving'
      const unchangedSinceMs = millisecondsOfTicks(readClock(clock))
      listOf(tenantId).set(subjectId, { position, unchangedSinceMs, listedMs: null })
      noteChanges(store, contactKept(tenantId, subjectId), actor)
      return 'kept'
    },
  }
}

/** Latest events of subjects after a position and before a time, in their order. */
function latestAfter(feed: MemoryFeed, after: number, before: bigint) {
  return [...feed.subjects]
    .flatMap(([subjectId, { position }]) => {
      const event = feed.events[position - 1]
      if (event === undefined || position <= after || event.created >= before) return []
      const createdMs = millisecondsOfTicks(event.created)
      const isErased = event.payloadState === 'erased' || event.payloadState === 'restricted'
      return [{ subjectId, position, createdMs, isErased }]
    })
    .toSorted((a, b) => a.position - b.position)
}

/** For another store. */
export function expiringOf(store: MemoryStore, key: FeedKey): readonly ExpiringRecord[] {
  if (key.feed !== 'contact') return []
  const list = openState(store).expiring.get(key.tenantId) ?? new Map<string, MemoryListed>()
  return [...list].map(([subjectId, { position, unchangedSinceMs, listedMs }]) => {
    return { kind: 'expiring', key, subjectId, position, unchangedSinceMs, listedMs: listedMs ?? undefined }
  })
}

export function importExpiring(store: MemoryStore, record: ExpiringRecord): void {
  const { expiring } = openState(store)
  const { subjectId, position, unchangedSinceMs, listedMs } = record
  const list = expiring.get(record.key.tenantId) ?? new Map<string, MemoryListed>()
  expiring.set(record.key.tenantId, list)
  if ((list.get(subjectId)?.position ?? 0) > position) return
  list.set(subjectId, { position, unchangedSinceMs, listedMs: listedMs ?? null })
}
