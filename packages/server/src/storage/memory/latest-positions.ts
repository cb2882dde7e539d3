import type { EarlierQuery, EarlierStep, LatestQuery } from '../storage.ts'
import { feedOf } from './state.ts'
import type { MemoryFeed, MemoryStore } from './state.ts'

export function latestPositions(store: MemoryStore, query: LatestQuery): readonly number[] {
  const { key, view, after, through, limit } = query
  const feed = feedOf(store, key)
  return (feed === undefined ? [] : latestAfter(feed, after))
    .filter(({ position, category }) => position <= through && (view === 'all' || category === view))
    .slice(0, limit)
    .map(({ position }) => position)
}

export function earlierPositions(store: MemoryStore, query: EarlierQuery): EarlierStep {
  const { key, view, after, through, limit } = query
  const feed = feedOf(store, key)
  if (feed === undefined) return { positions: [], next: undefined }
  const looked = latestAfter(feed, after).slice(0, limit)
  const positions = looked.flatMap(({ subjectId }) => {
    const position = feed.events.findLastIndex(
      (event, index) => event.subjectId === subjectId && index < through,
    )
    const isInView = view === 'all' || feed.views.get(view)?.includes(position + 1) === true
    return position >= 0 && isInView ? [position + 1] : []
  })
  return { positions, next: looked.length < limit ? undefined : looked.at(-1)?.position }
}

function latestAfter(feed: MemoryFeed, after: number) {
  return [...feed.subjects]
    .map(([subjectId, { position, category }]) => ({ subjectId, position, category }))
    .filter(({ position }) => position > after)
    .toSorted((a, b) => a.position - b.position)
}
