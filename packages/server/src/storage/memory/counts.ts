/** Counts events before a time, and live subjects. It counts from scratch each time, as the reference does everything. */
import { feedNames } from '@property-events/protocol'
import type { FeedCount, LatestEvent, NewestQuery, Tally, TallyQuery } from '../storage.ts'
import { eventsOfView, feedOf, headOf, openState } from './state.ts'
import type { MemoryStore } from './state.ts'

export function tally(store: MemoryStore, { key, view, times }: TallyQuery): Tally | undefined {
  const feed = feedOf(store, key)
  if (feed === undefined) return undefined
  const events = eventsOfView(feed, view)
  const before = times.map((time) => events.filter(({ created }) => created < time).length)
  return { total: events.length, before }
}

export function countsOf(store: MemoryStore, tenantId: string | undefined): readonly FeedCount[] {
  const tenantIds = tenantId === undefined ? [...openState(store).tenants.keys()] : [tenantId]
  return tenantIds.flatMap((id) =>
    feedNames.flatMap((name): FeedCount[] => {
      const key = { tenantId: id, feed: name }
      const feed = feedOf(store, key)
      if (feed === undefined) return []
      const live = [...feed.subjects.values()].filter(({ published }) => published).length
      return [{ key, created: headOf(feed).created, live }]
    }),
  )
}

export function readNewest(store: MemoryStore, query: NewestQuery): readonly LatestEvent[] {
  const { key, view, before, limit } = query
  const feed = feedOf(store, key)
  if (feed === undefined) return []
  return [...feed.subjects.values()]
    .filter(({ position, category }) => {
      return (before === undefined || position < before) && (view === 'all' || category === view)
    })
    .toSorted((a, b) => b.position - a.position)
    .slice(0, limit)
    .flatMap(({ position, published: live }) => {
      const event = feed.events[position - 1]
      if (event === undefined) return []
      const { sequenceNumber, json } = event
      return [{ position, sequenceNumber, json: Buffer.from(json), live }]
    })
}
