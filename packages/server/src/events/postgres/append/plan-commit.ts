/**
 * From what was read to what one commit will write, for any number of batches: each is decided in turn on what was read and what the
 * earlier batches will have added. Numbers and times are provisional until the database has given them. Pure.
 */
import type { EventTypeCatalogue, FeedEvent, Ticks } from '@property-events/protocol'
import { decideAppend } from '../../append/decide-append.ts'
import type { EventRow, FeedCounter, ReservedId } from '../../append/decide-append.ts'
import type { AppendLookups } from '../../append/append-plan.ts'
import { feedName } from '../../feed-key.ts'
import type { AppendBatch, AppendOutcome } from '../../append/append-batch.ts'
import type { FeedKey } from '../../feed-key.ts'
import type { FeedReading, Reading, SubjectRow, StoredId, MissingRow } from './feed-state.ts'

export interface PlanContext {
  readonly catalogue: EventTypeCatalogue
  readonly now: Ticks
  readonly clockToleranceTicks: Ticks | undefined
}

/** What is added to one feed, and the state that was assumed. */
export interface FeedPlan {
  readonly reading: FeedReading
  readonly rows: readonly EventRow[]
  readonly reserved: readonly ReservedId[]
  /** Ids found free. */
  readonly freeIds: ReadonlySet<string>
  /** The subjects that were looked up, and the position of their latest event; 0 for none. */
  readonly knownSubjects: ReadonlyMap<string, number>
  /** The head was too far ahead of the clock (D25). */
  readonly isClockBehind: boolean
}

export interface CommitPlan {
  /** One per batch, with provisional numbers and times. */
  readonly outcomes: readonly AppendOutcome[]
  readonly feeds: readonly FeedPlan[]
  /** Not empty: read these as well, and plan again. */
  readonly wanted: readonly MissingRow[]
}

export function planCommit(
  batches: readonly AppendBatch[],
  reading: Reading,
  context: PlanContext,
): CommitPlan {
  const growing = new Map<string, GrowingFeed>()
  const outcomes = batches.map((batch): AppendOutcome => {
    const name = feedName(batch.key)
    const read = reading.feeds.get(name)
    if (read === undefined) return { kind: 'unknownFeed' }
    if (read.refusal !== undefined) return read.refusal
    const feed = growing.get(name) ?? growingFeed(read)
    growing.set(name, feed)
    const decision = decideAppend(batch, counterOf(feed), lookupsOf(feed), {
      ...context,
      floor: reading.floor,
    })
    grow(feed, decision.rows, decision.reserved)
    return decision.outcome
  })
  const feeds = [...growing.values()]
  return {
    outcomes,
    feeds: feeds.map((feed) => planOf(feed, context)),
    wanted: feeds.flatMap(missingOf),
  }
}

/** What is added to one feed, while the batches of the commit are decided one after the other. */
interface GrowingFeed {
  readonly reading: FeedReading
  readonly rows: EventRow[]
  readonly reserved: ReservedId[]
  readonly addedIds: Map<string, StoredId>
  readonly addedSubjects: Map<string, SubjectRow>
  /** What was looked up, as in the plan. */
  readonly freeIds: Set<string>
  readonly knownSubjects: Map<string, number>
  readonly wanted: MissingRows
}

/** Look-ups of things that have not been read. */
interface MissingRows {
  readonly ids: Set<string>
  readonly positions: Set<number>
}

function growingFeed(reading: FeedReading): GrowingFeed {
  return {
    reading,
    rows: [],
    reserved: [],
    addedIds: new Map(),
    addedSubjects: new Map(),
    freeIds: new Set(),
    knownSubjects: new Map(),
    wanted: { ids: new Set(), positions: new Set() },
  }
}

/** Looks first among the new rows of the feed, then in the reading. Anything in neither is wanted. */
function lookupsOf(feed: GrowingFeed): AppendLookups {
  const { reading, rows, wanted } = feed
  return {
    idTaken(id) {
      const found = feed.addedIds.get(id) ?? reading.ids.get(id)
      if (found !== undefined) return found
      if (reading.idsUnread === 'free' || reading.ids.has(id)) feed.freeIds.add(id)
      else wanted.ids.add(id)
      return undefined
    },
    subject(subjectId) {
      const added = feed.addedSubjects.get(subjectId)
      if (added !== undefined) return added
      const found = reading.subjects.get(subjectId)
      feed.knownSubjects.set(subjectId, found?.position ?? 0)
      return found
    },
    event(position) {
      const added = rows[position - reading.lastPosition - 1]
      if (added !== undefined) return feedEvent(reading.key, added)
      const event = reading.events.get(position)
      if (event === undefined) wanted.positions.add(position)
      return event ?? placeholder
    },
  }
}

function counterOf({ reading, rows }: GrowingFeed): FeedCounter {
  return {
    lastPosition: reading.lastPosition + rows.length,
    offset: reading.offset,
    lastCreated: rows.at(-1)?.created ?? reading.lastCreated,
  }
}

function grow(feed: GrowingFeed, rows: readonly EventRow[], reserved: readonly ReservedId[]): void {
  for (const row of rows) {
    const { position, event } = row
    feed.rows.push(row)
    feed.addedIds.set(event.id, { position, contentHash: event.contentHash })
    feed.addedSubjects.set(event.subjectId, { ...event.state, position })
  }
  for (const entry of reserved) {
    feed.reserved.push(entry)
    feed.addedIds.set(entry.id, entry)
  }
}

function planOf(feed: GrowingFeed, { now, clockToleranceTicks }: PlanContext): FeedPlan {
  const { reading, rows, reserved, freeIds, knownSubjects } = feed
  const isClockBehind =
    clockToleranceTicks !== undefined &&
    reading.lastCreated !== undefined &&
    reading.lastCreated - now > clockToleranceTicks
  return { reading, rows, reserved, freeIds, knownSubjects, isClockBehind }
}

function missingOf({ reading, wanted }: GrowingFeed): readonly MissingRow[] {
  const isComplete = wanted.ids.size + wanted.positions.size === 0
  return isComplete ? [] : [{ key: reading.key, ...wanted }]
}

/** An event of the plan itself, as if it had been read. */
function feedEvent({ tenantId }: FeedKey, { sequenceNumber, createdDate, event }: EventRow): FeedEvent {
  const { id, eventType, state, payload, transactionId } = event
  const eventTypeShortCode = state.code
  return { tenantId, sequenceNumber, eventType, eventTypeShortCode, payload, transactionId, id, createdDate }
}

/** Stands in for an event that has to be read first; a plan that uses it is discarded. */
const placeholder: FeedEvent = {
  tenantId: '',
  sequenceNumber: 0,
  eventType: 0,
  eventTypeShortCode: '',
  payload: '{}',
  transactionId: '',
  id: '',
  createdDate: '',
}

/** The numbers and times the database has given to the rows of a feed. */
export interface Stamped {
  readonly key: FeedKey
  readonly reading: FeedReading
  /** Of the feed, with these rows. */
  readonly lastPosition: number
  readonly offset: number
  /** Of the nth row, from 0. */
  readonly stored: readonly { readonly sequenceNumber: number; readonly createdDate: string }[]
}

/** The outcomes with the real numbers in place of the provisional ones. */
export function settleOutcomes(
  batches: readonly AppendBatch[],
  outcomes: readonly AppendOutcome[],
  stamped: ReadonlyMap<string, Stamped>,
): readonly AppendOutcome[] {
  return outcomes.map((outcome, index) => {
    const batch = batches[index]
    const feed = batch && stamped.get(feedName(batch.key))
    if (outcome.kind !== 'stored' || feed === undefined) return outcome
    const { reading, stored } = feed
    const events = outcome.events.map((line) => {
      const nth = (line.stored?.sequenceNumber ?? 0) - reading.offset - reading.lastPosition - 1
      const given = nth < 0 ? undefined : stored[nth]
      return given === undefined ? line : { ...line, stored: given }
    })
    return { kind: 'stored', events }
  })
}
