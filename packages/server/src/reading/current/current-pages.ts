/** Pages of current events: the moment of each, and its place in the list of that moment (PROTOCOL §3.5). */
import { isJoined, isKept } from './moment.ts'
import type { EventStore, Head } from '../../events/event-log.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import { feedName } from '../../events/feed-key.ts'
import type { FeedView } from '../../events/branches/branch-view.ts'
import type { Moment, MomentName, MomentStore } from './moment.ts'
import type { PageRangeCache } from '../page-range-cache.ts'
import { pageOf } from '../list.ts'
import type { LocatedPage } from '../list.ts'
import { yieldForStep } from '../../runtime/yield-in-steps.ts'

interface CurrentRequest {
  readonly keyId: string
  readonly key: FeedKey
  readonly view: FeedView
  /** From 1. The first page fixes the moment, or joins one. */
  readonly page: number
  readonly pageSize: number
  /** A first page has to include this number (P8); 0: any. */
  readonly least: number
}

type CurrentPage =
  | {
      readonly kind: 'page'
      /** Its range has the positions. */
      readonly page: LocatedPage
      /** The last number that the list includes. */
      readonly asOf: number
    }
  /** No such tenant; no moment, or an expired one; more subjects than a list may have. */
  | { readonly kind: 'unknownFeed' | 'noMoment' | 'tooMany' }

/** Locates a page. Rejects as the store does. */
export type CurrentPages = (request: CurrentRequest) => Promise<CurrentPage>

interface CurrentPagesParts {
  readonly events: Pick<EventStore, 'head' | 'latestPositions' | 'earlierPositions'>
  readonly moments: MomentStore
  readonly ranges: PageRangeCache
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/** The use of a walk is recorded at most this often. */
const noteEveryMs = 10_000

export function createCurrentPages(parts: CurrentPagesParts): CurrentPages {
  const { events, moments, ranges, clock } = parts
  const listOf = createCurrentLists(events)

  async function headOf(key: FeedKey): Promise<Head | undefined> {
    const query = { key, view: 'all' } as const
    return (ranges.known(query) ?? (await ranges.locate(query)))?.head
  }

  /**
   * A head that is not before the moment, which another node with a later head may have fixed; `undefined`: its events are lost (D13).
   */
  async function headAfter(key: FeedKey, head: Head, { position, epoch }: Moment): Promise<Head | undefined> {
    if (position <= head.position) return head
    const now = await events.head(key)
    return now !== undefined && now.epoch === epoch && position <= now.position ? now : undefined
  }

  async function momentOf(
    name: MomentName,
    { page, least }: CurrentRequest,
    kept: Moment | undefined,
    { epoch, position, sequenceNumber }: Head,
  ): Promise<Moment | undefined> {
    const nowMs = clock()
    const request = { name, now: { epoch, position, sequenceNumber, fixedMs: nowMs }, least }
    if (page === 1) {
      return kept !== undefined && isJoined(kept, request) ? kept : moments.fix(request)
    }
    return kept !== undefined && kept.epoch === epoch && isKept(kept, nowMs) ? kept : undefined
  }

  /** Before the answer leaves, so that the next first page knows of it. */
  async function noteUse(name: MomentName, moment: Moment, isLast: boolean): Promise<void> {
    const nowMs = clock()
    if (isLast ? moment.usedMs !== 0 : Math.abs(nowMs - moment.usedMs) >= noteEveryMs)
      await moments.noteUse(name, moment, isLast ? 0 : nowMs)
  }

  return async (request) => {
    const { keyId, key, view, page, pageSize } = request
    const name = { keyId, key, view }
    const kept = await moments.find(name)
    const known = await headOf(key)
    if (known === undefined) return { kind: 'unknownFeed' }
    const moment = await momentOf(name, request, kept, known)
    if (moment === undefined) return { kind: 'noMoment' }
    const head = await headAfter(key, known, moment)
    if (head === undefined) return { kind: 'noMoment' }
    const positions = await listOf({ key, view, epoch: moment.epoch, through: moment.position })
    if (positions === 'tooMany') return { kind: 'tooMany' }
    const range = { key, view, first: 1, count: positions.length }
    const located = pageOf({ range, head }, { page, pageSize })
    await noteUse(name, moment, page >= located.totalPages)
    return {
      kind: 'page',
      page: { ...located, range: { ...located.range, positions } },
      asOf: moment.sequenceNumber,
    }
  }
}

/**
 * The current events of a feed as of a position: the positions of the last event of each subject up to it (PROTOCOL §3.5). Events never
 * leave a feed, so within an epoch such a list never changes, and every thread that makes it makes the same.
 */
interface CurrentListQuery {
  readonly key: FeedKey
  /** For a category: subjects that were in it as of the position. */
  readonly view: FeedView
  readonly epoch: string
  /** 0: the feed was empty. */
  readonly through: number
}

/** Ascending. */
type CurrentList = Float64Array

/** Simultaneous requests for the same list share its making. Rejects as the store does. */
type CurrentLists = (query: CurrentListQuery) => Promise<CurrentList | 'tooMany'>

/** Subjects of a list: 800 kB. */
export const currentAtMost = 100_000

/** Subjects in one query to the store, 1 ms or so in SQLite; each that has a later event is looked up separately, in 5 µs. */
const stepSize = 2_000
const earlierStepSize = 500

/** For all lists that a thread keeps, 16 MB. */
const cachedPositions = 2_000_000
const cachedLists = 1_000

type Reads = Pick<EventStore, 'latestPositions' | 'earlierPositions'>

function createCurrentLists(events: Reads): CurrentLists {
  // In the order in which they were last requested.
  const lists = new Map<string, Promise<CurrentList | 'tooMany'>>()
  const sizes = new Map<string, number>()
  let total = 0

  const forget = (name: string): void => {
    lists.delete(name)
    total -= sizes.get(name) ?? 0
    sizes.delete(name)
  }

  function keep(name: string, list: CurrentList | 'tooMany'): void {
    if (!lists.has(name)) return
    sizes.set(name, list.length)
    total += list.length
    for (const oldest of lists.keys()) {
      if (total <= cachedPositions && lists.size <= cachedLists) return
      if (sizes.has(oldest)) forget(oldest)
    }
  }

  return (query) => {
    const { key, view, epoch, through } = query
    const name = [feedName(key), view, epoch, through].join(' ')
    const known = lists.get(name)
    if (known !== undefined) {
      lists.delete(name)
      lists.set(name, known)
      return known
    }
    const making = makeList(events, query)
    lists.set(name, making)
    making.then(
      (list) => keep(name, list),
      () => forget(name),
    )
    return making
  }
}

/**
 * First the subjects about which nothing was published since; then those whose latest event is a later one, which are few if the position
 * is a moment old. What is published meanwhile moves subjects from the first kind to the second, and to its end: none is missed, and one
 * that is seen twice has the same position both times.
 */
async function makeList(events: Reads, query: CurrentListQuery): Promise<CurrentList | 'tooMany'> {
  const { key, view, through } = query
  const found = new Set<number>()
  const isTooLong = (more: readonly number[]): boolean => {
    for (const position of more) found.add(position)
    return found.size > currentAtMost
  }
  for (let after: number | undefined = 0; after !== undefined;) {
    const step = await events.latestPositions({ key, view, after, through, limit: stepSize })
    if (isTooLong(step)) return 'tooMany'
    after = step.length < stepSize ? undefined : step.at(-1)
    if (after !== undefined) await yieldForStep()
  }
  for (let after: number | undefined = through; after !== undefined;) {
    const step = await events.earlierPositions({ key, view, after, through, limit: earlierStepSize })
    if (isTooLong(step.positions)) return 'tooMany'
    after = step.next
    if (after !== undefined) await yieldForStep()
  }
  return Float64Array.from(found).sort()
}
