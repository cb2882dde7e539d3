/** Lists a feed page by page (spec §4.1). Page arithmetic is here and nowhere else. */
import type { Ticks } from '@property-events/protocol'
import type { EventStore, Head, Located, ViewRange } from '../events/event-log.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import type { Representation } from './representation/representation.ts'

export interface PageRequest {
  readonly key: FeedKey
  readonly view: FeedView
  /** First tick inside the window. */
  readonly from?: Ticks
  /** First tick after the window. */
  readonly to?: Ticks
  /** From 1. */
  readonly page: number
  readonly pageSize: number
}

/** A run of events, and the form in which a reader sees them. */
export interface PageRange extends ViewRange {
  /** Left out: as stored. */
  readonly form?: Representation
}

/** A page that is located but not read: enough for its ETag, and for a 304 without reading an event. */
export interface LocatedPage {
  readonly page: number
  readonly pageSize: number
  readonly availableCount: number
  readonly totalPages: number
  readonly head: Head
  /** Of a window: every event in it before this moment is in the list, now and for ever (P3). */
  readonly completeUntil?: Ticks | undefined
  /** The events on the page; `count` 0 past the end (D3). */
  readonly range: PageRange
}

/** Locates a page, at a cost that does not depend on its number (P5). `undefined`: no such tenant. */
export async function locatePage(
  events: Pick<EventStore, 'locate'>,
  request: PageRequest,
): Promise<LocatedPage | undefined> {
  const { key, view, from, to } = request
  const located = await events.locate({
    key,
    view,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  })
  return located === undefined ? undefined : pageOf(located, request)
}

/** The page of a located range. */
export function pageOf(
  located: Located,
  { page, pageSize, to }: Pick<PageRequest, 'page' | 'pageSize' | 'to'>,
): LocatedPage {
  const { range, head, settled } = located
  const skipped = Math.min((page - 1) * pageSize, range.count)
  return {
    page,
    pageSize,
    availableCount: range.count,
    totalPages: Math.ceil(range.count / pageSize),
    head,
    // A window that is not open is complete up to its end.
    completeUntil: settled === undefined || (to !== undefined && to < settled) ? to : settled,
    range: {
      key: range.key,
      view: range.view,
      first: range.first + skipped,
      count: Math.min(pageSize, range.count - skipped),
    },
  }
}
