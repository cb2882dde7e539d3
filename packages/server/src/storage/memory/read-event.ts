import type { FeedKey, StoredEvent } from '../storage.ts'
import { feedOf } from './state.ts'
import type { MemoryStore } from './state.ts'

export function readEvent(store: MemoryStore, key: FeedKey, id: string): StoredEvent | undefined {
  const event = feedOf(store, key)?.events.find((event) => event.id === id)
  return event && { sequenceNumber: event.sequenceNumber, json: Buffer.from(event.json) }
}

export function positionOf(store: MemoryStore, key: FeedKey, id: string): number | undefined {
  return feedOf(store, key)?.ids.get(id)?.position
}
