/** Pages of current events: the moment of each, and its place in the list of that moment (PROTOCOL §3.5). */
import { isJoined, isKept } from './moment.ts'
import type { EventStore, Head } from '../../events/event-log.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { FeedView } from '../../events/branches/branch-view.ts'
import type { Moment, MomentName, MomentStore } from './moment.ts'
import { createCurrentLists } from './current-lists.ts'
import type { PageRangeCache } from '../page-range-cache.ts'
import { pageOf } from '../list.ts'
import type { LocatedPage } from '../list.ts'

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

export interface CurrentPages {
  /** Rejects as the store does. */
  locate(request: CurrentRequest): Promise<CurrentPage>
}

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
  const lists = createCurrentLists(events)

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

  return {
    async locate(request) {
      const { keyId, key, view, page, pageSize } = request
      const name = { keyId, key, view }
      const kept = await moments.find(name)
      const known = await headOf(key)
      if (known === undefined) return { kind: 'unknownFeed' }
      const moment = await momentOf(name, request, kept, known)
      if (moment === undefined) return { kind: 'noMoment' }
      const head = await headAfter(key, known, moment)
      if (head === undefined) return { kind: 'noMoment' }
      const positions = await lists.of({ key, view, epoch: moment.epoch, through: moment.position })
      if (positions === 'tooMany') return { kind: 'tooMany' }
      const range = { key, view, first: 1, count: positions.length }
      const located = pageOf({ range, head }, { page, pageSize })
      await noteUse(name, moment, page >= located.totalPages)
      return {
        kind: 'page',
        page: { ...located, range: { ...located.range, positions } },
        asOf: moment.sequenceNumber,
      }
    },
  }
}
