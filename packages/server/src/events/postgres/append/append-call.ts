/** A plan as a call: of `append_event` for one event, else of `append_events`. */
import type { Ticks } from '@property-events/protocol'
import { viewCounts } from '../../append/decide-append.ts'
import type { EventRow, ReservedId } from '../../append/decide-append.ts'
import { eventJsonEnd, eventJsonMiddle, eventJsonStart } from '../../event-json.ts'
import { answerColumns, contextParameters, readAnswer } from './append-answer.ts'
import type { AnswerRow, AppendAnswer, CallContext } from './append-answer.ts'
import type { Session } from '../../../sql/postgres/session.ts'
import { feedNumbers } from '../../../sql/database.ts'
import { freeLongParameters } from '../../../sql/postgres/long-parameters.ts'
import { functionCall, list, listsOver } from '../../../sql/postgres/function-call.ts'
import type { FeedPlan } from './plan-commit.ts'
import type { FeedReading } from './feed-state.ts'

/** Writes the rows that a plan adds to its feeds. `feeds` in key order, each with something to write. */
export async function callAppend(
  session: Session,
  feeds: readonly FeedPlan[],
  context: CallContext,
): Promise<AppendAnswer> {
  const one = plannedEvent(feeds, context)
  const values = one ? appendOne.valuesOf(one) : append.valuesOf(plannedEvents(feeds, context))
  const [row] = await session.query<AnswerRow>(one ? appendOne.statement : append.statement, values)
  freeLongParameters(values)
  if (row === undefined) throw new Error('an append gave no answer')
  return readAnswer(row, feeds)
}

/** The contents of a call, as lists. `n` is a feed's number in the call, from 1. */
interface PlannedEvents {
  readonly feeds: readonly FeedPlan[]
  readonly free: readonly { readonly n: number; readonly id: string }[]
  readonly known: readonly { readonly n: number; readonly subject: string; readonly position: number }[]
  readonly rows: readonly PlannedRow[]
  readonly views: readonly { readonly n: number; readonly view: string; readonly count: number }[]
  readonly reserved: readonly PlannedId[]
  readonly context: CallContext
}

/** An id that came with an unchanged payload. */
interface PlannedId extends ReservedId {
  readonly n: number
  /** The position of its event. The nth row of this call is written as -nth, because its position is not known yet. */
  readonly place: number
}

const append = functionCall<PlannedEvents>(
  'append-events',
  'append_events',
  {
    ...listsOver(({ feeds }: PlannedEvents) => feeds, {
      tenants: list.uuid(({ reading }) => reading.key.tenantId),
      feeds: list.smallint(({ reading }) => feedNumbers[reading.key.feed]),
      revisions: list.bigint(({ reading }) => reading.revision),
      behind: list.boolean(({ isClockBehind }) => isClockBehind),
      row_counts: list.integer(({ rows }) => rows.length),
      appeared: list.integer(appearedIn),
      json_before: list.text(({ reading }) => eventJsonStart(reading.key)),
    }),
    json_after: { type: 'text', value: () => eventJsonEnd },
    ...listsOver(({ free }: PlannedEvents) => free, {
      free_feeds: list.integer(({ n }) => n),
      free_ids: list.uuid(({ id }) => id),
    }),
    ...listsOver(({ known }: PlannedEvents) => known, {
      known_feeds: list.integer(({ n }) => n),
      known_subjects: list.uuid(({ subject }) => subject),
      known_positions: list.bigint(({ position }) => position),
    }),
    ...listsOver(({ rows }: PlannedEvents) => rows, {
      row_feeds: list.integer(({ n }) => n),
      row_nths: list.integer(({ nth }) => nth),
      row_ids: list.uuid(({ event }) => event.id),
      row_subjects: list.uuid(({ event }) => event.subjectId),
      row_categories: list.text(({ event }) => event.state.category),
      row_branches: list.text(({ event }) => event.state.branch),
      row_codes: list.text(({ event }) => event.state.code),
      row_published: list.boolean(({ event }) => event.state.published),
      row_latest: list.boolean(({ latest }) => latest),
      row_content_hashes: list.text(({ event }) => hex(event.contentHash)),
      row_payload_hashes: list.text(({ event }) => hex(event.state.payloadHash)),
      row_spellings: list.text(({ event }) => event.state.spelling),
      row_update_date_hashes: list.text(({ event }) => hex(event.state.updateDateHash)),
      row_wishes: list.bigint(({ wish }) => wish),
      row_first_stamps: list.integer(({ firstStamp }) => firstStamp),
      row_view_nths: list.integer(({ viewNth }) => viewNth),
      row_json: list.text(({ event }) => eventJsonMiddle(event)),
    }),
    ...listsOver(({ views }: PlannedEvents) => views, {
      view_feeds: list.integer(({ n }) => n),
      view_names: list.text(({ view }) => view),
      view_counts: list.integer(({ count }) => count),
    }),
    ...listsOver(({ reserved }: PlannedEvents) => reserved, {
      reserved_feeds: list.integer(({ n }) => n),
      reserved_ids: list.uuid(({ id }) => id),
      reserved_hashes: list.text(({ contentHash }) => hex(contentHash)),
      reserved_positions: list.bigint(({ place }) => place),
    }),
    ...contextParameters,
  },
  answerColumns,
)

/** In loops, because small functions made for each call are compiled again and again (docs/decisions/0053). */
function plannedEvents(feeds: readonly FeedPlan[], context: CallContext): PlannedEvents {
  const free: PlannedEvents['free'][number][] = []
  const known: PlannedEvents['known'][number][] = []
  const rows: PlannedRow[] = []
  const views: PlannedEvents['views'][number][] = []
  const reserved: PlannedId[] = []
  let n = 0
  for (const feed of feeds) {
    n += 1
    for (const id of feed.freeIds) free.push({ n, id })
    for (const [subject, position] of feed.knownSubjects) known.push({ n, subject, position })
    addRows(rows, feed, n)
    for (const [view, count] of viewCounts(feed.rows)) views.push({ n, view, count })
    addIds(reserved, feed, n)
  }
  return { feeds, free, known, rows, views, reserved, context }
}

/** How many more live subjects there are after the rows than before; the call checks what was known before them. */
function appearedIn({ rows, reading }: FeedPlan): number {
  const published = new Map<string, boolean>()
  for (const { event } of rows) published.set(event.subjectId, event.state.published)
  let count = 0
  for (const [subject, isPublished] of published) {
    count += Number(isPublished) - Number(reading.subjects.get(subject)?.published ?? false)
  }
  return count
}

function addIds(planned: PlannedId[], { reserved, reading }: FeedPlan, n: number): void {
  const { lastPosition } = reading
  for (const entry of reserved) {
    const { position } = entry
    planned.push({ ...entry, n, place: position > lastPosition ? lastPosition - position : position })
  }
}

interface PlannedRow {
  readonly n: number
  /** The row's number in its feed's part of the call. */
  readonly nth: number
  readonly event: EventRow['event']
  /** No later row of the call is about the same subject. */
  readonly latest: boolean
  /** The greatest wish of the rows up to this one, each less its own number. */
  readonly wish: Ticks | null
  /** The number of the first row that is stamped with the clock, unless it comes after this one. */
  readonly firstStamp: number | null
  /** The row's number among those of its category. */
  readonly viewNth: number
}

function addRows(planned: PlannedRow[], { rows }: FeedPlan, n: number): void {
  const lastOf = new Map<string, EventRow>()
  for (const row of rows) lastOf.set(row.event.subjectId, row)
  const viewNths = new Map<string | null, number>()
  let wish: Ticks | null = null
  let firstStamp: number | null = null
  let nth = 0
  for (const row of rows) {
    const { event } = row
    nth += 1
    if (event.requestedCreated === undefined) firstStamp ??= nth
    else {
      const less: Ticks = event.requestedCreated - BigInt(nth)
      if (wish === null || less > wish) wish = less
    }
    const viewNth = (viewNths.get(event.state.category) ?? 0) + 1
    viewNths.set(event.state.category, viewNth)
    planned.push({ n, nth, event, latest: lastOf.get(event.subjectId) === row, wish, firstStamp, viewNth })
  }
}

function hex(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('hex')
}

/** A plan of one event as a call of `append_event`. This is the most frequent call, and none of its values is a list. */

/** One event that was decided from its own id and its own subject. */
interface PlannedEvent {
  readonly reading: FeedReading
  readonly isClockBehind: boolean
  readonly event: EventRow['event']
  /** The position of its subject's latest event; 0 for none. */
  readonly known: number
  readonly context: CallContext
}

const appendOne = functionCall<PlannedEvent>(
  'append-event',
  'append_event',
  {
    of_tenant: { type: 'uuid', value: ({ reading }) => reading.key.tenantId },
    of_feed: { type: 'smallint', value: ({ reading }) => feedNumbers[reading.key.feed] },
    of_revision: { type: 'bigint', value: ({ reading }) => reading.revision },
    was_behind: { type: 'boolean', value: ({ isClockBehind }) => isClockBehind },
    new_id: { type: 'uuid', value: ({ event }) => event.id },
    of_subject: { type: 'uuid', value: ({ event }) => event.subjectId },
    known_position: { type: 'bigint', value: ({ known }) => known },
    new_category: { type: 'text', value: ({ event }) => event.state.category },
    new_branch: { type: 'text', value: ({ event }) => event.state.branch },
    new_code: { type: 'text', value: ({ event }) => event.state.code },
    new_published: { type: 'boolean', value: ({ event }) => event.state.published },
    new_content_hash: { type: 'bytea', value: ({ event }) => event.contentHash },
    new_payload_hash: { type: 'bytea', value: ({ event }) => event.state.payloadHash },
    new_spelling: { type: 'text', value: ({ event }) => event.state.spelling },
    new_update_date_hash: { type: 'bytea', value: ({ event }) => event.state.updateDateHash },
    wish: { type: 'bigint', value: ({ event }) => event.requestedCreated ?? null },
    json_before: { type: 'text', value: ({ reading }) => eventJsonStart(reading.key) },
    json_piece: { type: 'text', value: ({ event }) => eventJsonMiddle(event) },
    json_after: { type: 'text', value: () => eventJsonEnd },
    ...contextParameters,
  },
  answerColumns,
)

/** `undefined`: the plan holds anything other than one such event. */
function plannedEvent(feeds: readonly FeedPlan[], context: CallContext): PlannedEvent | undefined {
  const [feed, ...others] = feeds
  const [row, ...more] = feed?.rows ?? []
  if (feed === undefined || row === undefined || others.length + more.length + feed.reserved.length > 0) {
    return undefined
  }
  const { reading, freeIds, knownSubjects, isClockBehind } = feed
  const { event } = row
  const known = knownSubjects.get(event.subjectId)
  const foreign = freeIds.size > 1 || knownSubjects.size > 1
  if (foreign || !freeIds.has(event.id) || known === undefined) return undefined
  return { reading, isClockBehind, event, known, context }
}
