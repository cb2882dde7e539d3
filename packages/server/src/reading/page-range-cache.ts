/**
 * The last answer of `locate` for each view of a feed, for as long as it holds: another request for an unchanged head,
 * or for another page of the same feed, asks no store. Windows are kept only when they are closed (`createWindowBoundsCache`):
 * the contents of an open window have to be read between two commits (P3), unless it begins after the head and the engine knows that
 * nothing waits for its commit.
 */
import type { Ticks } from '@property-events/protocol'
import { BoundedMap } from '../runtime/bounded-map.ts'
import type { EventStore, Head, Located, LocateQuery, ViewRange } from '../events/event-log.ts'
import type { FeedKey } from '../events/feed-key.ts'
import { feedName } from '../events/feed-key.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import { isOpenWindow } from '../events/time-reservation.ts'

export interface PageRangeCache {
  /** The answer that `locate` would give now, if it is known without asking the store. */
  known(query: LocateQuery): Located | undefined
  /**
   * As `EventStore.locate`, for ranges that are not known. Requests for a whole view share the answer of a query that
   * is under way.
   */
  locate(query: LocateQuery): Promise<Located | undefined>
  /** What is known about the feed is no longer used. */
  forget(key: FeedKey): void
}

/**
 * A change by this node shows in the feed's count before it is acknowledged; a change by another node usually within
 * milliseconds, and always before this node has shown it in another way (P8). A notice from another node can get lost,
 * so no answer is used for longer than this.
 */
const believedForMs = 1_000

/** How long a query without an answer is shared. One that hangs then delays only the requests of that time. */
const sharedForMs = 100

/** Feeds whose ranges are kept; 0.8 kB each with one view asked for, 1.9 kB with three. */
const feedLimit = 20_000

/** A query of the store, and its answer, which may be under way. */
interface RangeQuery {
  readonly answer: Promise<Located | undefined>
  /** Set when the answer is there. */
  located: Located | undefined
  readonly askedMs: number
  /** The feed's count before the query. */
  readonly changeCount: number
  readonly settledLater: (() => Ticks | undefined) | undefined
}

/** The last query for each whole view, and for an open window in it; `head` is the last that was answered, for a view or for a window. */
type QueryName = FeedView | `open ${FeedView}` | 'head'
type FeedQuestions = Map<QueryName, RangeQuery>

export function createPageRangeCache(
  events: Pick<EventStore, 'locate' | 'changeCount' | 'settledLater'>,
  now: () => number = () => performance.now(),
): PageRangeCache {
  const feeds = {
    property: new BoundedMap<string, FeedQuestions>(feedLimit),
    contact: new BoundedMap<string, FeedQuestions>(feedLimit),
  } as const
  const bounds = createWindowBoundsCache()

  const lastQuery = ({ feed, tenantId }: FeedKey, name: QueryName): RangeQuery | undefined =>
    feeds[feed].get(tenantId)?.get(name)

  /** The last query, if nothing has changed since. */
  function stillTrue(key: FeedKey, name: QueryName): RangeQuery | undefined {
    const last = lastQuery(key, name)
    const validForMs = last?.located === undefined ? sharedForMs : believedForMs
    if (last === undefined || now() - last.askedMs > validForMs) return undefined
    return last.changeCount === events.changeCount(key) ? last : undefined
  }

  function ask(locate: LocateQuery): Promise<Located | undefined> {
    const { key, view } = locate
    const questions: FeedQuestions = feeds[key.feed].get(key.tenantId) ?? new Map()
    const [askedMs, changeCount] = [now(), events.changeCount(key)]
    const settledLater = events.settledLater?.()
    const answer = events.locate(locate)
    const query: RangeQuery = { answer, located: undefined, askedMs, changeCount, settledLater }
    feeds[key.feed].set(key.tenantId, questions)
    if (isWhole(locate)) questions.set(view, query)
    const note = (located: Located | undefined): void => {
      if (located !== undefined) {
        query.located = located
        questions.set('head', query)
        if (isOpenWindow(locate, located)) questions.set(`open ${view}`, query)
        bounds.note(locate, located)
        // A failed query is forgotten: the next request makes a new one.
      } else if (questions.get(view) === query) questions.delete(view)
    }
    answer.then(note, () => note(undefined))
    return answer
  }

  function windowOf(query: LocateQuery, head: Head | undefined): Located | undefined {
    const range = head && bounds.rangeOf(query, head)
    return range && { range, head }
  }

  async function locate(query: LocateQuery): Promise<Located | undefined> {
    const { key, view } = query
    if (isWhole(query)) return stillTrue(key, view)?.answer ?? ask(query)
    // Where its bounds are known, only the head is asked for, which other requests share.
    if (windowOf(query, lastQuery(key, 'head')?.located?.head) === undefined) return ask(query)
    const whole = await locate({ key, view: 'all' })
    return windowOf(query, whole?.head) ?? ask(query)
  }

  return {
    known(query) {
      const { key, view } = query
      if (isWhole(query)) return stillTrue(key, view)?.located
      const empty = emptyWindow(query, stillTrue(key, `open ${view}`))
      // The count once more, and only now: what was stamped before the answer's moment has raised it (P3).
      if (empty !== undefined && stillTrue(key, `open ${view}`) !== undefined) return empty
      return windowOf(query, stillTrue(key, 'head')?.located?.head)
    },
    locate,
    forget: ({ feed, tenantId }) => feeds[feed].delete(tenantId),
  }
}

/** A window that begins after the head: the poll that finds nothing. Whatever is stamped from now on comes after the answer's moment. */
function emptyWindow(query: LocateQuery, last: RangeQuery | undefined): Located | undefined {
  if (last?.located === undefined || query.from === undefined) return undefined
  const { range, head } = last.located
  if (query.from <= (head.created ?? 0n) || !isOpenWindow(query, last.located)) return undefined
  const settled = last.settledLater?.()
  if (settled === undefined) return undefined
  return { range: { ...range, first: range.first + range.count, count: 0 }, head, settled }
}

function isWhole({ from, to }: LocateQuery): boolean {
  return from === undefined && to === undefined
}

/** Some 160 bytes each. */
const boundLimit = 10_000

/**
 * For a time and a view, the ordinal of the first event that is not before the time. Numbers and times rise together (P3), so this ordinal
 * no longer changes once the feed's head is as late as the time, until another epoch begins. The range of a closed window, one whose end
 * the head has reached, therefore follows from its two bounds without a query. A client that walks through the pages of a window asks for
 * the same bounds for each page; without this cache, each page was a query on PostgreSQL.
 */
export function createWindowBoundsCache() {
  const ordinals = new BoundedMap<string, number>(boundLimit)
  const name = ({ key, view }: LocateQuery, { epoch }: Head, bound: bigint): string =>
    `${feedName(key)} ${view} ${epoch} ${bound}`

  return {
    /** The range of a window in a feed with this head; `undefined`: the window is open, or its bounds were not requested recently. */
    rangeOf(query: LocateQuery, head: Head): ViewRange | undefined {
      const { key, view, from, to } = query
      if (to === undefined || isReversed(query) || isOpenWindow(query, { head })) return undefined
      const end = ordinals.get(name(query, head, to))
      const first = from === undefined ? 1 : ordinals.get(name(query, head, from))
      if (first === undefined || end === undefined) return undefined
      return { key, view, first, count: end - first }
    },
    /** Keeps the store's answer. */
    note(query: LocateQuery, located: Located): void {
      const { from, to } = query
      const { range, head } = located
      if (to === undefined || isReversed(query) || isOpenWindow(query, located)) return
      ordinals.set(name(query, head, to), range.first + range.count)
      if (from !== undefined) ordinals.set(name(query, head, from), range.first)
    },
  }
}

/** True when the window ends before it begins: its range is empty and does not show where its end falls. */
function isReversed({ from, to }: LocateQuery): boolean {
  return from !== undefined && to !== undefined && from > to
}
