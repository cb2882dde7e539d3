import { meaningOf } from '@property-events/protocol'
import type { LiveQuery, LiveStep } from '../storage.ts'
import { standsIn } from './branch-views.ts'
import { feedOf } from './state.ts'
import type { MemoryStore } from './state.ts'

export function liveSubjects(store: MemoryStore, query: LiveQuery): LiveStep {
  const { key, view, first, last, after, limit } = query
  const feed = feedOf(store, key)
  if (feed === undefined) return { subjects: [], next: undefined }
  const looked = [...feed.subjects]
    .filter(([subjectId]) => subjectId >= first && subjectId <= last && subjectId > (after ?? ''))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, limit)
  const subjects = looked.flatMap(([subjectId, { position, code }]) => {
    const event = feed.events[position - 1]
    if (event === undefined || meaningOf(key.feed, code) === 'gone' || !standsIn(feed, view, event)) return []
    return [{ subjectId, position, sequenceNumber: event.sequenceNumber }]
  })
  return { subjects, next: looked.length < limit ? undefined : looked.at(-1)?.[0] }
}
