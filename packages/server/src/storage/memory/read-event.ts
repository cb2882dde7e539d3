import type { FeedKey, StoredEvent } from '../storage.ts'
import { feedOf } from './state.ts'
import type { MemoryEvent, MemoryStore } from './state.ts'

export function readEvent(
  store: MemoryStore,
  key: FeedKey,
  id: string,
  branches: readonly string[] | undefined,
): StoredEvent | undefined {
  const event = feedOf(store, key)?.events.find((event) => event.id === id)
  if (event === undefined || !isOfBranches(event, branches)) return undefined
  return { sequenceNumber: event.sequenceNumber, json: Buffer.from(event.json) }
}

/** `branches` `undefined`: any branch, or none. */
export function isOfBranches(
  { branch }: Pick<MemoryEvent, 'branch'>,
  branches: readonly string[] | undefined,
): boolean {
  return branches === undefined || (branch !== null && branches.includes(branch))
}

export function positionOf(store: MemoryStore, key: FeedKey, id: string): number | undefined {
  return feedOf(store, key)?.ids.get(id)?.position
}
