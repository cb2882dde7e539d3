/** Thinning on a database, step by step. */
import { codeOf } from '../../../sql/storage-errors.ts'
import { reducedEventJson } from '../../../events/append/reduced-event.ts'
import { cutThinStep, nextThinStep, retentionTurnMs } from '../../../privacy/retention/retention.ts'
import type {
  DueEvent,
  Thinning,
  ThinOutcome,
  ThinProgress,
  ThinSpan,
  ThinStep,
} from '../../../privacy/retention/retention.ts'
import { bigints, texts, uuids } from '../../../sql/postgres/array.ts'
import type { Row, Statement } from '../../../sql/postgres/session.ts'
import type { EngineParts } from '../engine-parts.ts'
import { feedNumbers } from '../../../sql/database.ts'
import { refusalOf } from '../../../events/feed.ts'
import type { FeedRefusal, FeedState } from '../../../events/feed.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import type { Database } from '../../../sql/postgres/connection.ts'

const call: Statement = {
  name: 'retention-thin',
  text: `SELECT thin_events($1, $2, $3, $4, $5, $6, $7, $8, $9::bigint[], $10::uuid[], $11::uuid[], $12::text[], $13,
    ${retentionTurnMs}, $14) AS status`,
}

/** Raised by the function. */
const onHold = 'PE001'

type Parts = Pick<EngineParts, 'database' | 'givenMs' | 'changed'>

export function databaseThinning(parts: Parts): Thinning {
  const { database, givenMs, changed } = parts
  return {
    async thin(span, limit, nodeId) {
      const outcome = await thin(parts, span, limit, { nodeId, nowMs: givenMs() })
      if (outcome.kind === 'thinned' && outcome.events > 0) changed([span.key])
      return outcome
    },
    async countDue(span, limit, progress) {
      const state = await readThinState(database, span)
      const step = state && nextThinStep(progress ?? state.progress, state.ends, span, limit)
      if (step === undefined) return undefined
      const { due, to } = cutThinStep(step, await readDue(database, span.key, step, givenMs()))
      return { events: due.length, progress: to }
    },
  }
}

/** Read on this node, reduced here, and written with one call that checks that no other node has changed anything. */
async function thin(
  { database }: Pick<Parts, 'database'>,
  span: ThinSpan,
  limit: number,
  { nodeId, nowMs }: { readonly nodeId: string; readonly nowMs: number | null },
): Promise<ThinOutcome> {
  const { key } = span
  const state = await readThinState(database, span)
  if (state === undefined) return { kind: 'unknownFeed' }
  if (state.refusal !== undefined) return state.refusal
  const step = nextThinStep(state.progress, state.ends, span, limit)
  if (step === undefined) return { kind: 'finished' }
  const { due, to } = cutThinStep(step, await readDue(database, key, step, nowMs))
  const { aged, superseded } = state.progress ?? { aged: 0, superseded: 0 }
  const values = [
    key.tenantId,
    feedNumbers[key.feed],
    aged,
    superseded,
    to.aged,
    to.superseded,
    to.held?.from ?? null,
    to.held?.before ?? null,
    bigints(due.map(({ position }) => position)),
    uuids(due.map(({ id }) => id)),
    uuids([...new Set(due.map(({ subject }) => subject))]),
    texts(due.map(({ subject, json }) => reducedEventJson('thinned', key.feed, subject, json))),
    nodeId,
    nowMs,
  ]
  try {
    const [answer] = await database.write((session) => session.query<{ status: string }>(call, values))
    if (answer?.status === 'thinned') return { kind: 'thinned', events: due.length }
    if (answer?.status !== 'closed') return { kind: 'busy' }
  } catch (error) {
    // One of the subjects was put on hold or restricted since it was read: nothing was changed, and the next step sees it.
    if (codeOf(error) === onHold) return { kind: 'thinned', events: 0 }
    throw error
  }
  // The feed was closed since it was read: another look says by what.
  return thin({ database }, span, limit, { nodeId, nowMs })
}

/** `e` is on hold, or restricted until everything is shown again. `$6` replaces the database's clock. For tests. */
const isHeld = `EXISTS (
          SELECT FROM hold h WHERE h.tenant = $1 AND h.feed = $2 AND h.subject = e.subject AND h.ended_ms IS NULL
            AND h.until_ms > coalesce($6, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
        ) OR EXISTS (SELECT FROM restriction r WHERE r.tenant = $1 AND r.feed = $2 AND r.subject = e.subject
          AND r.state IN ('hiding', 'hidden', 'restricted', 'lifting')) AS held`

/**
 * Finds what a step of retention has to thin (D17): index probes for the events that the step looks at, and no others.
 * Conditions that always hold name the index (see the first migration).
 */
export const dueStatements = {
  /**
   * Events that are old enough and have a later event of their subject. (PostgreSQL may turn a condition with EXISTS into a join of all
   * events.)
   */
  aged: {
    name: 'thin-aged',
    text: `SELECT e.position AS at, e.position, e.id, e.subject, e.json, ${isHeld}
      FROM event e
      WHERE e.tenant = $1 AND e.feed = $2 AND e.position > $3 AND e.position <= $4 AND e.state IN ('full', 'restricted') AND (
        SELECT n.position FROM event n WHERE n.tenant = $1 AND n.feed = $2 AND n.subject = e.subject AND n.sequence > 0
          AND n.position > e.position ORDER BY n.tenant, n.feed, n.subject, n.position LIMIT 1
      ) <= $5 ORDER BY e.tenant, e.feed, e.position`,
  },
  /** Events that newer ones have superseded, if the first walk has passed them. */
  superseded: {
    name: 'thin-superseded',
    text: `SELECT n.position AS at, e.position, e.id, e.subject, e.json, ${isHeld}
      FROM event n, LATERAL (
        SELECT p.position, p.id, p.subject, p.json, p.state FROM event p WHERE p.tenant = $1 AND p.feed = $2
          AND p.subject = n.subject AND p.sequence > 0 AND p.position < n.position
        ORDER BY p.tenant DESC, p.feed DESC, p.subject DESC, p.position DESC LIMIT 1
      ) AS e
      WHERE n.tenant = $1 AND n.feed = $2 AND n.position > $3 AND n.position <= $4 AND e.position <= $5 AND e.state IN ('full', 'restricted')
      ORDER BY n.tenant, n.feed, n.position`,
  },
  /** The progress of the walks, and the last positions before two times. */
  state: {
    name: 'thin-state',
    text: `SELECT f.move AS "closedBy", p.aged, p.superseded, p.held_from, p.held_before,
        (SELECT e.position FROM event e WHERE e.tenant = $1 AND e.feed = $2 AND e.sequence > 0 AND e.created < $3
          ORDER BY e.tenant DESC, e.feed DESC, e.created DESC LIMIT 1) AS last_aged,
        (SELECT e.position FROM event e WHERE e.tenant = $1 AND e.feed = $2 AND e.sequence > 0 AND e.created < $4
          ORDER BY e.tenant DESC, e.feed DESC, e.created DESC LIMIT 1) AS last_superseded
      FROM feed f LEFT JOIN thin_progress p ON p.tenant = f.tenant AND p.feed = f.feed
      WHERE f.tenant = $1 AND f.feed = $2`,
  },
} as const satisfies Record<string, Statement>

interface DueRow extends DueEvent {
  readonly id: string
  readonly subject: string
  readonly json: string
}

interface StateRow extends Row, Pick<FeedState, 'closedBy'> {
  readonly aged: string | null
  readonly superseded: string | null
  readonly held_from: string | null
  readonly held_before: string | null
  readonly last_aged: string | null
  readonly last_superseded: string | null
}

interface ThinState {
  /** Why nothing may be removed. */
  readonly refusal: FeedRefusal | undefined
  readonly progress: ThinProgress | undefined
  readonly ends: ThinProgress
}

/** `undefined`: no such tenant. */
async function readThinState(database: Database, span: ThinSpan): Promise<ThinState | undefined> {
  const { key, before, supersededBefore } = span
  const values = [key.tenantId, feedNumbers[key.feed], before, supersededBefore]
  const [row] = await database.read<StateRow>(dueStatements.state, values)
  return (
    row && {
      refusal: refusalOf(row, 'nothing'),
      progress: progressOf(row),
      ends: { aged: Number(row.last_aged ?? 0), superseded: Number(row.last_superseded ?? 0) },
    }
  )
}

function progressOf({ aged, superseded, ...row }: StateRow): ThinProgress | undefined {
  if (aged === null) return undefined
  const { held_from: from, held_before: before } = row
  const held = from === null || before === null ? undefined : { from: Number(from), before: BigInt(before) }
  return { aged: Number(aged), superseded: Number(superseded), held }
}

/** `nowMs`: replaces the database's clock, for tests. */
async function readDue(
  database: Database,
  key: FeedKey,
  { from, to, supersededUntil }: ThinStep,
  nowMs: number | null,
): Promise<readonly DueRow[]> {
  const feed = [key.tenantId, feedNumbers[key.feed]] as const
  const rows =
    to.aged > from.aged
      ? await database.read<RawRow>(dueStatements.aged, [...feed, from.aged, to.aged, supersededUntil, nowMs])
      : await database.read<RawRow>(dueStatements.superseded, [
          ...feed,
          from.superseded,
          to.superseded,
          to.aged,
          nowMs,
        ])
  return rows.map(({ at, position, json, held, ...row }) => {
    const place = { at: Number(at), position: Number(position) }
    return { ...row, ...place, json, byteLength: json.length, isHeld: held }
  })
}

interface RawRow extends Row {
  readonly at: string
  readonly position: string
  readonly id: string
  readonly subject: string
  readonly json: string
  readonly held: boolean
}
