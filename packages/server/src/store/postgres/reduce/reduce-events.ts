/**
 * One step of an erasure: read on this node, reduced here, and written with one call that checks that nobody else has changed anything.
 */
import { rowsOfStep } from '../../../privacy/erasure/erasure.ts'
import { reducedEventJson } from '../../../events/append/reduced-event.ts'
import { refusalOf } from '../../../events/feed.ts'
import type { FeedRefusal, FeedState } from '../../../events/feed.ts'
import { feedNumbers } from '../../../sql/database.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import type { ReduceOutcome } from '../../../privacy/erasure/erasure.ts'
import { bigints, texts, uuids } from '../../../sql/postgres/array.ts'
import type { Database } from '../../../sql/postgres/connection.ts'
import type { Row, Session, Statement } from '../../../sql/postgres/session.ts'
import { erasureOf } from '../../../privacy/erasure/store.ts'
import type { ErasureRow } from '../../../privacy/erasure/store.ts'

const ofSubject: Statement = {
  name: 'erasure-next-events',
  text: `SELECT position, sequence, id, subject, state, json FROM event
    WHERE tenant = $1 AND feed = $2 AND subject = $3 AND sequence > 0 AND position >= $4 AND position <= $5
    ORDER BY tenant, feed, subject, position LIMIT $6`,
}
const atPosition: Statement = {
  name: 'erasure-one-event',
  text: `SELECT position, sequence, id, subject, state, json FROM event
    WHERE tenant = $1 AND feed = $2 AND position = $3`,
}
const call: Statement = {
  name: 'erasure-reduce',
  text: `SELECT reduce_events($1, $2, $3, $4, $5, $6::bigint[], $7::uuid[], $8::bigint[], $9::text[], $10) AS status`,
}

const takeKept: Statement = {
  name: 'erasure-take-kept',
  text: 'SELECT take_payloads($1, $2, $3::bigint[], $4::uuid[], $5::text[])',
}

const closedBy: Statement = {
  name: 'reduce-closed-by',
  text: 'SELECT move AS "closedBy" FROM feed WHERE tenant = $1 AND feed = $2',
}

interface EventRow extends Row {
  readonly position: string
  readonly sequence: string
  readonly id: string
  readonly subject: string
  readonly state: string
  readonly json: string
}

export async function reduceEvents(
  database: Database,
  row: ErasureRow,
  limit: number,
  nowMs: number | null,
): Promise<ReduceOutcome> {
  const { rows: events, isLast } = await nextEvents(database, row, limit)
  const full = events.filter(({ state }) => state !== 'erased' && state !== 'restricted')
  const kept = events.filter(({ state }) => state === 'restricted')
  const { key } = erasureOf(row)
  const next = isLast ? row.last_position + 1 : Number(events.at(-1)?.position) + 1
  const values = [
    row.erasure,
    row.next_position,
    next,
    isLast,
    events.length,
    bigints(full.map(({ position }) => BigInt(position))),
    uuids(full.map(({ id }) => id)),
    bigints(full.map(({ sequence }) => BigInt(sequence))),
    texts(full.map(({ subject, json }) => reducedEventJson('erased', key.feed, subject, json))),
    nowMs,
  ]
  const reduce = async (session: Session): Promise<ReduceOutcome> => {
    const [answer] = await session.query<{ status: string }>(call, values)
    if (answer?.status === 'reduced') return { kind: 'reduced', events: events.length }
    return notReduced(session, key)
  }
  if (kept.length === 0) return database.write(reduce)
  return database.transaction(async (session) => {
    const outcome = await reduce(session)
    // What was kept is removed without a trace: the events are still shown as before.
    if (outcome.kind === 'reduced') {
      await session.query(takeKept, [
        row.tenant,
        row.feed,
        bigints(kept.map(({ position }) => BigInt(position))),
        uuids(kept.map(({ id }) => id)),
        texts(kept.map(({ json }) => json)),
      ])
    }
    return outcome
  })
}

/** Why a step has changed nothing: the feed takes no change, or another session is at it. */
export async function notReduced(
  session: Session,
  { tenantId, feed }: FeedKey,
): Promise<FeedRefusal | { readonly kind: 'busy' }> {
  const [state] = await session.query<Pick<FeedState, 'closedBy'> & Row>(closedBy, [
    tenantId,
    feedNumbers[feed],
  ])
  return refusalOf(state, 'nothing') ?? { kind: 'busy' }
}

/** The events of one step, and whether they are the last. */
async function nextEvents(
  database: Database,
  row: ErasureRow,
  limit: number,
): Promise<{ readonly rows: readonly EventRow[]; readonly isLast: boolean }> {
  const feed = [row.tenant, row.feed] as const
  const { next_position: next, last_position: last } = row
  const { target } = erasureOf(row)
  if (target.kind === 'event') {
    return { rows: await database.read<EventRow>(atPosition, [...feed, next]), isLast: true }
  }
  const found = await database.read<EventRow>(ofSubject, [...feed, target.subjectId, next, last, limit + 1])
  return rowsOfStep(found, limit, ({ json }) => json.length)
}
