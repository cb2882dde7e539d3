import type { FeedKey, ReadSubjectQuery, StoredEvent } from '../storage.ts'
import { isOfBranches } from './read-event.ts'
import { feedOf } from './state.ts'
import type { MemoryStore } from './state.ts'

export function readLatest(
  store: MemoryStore,
  key: FeedKey,
  subjectId: string,
  branches: readonly string[] | undefined,
): StoredEvent | undefined {
  const feed = feedOf(store, key)
  const event =
    branches === undefined
      ? feed?.events[(feed.subjects.get(subjectId)?.position ?? 0) - 1]
      : feed?.events.findLast((one) => one.subjectId === subjectId && isOfBranches(one, branches))
  return event && { sequenceNumber: event.sequenceNumber, json: Buffer.from(event.json) }
}

export function readSubject(store: MemoryStore, query: ReadSubjectQuery): readonly StoredEvent[] {
  const { key, subjectId, after, limit, branches } = query
  return (feedOf(store, key)?.events ?? [])
    .filter((event) => event.subjectId === subjectId && event.sequenceNumber > after)
    .filter((event) => isOfBranches(event, branches))
    .slice(0, limit)
    .map(({ sequenceNumber, json }) => ({ sequenceNumber, json: Buffer.from(json) }))
}
