import type { ReadAfterQuery, StoredEvent } from '../storage.ts'
import { eventsOfView, feedOf } from './state.ts'
import type { MemoryStore } from './state.ts'

export function readAfter(store: MemoryStore, query: ReadAfterQuery): readonly StoredEvent[] {
  const feed = feedOf(store, query.key)
  if (feed === undefined) return []
  const isLatest = (subjectId: string, sequenceNumber: number): boolean => {
    const position = feed.subjects.get(subjectId)?.position ?? 0
    return feed.events[position - 1]?.sequenceNumber === sequenceNumber
  }
  return eventsOfView(feed, query.view)
    .filter((event) => event.sequenceNumber > query.after)
    .filter((event) => !query.latestOnly || isLatest(event.subjectId, event.sequenceNumber))
    .slice(0, query.limit)
    .map(({ sequenceNumber, json }) => ({ sequenceNumber, json: Buffer.from(json) }))
}
