/** The port's part for events, in memory. */
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import type { EventStore } from '../storage.ts'
import type { Watchers } from '../watchers.ts'
import { append, preview } from './append.ts'
import { countsOf, readNewest, tally } from './counts.ts'
import { earlierPositions, latestPositions } from './latest-positions.ts'
import { liveSubjects } from './live-subjects.ts'
import { locate } from './locate.ts'
import { readAfter } from './read-after.ts'
import { positionOf, readEvent } from './read-event.ts'
import { measureRange, readRange, readRangeWithin } from './read-range.ts'
import { readLatest, readSubject } from './read-subject.ts'
import { feedOf, headOf, marksOf, marksTotalOf } from './state.ts'
import type { MemoryStore } from './state.ts'

export function memoryEvents(
  store: MemoryStore,
  watching: Watchers,
  clock: SharedClock | undefined,
  overrideClockCheck: boolean,
): EventStore {
  const context = () => ({ now: readClock(clock), overrideClockCheck })
  return {
    appendsAtOnce: 1,
    append: async (batches) => watching.tellAppended(batches, append(store, batches, context())),
    preview: async (batch) => preview(store, batch, context()),
    locate: async (query) => locate(store, query, readClock(clock)),
    tally: async (query) => tally(store, query),
    readRange: async (range) => readRange(store, range),
    readRangeWithin: async (range, maxBytes) => readRangeWithin(store, range, maxBytes),
    measureRange: async (range) => measureRange(store, range),
    readEvent: async (key, id, branches) => readEvent(store, key, id, branches),
    positionOf: (key, id) => positionOf(store, key, id),
    readAfter: async (query) => readAfter(store, query),
    latestPositions: async (query) => latestPositions(store, query),
    liveSubjects: async (query) => liveSubjects(store, query),
    earlierPositions: async (query) => earlierPositions(store, query),
    readNewest: async (query) => readNewest(store, query),
    readLatest: async (key, subjectId, branches) => readLatest(store, key, subjectId, branches),
    readSubject: async (query) => readSubject(store, query),
    head: async (key) => {
      const feed = feedOf(store, key)
      return feed && headOf(feed)
    },
    heads: async (keys) =>
      keys.map((key) => {
        const feed = feedOf(store, key)
        return feed && headOf(feed)
      }),
    marks: async (keys) => marksOf(store, keys),
    marksTotal: async () => marksTotalOf(store),
    counts: async (tenantId) => countsOf(store, tenantId),
    watch: (listener) => watching.watch(listener),
    changeCount: (key) => watching.changeCount(key),
  }
}
