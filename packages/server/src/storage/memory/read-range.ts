import type { ViewRange } from '../storage.ts'
import { eventsOfView, feedOf } from './state.ts'
import type { MemoryStore } from './state.ts'

const comma = new TextEncoder().encode(',')

export function readRange(store: MemoryStore, range: ViewRange): readonly Uint8Array[] {
  const feed = feedOf(store, range.key)
  if (feed === undefined) return []
  const events = eventsOfView(feed, range.view).slice(range.first - 1, range.first - 1 + range.count)
  return events.flatMap((event, index) => (index === 0 ? [event.json] : [comma, event.json]))
}
