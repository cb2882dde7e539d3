import type { FeedKey, ReadSubjectQuery, StoredEvent } from '../storage.ts'
import { feedOf } from './state.ts'
import type { MemoryStore } from './state.ts'

export function readLatest(store: MemoryStore, key: FeedKey, subjectId: string): StoredEvent | undefined {
  const feed = feedOf(store, key)
  const event = feed?.events[(feed.subjects.get(subjectId)?.position ?? 0) - 1]
  return event && { sequenceNumber: event.sequenceNumber, json: Buffer.from(event.json) }
}

export function readSubject(store: MemoryStore, query: ReadSubjectQuery): readonly StoredEvent[] {
  const { key, subjectId, after, limit } = query
  return (feedOf(store, key)?.events ?? [])
    .filter((event) => event.subjectId === subjectId && event.sequenceNumber > after)
    .slice(0, limit)
    .map(({ sequenceNumber, json }) => ({ sequenceNumber, json: Buffer.from(json) }))
}
