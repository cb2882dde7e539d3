import type { ViewRange } from '../storage.ts'
import { eventsOfView, feedOf } from './state.ts'
import type { MemoryStore } from './state.ts'

const comma = Buffer.from(',')

export function readRange(store: MemoryStore, range: ViewRange): readonly Uint8Array[] {
  const feed = feedOf(store, range.key)
  if (feed === undefined) return []
  const events = eventsOfView(feed, range.view).slice(range.first - 1, range.first - 1 + range.count)
  if (events.length === 0) return []
  // A copy: the reader may overwrite or free its bytes.
  return [Buffer.concat(events.flatMap((event, index) => (index === 0 ? [event.json] : [comma, event.json])))]
}
