/** One plan as the arguments of `append_events`, and its answer. */
import { formatTicks } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import type { EventRow } from '../decide-append.ts'
import { eventJsonEnd, eventJsonMiddle, eventJsonStart } from '../event-json.ts'
import { feedName } from '../storage.ts'
import { appendOne, argumentsOfOne } from './append-one.ts'
import { list } from './array-text.ts'
import type { Session, Statement, Value } from './connection.ts'
import { feedNumbers } from './feed-number.ts'
import type { FeedPlan, Stamped } from './plan-commit.ts'

export type AppendAnswer =
  | { readonly kind: 'appended'; readonly feeds: ReadonlyMap<string, Stamped> }
  /** Something the plan was made from has changed. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'epochRequired' }
  /** The cluster's history is not the one that numbers were last given in (D13). */
  | { readonly kind: 'unvouched' }

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
  'text[] text[] bigint[] integer[] integer[] pieces',
  'integer[] text[] integer[]',
  'integer[] uuid[] text[] bigint[]',
  'bigint bigint bigint',
].flatMap((types) => types.split(' '))

/**
 * The pieces of JSON travel as one text, parted by a control character, which JSON texts never hold unescaped: as
 * elements of an array, all their quotes would have to be escaped here and unescaped there.
 */
const separator = 0x1e

/** As bytes, written one behind the other: as one string they would be another 400 kB for a hundred events. */
function joined(pieces: readonly string[]): Uint8Array {
  const lengths = pieces.map((piece) => Buffer.byteLength(piece) + 1)
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length, 0))
  let end = 0
  for (const [index, piece] of pieces.entries()) {
    bytes.write(piece, end)
    end += lengths[index] ?? 0
    bytes[end - 1] = separator
  }
  return bytes.subarray(0, -1)
}

const append: Statement = {
  name: 'append-events',
  text: `SELECT * FROM append_events(${argumentTypes
    .map((type, index) =>
      type === 'pieces' ? `string_to_array($${index + 1}, chr(30))` : `$${index + 1}::${type}`,
    )
    .join(', ')})`,
}

interface AnswerRow {
  readonly status: AppendAnswer['kind']
  readonly positions: readonly string[]
  readonly offsets: readonly string[]
  readonly created: readonly string[]
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
  if (row.status !== 'appended') return { kind: row.status }
  const answer = new Map<string, Stamped>()
  let rowNo = 0
  for (const [index, { reading, rows }] of feeds.entries()) {
    const [offset, before] = [Number(row.offsets[index]), Number(row.positions[index])]
    const stored = rows.map((_, nth) => {
      const created = BigInt(row.created[rowNo + nth] ?? 0)
      return { sequenceNumber: offset + before + nth + 1, createdDate: formatTicks(created) }
    })
    rowNo += rows.length
    const { key } = reading
    answer.set(feedName(key), { key, reading, lastPosition: before + rows.length, offset, stored })
  }
  return { kind: 'appended', feeds: answer }
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
    list(feeds.map(({ reading }) => reading.key.tenantId)),
    list(feeds.map(({ reading }) => feedNumbers[reading.key.feed])),
    list(feeds.map(({ reading }) => reading.revision)),
    list(feeds.map(({ behind }) => behind)),
    list(feeds.map(({ rows }) => rows.length)),
    feeds.map(({ reading }) => eventJsonStart(reading.key)),
    eventJsonEnd,
    list(free.map(({ n }) => n)),
    list(free.map(({ id }) => id)),
    list(known.map(({ n }) => n)),
    list(known.map(({ subject }) => subject)),
    list(known.map(({ position }) => position)),
    list(rows.map(({ n }) => n)),
    list(rows.map(({ nth }) => nth)),
    list(rows.map(({ row }) => row.event.id)),
    list(rows.map(({ row }) => row.event.subjectId)),
    list(rows.map(({ row }) => row.event.state.category)),
    rows.map(({ row }) => row.event.state.branch),
    rows.map(({ row }) => row.event.state.code),
    list(rows.map(({ row }) => row.event.state.published)),
    list(rows.map(({ latest }) => latest)),
    list(rows.map(({ row }) => hex(row.event.contentHash))),
    list(rows.map(({ row }) => hex(row.event.state.payloadHash))),
    list(rows.map(({ wish }) => wish)),
    list(rows.map(({ firstStamp }) => firstStamp)),
    list(rows.map(({ viewNth }) => viewNth)),
    joined(rows.map(({ row }) => eventJsonMiddle(row.event))),
    list(views.map(({ n }) => n)),
    list(views.map(({ view }) => view)),
    list(views.map(({ count }) => count)),
    list(reserved.map(({ n }) => n)),
    list(reserved.map(({ id }) => id)),
    list(reserved.map(({ contentHash }) => hex(contentHash))),
    list(reserved.map(({ place }) => place)),
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
