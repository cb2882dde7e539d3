/** One plan as the arguments of `append_events_2`. */
import type { Ticks } from '@property-events/protocol'
import type { EventRow } from '../decide-append.ts'
import { eventJsonEnd, eventJsonMiddle, eventJsonStart } from '../event-json.ts'
import { answerColumns, readAnswer } from './append-answer.ts'
import type { AnswerRow, AppendAnswer } from './append-answer.ts'
import { appendOne, argumentsOfOne } from './append-one.ts'
import { bigints, booleans, integers, smallints, texts, uuids } from './array.ts'
import type { Session, Statement, Value } from './connection.ts'
import { feedNumbers } from './feed-number.ts'
import type { FeedPlan } from './plan-commit.ts'

export interface CallContext {
  /** In place of the database's clock. For tests. */
  readonly now: Ticks | undefined
  /** No stamp lies before it. */
  readonly floor: Ticks | undefined
  readonly clockToleranceTicks: Ticks | undefined
}

const argumentTypes = [
  'uuid[] smallint[] bigint[] boolean[] integer[] text[] text',
  'integer[] uuid[]',
  'integer[] uuid[] bigint[]',
  'integer[] integer[] uuid[] uuid[] text[] text[] text[] boolean[] boolean[]',
  'text[] text[] text[] text[] bigint[] integer[] integer[] text[]',
  'integer[] text[] integer[]',
  'integer[] uuid[] text[] bigint[]',
  'bigint bigint bigint',
].flatMap((types) => types.split(' '))

const append: Statement = {
  name: 'append-events',
  text: `SELECT ${answerColumns} FROM append_events_2(${argumentTypes
    .map((type, index) => `$${index + 1}::${type}`)
    .join(', ')})`,
}

/** Writes what the feeds of a plan get. `feeds` in key order, each with something to write. */
export async function callAppend(
  session: Session,
  feeds: readonly FeedPlan[],
  context: CallContext,
): Promise<AppendAnswer> {
  const one = argumentsOfOne(feeds, context)
  const [row] = one
    ? await session.query<AnswerRow>(appendOne, one)
    : await session.query<AnswerRow>(append, argumentsOf(feeds, context))
  if (row === undefined) throw new Error('an append gave no answer')
  return readAnswer(row, feeds)
}

function argumentsOf(feeds: readonly FeedPlan[], context: CallContext): Value[] {
  const rows = feeds.flatMap((feed, index) => rowArguments(feed, index + 1))
  const free = feeds.flatMap((feed, index) => [...feed.freeIds].map((id) => ({ n: index + 1, id })))
  const known = feeds.flatMap((feed, index) =>
    [...feed.knownSubjects].map(([subject, position]) => ({ n: index + 1, subject, position })),
  )
  const views = feeds.flatMap((feed, index) =>
    [...viewCounts(feed.rows)].map(([view, count]) => ({ n: index + 1, view, count })),
  )
  const reserved = feeds.flatMap(({ reserved, reading }, index) =>
    reserved.map((entry) => ({
      n: index + 1,
      ...entry,
      // The nth row of this call as -n, because its position is not known yet.
      place: entry.position > reading.lastPosition ? reading.lastPosition - entry.position : entry.position,
    })),
  )
  return [
    uuids(feeds.map(({ reading }) => reading.key.tenantId)),
    smallints(feeds.map(({ reading }) => feedNumbers[reading.key.feed])),
    bigints(feeds.map(({ reading }) => reading.revision)),
    booleans(feeds.map(({ behind }) => behind)),
    integers(feeds.map(({ rows }) => rows.length)),
    texts(feeds.map(({ reading }) => eventJsonStart(reading.key))),
    eventJsonEnd,
    integers(free.map(({ n }) => n)),
    uuids(free.map(({ id }) => id)),
    integers(known.map(({ n }) => n)),
    uuids(known.map(({ subject }) => subject)),
    bigints(known.map(({ position }) => position)),
    integers(rows.map(({ n }) => n)),
    integers(rows.map(({ nth }) => nth)),
    uuids(rows.map(({ row }) => row.event.id)),
    uuids(rows.map(({ row }) => row.event.subjectId)),
    texts(rows.map(({ row }) => row.event.state.category)),
    texts(rows.map(({ row }) => row.event.state.branch)),
    texts(rows.map(({ row }) => row.event.state.code)),
    booleans(rows.map(({ row }) => row.event.state.published)),
    booleans(rows.map(({ latest }) => latest)),
    texts(rows.map(({ row }) => hex(row.event.contentHash))),
    texts(rows.map(({ row }) => hex(row.event.state.payloadHash))),
    texts(rows.map(({ row }) => row.event.state.spelling)),
    texts(rows.map(({ row }) => hex(row.event.state.updateDateHash))),
    bigints(rows.map(({ wish }) => wish)),
    integers(rows.map(({ firstStamp }) => firstStamp)),
    integers(rows.map(({ viewNth }) => viewNth)),
    texts(rows.map(({ row }) => eventJsonMiddle(row.event))),
    integers(views.map(({ n }) => n)),
    texts(views.map(({ view }) => view)),
    integers(views.map(({ count }) => count)),
    integers(reserved.map(({ n }) => n)),
    uuids(reserved.map(({ id }) => id)),
    texts(reserved.map(({ contentHash }) => hex(contentHash))),
    bigints(reserved.map(({ place }) => place)),
    context.now ?? null,
    context.floor ?? null,
    context.clockToleranceTicks ?? null,
  ]
}

interface RowArguments {
  /** The feed's number in the call. */
  readonly n: number
  /** The row's number in its feed's part of the call. */
  readonly nth: number
  readonly row: EventRow
  /** No later row of the call is about the same subject. */
  readonly latest: boolean
  /** The greatest wish of the rows up to this one, each less its own number. */
  readonly wish: Ticks | null
  /** The number of the first row that is stamped with the clock, if it is not behind this one. */
  readonly firstStamp: number | null
  /** The row's number among those of its category. */
  readonly viewNth: number
}

function rowArguments({ rows }: FeedPlan, n: number): readonly RowArguments[] {
  const lastOf = new Map(rows.map((row) => [row.event.subjectId, row]))
  const viewNths = new Map<string | null, number>()
  let wish: Ticks | null = null
  let firstStamp: number | null = null
  return rows.map((row, index) => {
    const { event } = row
    const nth = index + 1
    if (event.wishedCreated === undefined) firstStamp ??= nth
    else {
      const less = event.wishedCreated - BigInt(nth)
      if (wish === null || less > wish) wish = less
    }
    const viewNth = (viewNths.get(event.state.category) ?? 0) + 1
    viewNths.set(event.state.category, viewNth)
    return { n, nth, row, latest: lastOf.get(event.subjectId) === row, wish, firstStamp, viewNth }
  })
}

function viewCounts(rows: readonly EventRow[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { event } of rows) {
    const { category } = event.state
    if (category !== null) counts.set(category, (counts.get(category) ?? 0) + 1)
  }
  return counts
}

function hex(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('hex')
}
