/**
 * How a feed is read, as a state machine without I/O: the next request, and the effect of its answer.
 *
 * With the service's own reads (PROTOCOL §11): `start` → `snapshot` → `numbers` for ever. With the contract's pages
 * alone: `start` → `pages` (a walk over the whole feed, then walks over a window of time). A changed epoch, a refused
 * cursor, or a feed that lost events it had shown, lead back to `start`. A greater revision does not: earlier events were
 * reduced (D17), and a copy of the latest of each subject holds none of them once it has their last event.
 */
import { createdMsOf } from '../event.ts'
import { vanishedBefore } from '../reading/walk-check.ts'
import type { EventPage, EventRun, FeedEvent } from '../wire.ts'
import type { NewestEvent, NumbersReading, PagesReading } from './reading.ts'

/** Why a copy is read again from the beginning. */
export type ResyncReason = 'epoch_changed' | 'cursor_refused' | 'feed_rewritten' | 'server_changed'

type Step<R> =
  | { readonly kind: 'more'; readonly reading: R }
  | { readonly kind: 'caughtUp'; readonly reading: R }
  | { readonly kind: 'startOver'; readonly reason: ResyncReason }

/** The effect of a run of events after a number. */
export function stepAfterRun(reading: NumbersReading, run: EventRun): Step<NumbersReading> {
  if (run.epoch !== reading.epoch) return { kind: 'startOver', reason: 'epoch_changed' }
  const next = { ...reading, revision: run.revision, after: Math.max(reading.after, run.next) }
  return run.next >= run.head ? { kind: 'caughtUp', reading: next } : { kind: 'more', reading: next }
}

/**
 * Whether the last page is to be read together with this one. With page 1 of the whole feed: either may hold the newest
 * events. With an empty page before the last: it distinguishes a gap (some servers leave out events after they have
 * made their pages) from a total that is too large.
 */
export function wantsLastPage(reading: PagesReading, page: EventPage): boolean {
  if (reading.page >= page.totalPages) return false
  return page.items.length === 0 || (reading.from === undefined && reading.page === 1)
}

interface WalkedPage {
  readonly page: EventPage
  /** `epoch/revision` from the headers, if the service sends them. */
  readonly mark: string | undefined
  /** Events of the last page, if it was read together with this one (`wantsLastPage`). */
  readonly lastPage: readonly FeedEvent[]
  readonly overlapMs: number
}

function epochOf(mark: string | undefined): string | undefined {
  return mark?.split('/')[0]
}

/** The effect of a page of a walk. */
export function stepAfterPage(reading: PagesReading, seen: WalkedPage): Step<PagesReading> {
  const { page, lastPage, overlapMs } = seen
  const mark = seen.mark ?? reading.mark
  if (reading.mark !== undefined && epochOf(mark) !== epochOf(reading.mark)) {
    return { kind: 'startOver', reason: 'epoch_changed' }
  }
  const events = [...page.items, ...lastPage]
  const walkNewest = newestOf(reading.walkNewest, events)
  const sawNewest = reading.sawNewest || events.some((event) => event.id === reading.newest?.id)
  const startedMs =
    reading.startedMs ??
    Math.max(reading.newest?.createdMs ?? -Infinity, newestOf(undefined, events)?.createdMs ?? -Infinity)
  const walked: PagesReading = {
    ...reading,
    pageSize: page.pageSize,
    available: page.availableCount,
    sawNewest,
    ...(walkNewest === undefined ? {} : { walkNewest }),
    ...(Number.isFinite(startedMs) ? { startedMs } : {}),
    ...(mark === undefined ? {} : { mark }),
  }
  const vanished = vanishedBefore(reading, page)
  if (vanished > 0) {
    // Events of later pages have moved up by as many positions: go back far enough to skip none of them.
    return { kind: 'more', reading: { ...walked, page: pageBefore(reading.page, vanished, page.pageSize) } }
  }
  if (events.length > 0 && reading.page < page.totalPages) {
    return { kind: 'more', reading: { ...walked, page: reading.page + 1 } }
  }
  if (reading.newest !== undefined && !sawNewest) return { kind: 'startOver', reason: 'feed_rewritten' }
  return { kind: 'caughtUp', reading: nextWalk(walked, overlapMs) }
}

/**
 * Where a walk of an earlier run continues, given the answer for its next page: at page 1 when the size of pages has
 * changed, because the same page number would be another position in the feed.
 */
export function resumedAt(reading: PagesReading, page: EventPage): PagesReading {
  return reading.page === 1 || reading.pageSize === page.pageSize ? reading : { ...reading, page: 1 }
}

function pageBefore(page: number, vanished: number, pageSize: number): number {
  return Math.max(1, page - Math.ceil(vanished / Math.max(1, pageSize)))
}

function nextWalk(walked: PagesReading, overlapMs: number): PagesReading {
  const newest = newestOf(walked.newest, walked.walkNewest === undefined ? [] : [walked.walkNewest])
  const from = walked.startedMs === undefined ? walked.from : windowBound(walked.startedMs - overlapMs)
  return {
    kind: 'pages',
    page: 1,
    sawNewest: false,
    ...(from === undefined ? {} : { from }),
    ...(newest === undefined ? {} : { newest }),
    ...(walked.mark === undefined ? {} : { mark: walked.mark }),
  }
}

/** Subjects whose last event is older than this (ms) can be forgotten: no older event will appear. */
export function forgettableBeforeMs(next: PagesReading, overlapMs: number): number {
  const fromMs = next.from === undefined ? -Infinity : createdMsOf(next.from.replace(' ', 'T'))
  return fromMs - overlapMs
}

function newestOf(
  known: NewestEvent | undefined,
  events: readonly (FeedEvent | NewestEvent)[],
): NewestEvent | undefined {
  let newest = known
  for (const event of events) {
    const createdMs = 'createdMs' in event ? event.createdMs : createdMsOf(event.createdDate)
    if (Number.isFinite(createdMs) && (newest === undefined || createdMs >= newest.createdMs)) {
      newest = { id: event.id, createdMs }
    }
  }
  return newest
}

/**
 * The contract's form of a bound, `YYYY-MM-DD HH:mm:ss.ff`, rounded down: it may repeat a hundredth, and never skips
 * one.
 */
export function windowBound(ms: number): string {
  return new Date(Math.max(0, ms)).toISOString().slice(0, 22).replace('T', ' ')
}
