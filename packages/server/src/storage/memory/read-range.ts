import type { ViewRange } from '../storage.ts'
import { eventsOfView, feedOf } from './state.ts'
import type { MemoryStore } from './state.ts'

const comma = Buffer.from(',')

export function readRange(store: MemoryStore, range: ViewRange): readonly Uint8Array[] {
  const events = eventsIn(store, range)
  if (events.length === 0) return []
  // A copy: the reader may overwrite or free its bytes.
  return [Buffer.concat(events.flatMap((event, index) => (index === 0 ? [event.json] : [comma, event.json])))]
}

export function readRangeWithin(
  store: MemoryStore,
  range: ViewRange,
  maxBytes: number,
): readonly Uint8Array[] | undefined {
  const bytes = measureRange(store, range).reduce((sum, length) => sum + length, 0)
  return bytes > maxBytes ? undefined : readRange(store, range)
}

export function measureRange(store: MemoryStore, range: ViewRange): readonly number[] {
  return eventsIn(store, range).map(({ json }) => json.byteLength)
}

function eventsIn(store: MemoryStore, { key, view, first, count, positions }: ViewRange) {
  const feed = feedOf(store, key)
  if (feed === undefined) return []
  if (positions === undefined) return eventsOfView(feed, view).slice(first - 1, first - 1 + count)
  return [...positions.subarray(first - 1, first - 1 + count)].flatMap((at) => feed.events[at - 1] ?? [])
}
