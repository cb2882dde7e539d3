import type { Ticks } from '@property-events/protocol'
import { floorAfter } from '../clock.ts'
import { isOpenWindow } from '../open-window.ts'
import { answersOpenWindows } from '../move-store.ts'
import { StorageFailure } from '../storage.ts'
import type { LocateQuery, Located } from '../storage.ts'
import { assertReady } from './branch-views.ts'
import { eventsOfView, feedOf, headOf } from './state.ts'
import type { MemoryStore } from './state.ts'

/** An append is finished before anything else runs, so no stamp ever waits; the floor alone ensures P3. */
export function locate(store: MemoryStore, query: LocateQuery, now: Ticks): Located | undefined {
  const feed = feedOf(store, query.key)
  if (feed === undefined) return undefined
  const { key, view, from, to } = query
  assertReady(feed, view)
  const events = eventsOfView(feed, view)
  const before = events.filter((event) => from !== undefined && event.created < from).length
  const after = events.filter((event) => to !== undefined && event.created >= to).length
  const count = Math.max(0, events.length - before - after)
  const located = { range: { key, view, first: before + 1, count }, head: headOf(feed) }
  if (isOpenWindow(query, located)) {
    if (!answersOpenWindows(feed.move)) throw new StorageFailure('tenant_moving')
    const floor = floorAfter(now)
    if (floor > store.state.stampFloor) store.state.stampFloor = floor
    return { ...located, settled: floor }
  }
  return located
}
