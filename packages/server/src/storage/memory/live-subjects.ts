import { standardCodes } from '@property-events/protocol'
import type { LiveQuery, LiveSubject } from '../storage.ts'
import { feedOf } from './state.ts'
import type { MemoryStore } from './state.ts'

export function liveSubjects(store: MemoryStore, query: LiveQuery): readonly LiveSubject[] {
  const { key, view, first, last, after, limit } = query
  const feed = feedOf(store, key)
  return [...(feed?.subjects ?? [])]
    .filter(([subjectId]) => subjectId >= first && subjectId <= last && subjectId > (after ?? ''))
    .filter(([, { code, category }]) => {
      return code !== standardCodes[key.feed].gone && (view === 'all' || category === view)
    })
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([subjectId, { position }]) => {
      return { subjectId, sequenceNumber: feed?.events[position - 1]?.sequenceNumber ?? 0 }
    })
}
