/** What has been read for one type of events, and how far. */
import type { EventRun, FeedEvent } from '@property-events/protocol/wire'
import { countText } from '../../words/numbers.ts'

interface Runs {
  readonly type: string
  readonly items: readonly FeedEvent[]
  /** Where reading began: only events with greater numbers are read. */
  readonly start: number
  /** Everything up to this number has been read; `undefined`: nothing yet, because the starting point is unknown. */
  readonly next: number | undefined
  readonly head: number
  /** How far, in words. */
  readonly reach: string | undefined
}

/** The list begins this many numbers before the newest unless somebody asks for another start. */
const usualDepth = 10_000

export function beginRuns(type: string, after: number | undefined): Runs {
  return { type, items: [], start: after ?? 0, next: after, head: Number.POSITIVE_INFINITY, reach: undefined }
}

export function startBefore(head: number): number {
  return Math.max(0, head - usualDepth)
}

/** Removals are in every run (PROTOCOL §13.4). They are left out here if another type is requested. */
export function addRun(runs: Runs, { items, next, head }: Pick<EventRun, 'items' | 'next' | 'head'>): Runs {
  const ofType = items.filter(({ eventTypeShortCode }) => eventTypeShortCode === runs.type)
  const reach =
    next >= head
      ? `All events of this type from number ${countText(runs.start + 1)}.`
      : `Searched numbers ${countText(runs.start + 1)} to ${countText(next)} of ${countText(head)}.`
  return { ...runs, items: [...runs.items, ...ofType], next, head, reach }
}

/** The newest event has been read. */
export function isWhole({ next, head }: Runs): boolean {
  return next !== undefined && next >= head
}
