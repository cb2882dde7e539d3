import type { EarlierQuery, EarlierStep, LatestQuery } from '../storage.ts'
import { standsIn } from './branch-views.ts'
import { feedOf } from './state.ts'
import type { MemoryFeed, MemoryStore } from './state.ts'

export function latestPositions(store: MemoryStore, query: LatestQuery): readonly number[] {
  const { key, view, after, through, limit } = query
  const feed = feedOf(store, key)
  if (feed === undefined) return []
  return latestAfter(feed, after)
    .filter((subject) => subject.position <= through && standsIn(feed, view, subject))
    .slice(0, limit)
    .map(({ position }) => position)
}

export function earlierPositions(store: MemoryStore, query: EarlierQuery): EarlierStep {
  const { key, view, after, through, limit } = query
  const feed = feedOf(store, key)
  if (feed === undefined) return { positions: [], next: undefined }
  const looked = latestAfter(feed, after).slice(0, limit)
  const positions = looked.flatMap(({ subjectId }) => {
    const index = feed.events.slice(0, through).findLastIndex((event) => event.subjectId === subjectId)
    const before = feed.events[index]
    return before !== undefined && standsIn(feed, view, before) ? [index + 1] : []
  })
  return { positions, next: looked.length < limit ? undefined : looked.at(-1)?.position }
}

function latestAfter(feed: MemoryFeed, after: number) {
  return [...feed.subjects]
    .map(([subjectId, { position, category, branch }]) => ({ subjectId, position, category, branch }))
    .filter(({ position }) => position > after)
    .toSorted((a, b) => a.position - b.position)
}
