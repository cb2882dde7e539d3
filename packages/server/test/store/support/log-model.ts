/**
 * The log, as simply as it can be said: arrays and maps, counted from the beginning each time. It decides with the product's own rules
 * (`decide-append.ts`) and keeps, numbers, finds and reads by itself: what SQL, indexes and connections have to agree with.
 */
import { feedNames, meaningOf } from '@property-events/protocol'
import type { Category, EventTypeCatalogue, Ticks } from '@property-events/protocol'
import { floorAfter, readClock } from '../../../src/runtime/clock.ts'
import type { SharedClock } from '../../../src/runtime/clock.ts'
import {
  decideAppend,
  defaultClockToleranceTicks,
  previewOf,
} from '../../../src/events/append/decide-append.ts'
import type { AppendDecision, EventRow } from '../../../src/events/append/decide-append.ts'
import { eventJson, parseEventJson } from '../../../src/events/event-json.ts'
import { isOpenWindow } from '../../../src/events/time-reservation.ts'
import type { AppendLookups } from '../../../src/events/append/append-plan.ts'
import { feedName } from '../../../src/events/feed-key.ts'
import type { AppendBatch, AppendOutcome } from '../../../src/events/append/append-batch.ts'
import type { EventStore, Head, StoredEvent } from '../../../src/events/event-log.ts'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { FeedView } from '../../../src/events/branches/branch-view.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import type { SubjectState } from '../../../src/events/append/subject-state.ts'

/** What of a store the log is. */
export interface EventLog {
  readonly events: Pick<
    EventStore,
    | 'append'
    | 'preview'
    | 'locate'
    | 'tally'
    | 'readRange'
    | 'measureRange'
    | 'readEvent'
    | 'positionOf'
    | 'readAfter'
    | 'readNewest'
    | 'readLatest'
    | 'readSubject'
    | 'latestPositions'
    | 'earlierPositions'
    | 'liveSubjects'
    | 'head'
    | 'counts'
  >
  startEpoch(...given: Parameters<StorageEngine['startEpoch']>): Promise<unknown>
}

interface ModelEvent extends StoredEvent {
  readonly position: number
  readonly created: Ticks
  readonly id: string
  readonly subjectId: string
  readonly branch: string | null
  readonly category: Category | null
}

interface ModelFeed {
  readonly key: FeedKey
  /** Sequence number minus position (D13). */
  offset: number
  /** The event at position n is at index n - 1. */
  readonly events: ModelEvent[]
  /** The ids that are taken, and what took them. */
  readonly ids: Map<string, { readonly position: number; readonly contentHash: Uint8Array | null }>
  readonly subjects: Map<string, SubjectState>
}

export interface LogModel extends EventLog {
  addTenant(tenantId: string): void
}

export function logModel(catalogue: EventTypeCatalogue, clock: SharedClock): LogModel {
  const feeds = new Map<string, ModelFeed>()
  let firstOffset = 0
  // No later stamp of any feed is before this (P3).
  let floor: Ticks = 0n
  const feedOf = (key: FeedKey) => feeds.get(feedName(key))
  const viewOf = ({ key, view }: { readonly key: FeedKey; readonly view: FeedView }): readonly ModelEvent[] =>
    (feedOf(key)?.events ?? []).filter((event) => standsIn(view, event))

  const decide = (batch: AppendBatch): { feed: ModelFeed; decision: AppendDecision } | undefined => {
    const feed = feedOf(batch.key)
    if (feed === undefined) return undefined
    const { offset, events } = feed
    const counter = { lastPosition: events.length, offset, lastCreated: events.at(-1)?.created }
    const now = readClock(clock)
    const context = { catalogue, now, floor, clockToleranceTicks: defaultClockToleranceTicks }
    return { feed, decision: decideAppend(batch, counter, lookupsOf(feed), context) }
  }
  const append = (batch: AppendBatch): AppendOutcome => {
    const decided = decide(batch)
    if (decided === undefined) return { kind: 'unknownFeed' }
    const { feed, decision } = decided
    for (const row of decision.rows) insert(feed, row)
    for (const { id, contentHash, position } of decision.reserved) feed.ids.set(id, { position, contentHash })
    return decision.outcome
  }

  return {
    addTenant(tenantId) {
      for (const feed of feedNames) {
        const key = { tenantId, feed }
        const empty = { events: [], ids: new Map(), subjects: new Map() }
        feeds.set(feedName(key), { key, offset: firstOffset, ...empty })
      }
    },
    async startEpoch(continueAfter) {
      const held = [...feeds.values()].map((feed) => headOf(feed).sequenceNumber)
      firstOffset = Math.max(continueAfter, firstOffset, ...held)
      for (const feed of feeds.values()) feed.offset = firstOffset - feed.events.length
    },
    events: {
      append: async (batches) => batches.map(append),
      async preview(batch) {
        const decided = decide(batch)
        return decided === undefined ? { kind: 'unknownFeed' } : previewOf(decided.decision)
      },
      async locate(query) {
        const feed = feedOf(query.key)
        if (feed === undefined) return undefined
        const { key, view, from, to } = query
        const events = viewOf(query)
        const before = events.filter(({ created }) => from !== undefined && created < from).length
        const after = events.filter(({ created }) => to !== undefined && created >= to).length
        const range = { key, view, first: before + 1, count: Math.max(0, events.length - before - after) }
        const located = { range, head: headOf(feed) }
        if (!isOpenWindow(query, located)) return located
        const settled = floorAfter(readClock(clock))
        if (settled > floor) floor = settled
        return { ...located, settled }
      },
      async tally({ key, view, times }) {
        if (feedOf(key) === undefined) return undefined
        const events = viewOf({ key, view })
        const before = times.map((time) => events.filter(({ created }) => created < time).length)
        return { total: events.length, before }
      },
      async readRange({ first, count, ...of }) {
        const run = viewOf(of).slice(first - 1, first - 1 + count)
        return run.length === 0 ? [] : [Buffer.from(run.map(({ json }) => json.toString()).join(','))]
      },
      measureRange: async ({ first, count, ...of }) =>
        viewOf(of)
          .slice(first - 1, first - 1 + count)
          .map(({ json }) => json.byteLength),
      ...readsOf(feedOf, viewOf),
      async head(key) {
        const feed = feedOf(key)
        return feed && headOf(feed)
      },
      counts: async (tenantId) =>
        [...feeds.values()]
          .filter(({ key }) => tenantId === undefined || key.tenantId === tenantId)
          .map(({ key, events, subjects }) => {
            const live = [...subjects.values()].filter(({ published }) => published).length
            return { key, created: events.at(-1)?.created, live }
          }),
    },
  }
}

/** Of one subject or event, and of the latest of each subject. */
function readsOf(
  feedOf: (key: FeedKey) => ModelFeed | undefined,
  viewOf: (of: { readonly key: FeedKey; readonly view: FeedView }) => readonly ModelEvent[],
): Pick<
  EventLog['events'],
  | 'readEvent'
  | 'positionOf'
  | 'readAfter'
  | 'readNewest'
  | 'readLatest'
  | 'readSubject'
  | 'latestPositions'
  | 'earlierPositions'
  | 'liveSubjects'
> {
  const eventsOf = (key: FeedKey, branches?: readonly string[]): readonly ModelEvent[] =>
    viewOf({ key, view: 'all' }).filter(
      ({ branch }) => branches === undefined || (branch !== null && branches.includes(branch)),
    )
  /** The latest of each subject, in the order of positions. */
  const latestOf = (key: FeedKey): readonly ModelEvent[] => {
    const last = new Map(eventsOf(key).map((event) => [event.subjectId, event]))
    return eventsOf(key).filter((event) => last.get(event.subjectId) === event)
  }
  const stateOf = (key: FeedKey, { subjectId }: ModelEvent) => feedOf(key)?.subjects.get(subjectId)

  return {
    readEvent: async (key, id, branches) => stored(eventsOf(key, branches).find((event) => event.id === id)),
    positionOf: (key, id) => feedOf(key)?.ids.get(id)?.position,
    async readAfter({ latestOnly, after, limit, ...of }) {
      const latest = new Set(latestOf(of.key))
      return viewOf(of)
        .filter((event) => event.sequenceNumber > after && (!latestOnly || latest.has(event)))
        .slice(0, limit)
        .flatMap((event) => stored(event) ?? [])
    },
    readNewest: async ({ key, view, before = Infinity, limit }) =>
      latestOf(key)
        .filter((event) => event.position < before && standsIn(view, event))
        .toReversed()
        .slice(0, limit)
        .map((event) => {
          const { position, sequenceNumber, json } = event
          return { position, sequenceNumber, json, live: stateOf(key, event)?.published === true }
        }),
    readLatest: async (key, subjectId, branches, upTo = Infinity) =>
      stored(
        eventsOf(key, branches).findLast(
          (event) => event.subjectId === subjectId && event.sequenceNumber <= upTo,
        ),
      ),
    readSubject: async ({ key, subjectId, after, limit, branches }) =>
      eventsOf(key, branches)
        .filter((event) => event.subjectId === subjectId && event.sequenceNumber > after)
        .slice(0, limit)
        .flatMap((event) => stored(event) ?? []),
    latestPositions: async ({ key, view, after, through, limit }) =>
      latestOf(key)
        .filter((event) => event.position > after && event.position <= through && standsIn(view, event))
        .slice(0, limit)
        .map(({ position }) => position),
    async earlierPositions({ key, view, after, through, limit }) {
      const looked = latestOf(key)
        .filter(({ position }) => position > after)
        .slice(0, limit)
      const then = eventsOf(key).slice(0, through)
      const positions = looked
        .map(({ subjectId }) => then.findLast((event) => event.subjectId === subjectId))
        .flatMap((event) => (event !== undefined && standsIn(view, event) ? [event.position] : []))
      return { positions, next: looked.length < limit ? undefined : looked.at(-1)?.position }
    },
    async liveSubjects({ key, view, first, last, after = '', limit }) {
      const looked = latestOf(key)
        .filter(({ subjectId }) => subjectId >= first && subjectId <= last && subjectId > after)
        .toSorted((a, b) => (a.subjectId < b.subjectId ? -1 : 1))
        .slice(0, limit)
      const subjects = looked
        .filter((event) => isShown(key, stateOf(key, event)) && standsIn(view, event))
        .map(({ subjectId, position, sequenceNumber }) => ({ subjectId, position, sequenceNumber }))
      return { subjects, next: looked.length < limit ? undefined : looked.at(-1)?.subjectId }
    },
  }
}

function isShown({ feed }: FeedKey, state: SubjectState | undefined): boolean {
  return state !== undefined && meaningOf(feed, state.code) !== 'gone'
}

/** Whether the event belongs to the view: `all`, or a category. */
function standsIn(view: FeedView, { category }: ModelEvent): boolean {
  return view === 'all' || view === category
}

function stored(event: ModelEvent | undefined): StoredEvent | undefined {
  return event && { sequenceNumber: event.sequenceNumber, json: event.json }
}

function headOf({ events, offset }: ModelFeed): Head {
  const last = events.at(-1)
  return {
    position: events.length,
    sequenceNumber: last?.sequenceNumber ?? offset,
    created: last?.created,
    epoch: '',
    revision: 0,
    thinned: 0,
  }
}

function lookupsOf({ events, ids, subjects }: ModelFeed): AppendLookups {
  const parsed = (event: ModelEvent | undefined) => {
    if (event === undefined) throw new Error('no such event')
    return parseEventJson(Buffer.from(event.json).toString())
  }
  return {
    idTaken: (id) => ids.get(id),
    subject: (subjectId) => {
      const state = subjects.get(subjectId)
      const position = events.findLast((event) => event.subjectId === subjectId)?.position
      return state && position !== undefined ? { ...state, position } : undefined
    },
    event: (position) => parsed(events[position - 1]),
  }
}

function insert({ key, events, ids, subjects }: ModelFeed, row: EventRow): void {
  const { position, sequenceNumber, created, createdDate, event } = row
  const { id, subjectId, contentHash, state } = event
  const { branch, category } = state
  const json = Buffer.from(eventJson(key, event, sequenceNumber, createdDate))
  events.push({ position, sequenceNumber, created, id, subjectId, branch, category, json })
  ids.set(id, { position, contentHash })
  subjects.set(subjectId, state)
}
