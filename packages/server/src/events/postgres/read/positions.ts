/**
 * The positions of events, by their ids. Partners that are told about events read them by id, many at the same time, and a query to the
 * database costs some 100 µs whatever it asks for. So all ids requested in one turn of the event loop go in one query, and those that
 * come while it is under way go in the next.
 */
import { isUuid, viewsOf } from '@property-events/protocol'
import type { FeedKey } from '../../feed-key.ts'
import { feedLists, texts, uuids } from '../../../sql/postgres/array.ts'
import type { Database, Reads } from '../../../sql/postgres/connection.ts'
import type { Statement } from '../../../sql/postgres/session.ts'
import { feedNumbers } from '../../../sql/database.ts'
import type {
  EarlierQuery,
  EarlierStep,
  EventPosition,
  LatestQuery,
  NumberedSubject,
  SubjectPositionsQuery,
  SubjectsQuery,
} from '../../event-log.ts'
import { partsOfView } from '../../branches/branch-view.ts'
import { categoriesOf } from './read-after.ts'

const select: Statement = {
  name: 'positions-of',
  text: `SELECT i.position
    FROM unnest($1::uuid[], $2::smallint[], $3::uuid[]) WITH ORDINALITY AS wanted (tenant, feed, id, nth)
    LEFT JOIN event_id i ON i.tenant = wanted.tenant AND i.feed = wanted.feed AND i.id = wanted.id
    ORDER BY wanted.nth`,
}

/** The longest that a look-up waits for the query under way before it makes its own: that one may hang. */
const patienceMs = 100
const mostIds = 500

interface Wanted {
  readonly key: FeedKey
  readonly id: string
  readonly resolve: (position: number | undefined) => void
  readonly reject: (error: unknown) => void
}

type FindPosition = (key: FeedKey, id: string) => Promise<number | undefined>

/** Like `EventStore.positionOf`. A failed query rejects every call that shares it. */
export function positionFinder(database: Pick<Database, 'read'>): FindPosition {
  const waiting: Wanted[] = []
  /** The query whose answer the next one waits for. */
  let awaited: object | undefined
  let asksSoon = false

  async function ask(wanted: readonly Wanted[]): Promise<void> {
    const question = {}
    awaited = question
    const goOn = (): void => {
      if (awaited !== question) return
      awaited = undefined
      askNext()
    }
    const patience = setTimeout(goOn, patienceMs)
    try {
      const rows = await database.read<{ position: string | null }>(select, [
        ...feedLists(wanted.map(({ key }) => key)),
        uuids(wanted.map(({ id }) => id)),
      ])
      for (const [index, { resolve }] of wanted.entries()) {
        const position = rows[index]?.position
        resolve(typeof position === 'string' ? Number(position) : undefined)
      }
    } catch (error) {
      for (const { reject } of wanted) reject(error)
    } finally {
      clearTimeout(patience)
      goOn()
    }
  }

  function askNext(): void {
    asksSoon = false
    if (awaited === undefined && waiting.length > 0) void ask(waiting.splice(0, mostIds))
  }

  return (key, id) =>
    new Promise((resolve, reject) => {
      // Among the others it would make the query fail for all.
      if (!isUuid(id)) throw new TypeError(`${JSON.stringify(id)} is not a UUID`)
      waiting.push({ key, id, resolve, reject })
      if (asksSoon) return
      asksSoon = true
      setImmediate(askNext)
    })
}

/** One run for each category, because the index of latest events is in order only within a category. No category: contacts. */
function latestOf(columns: string, positions: string, categories: string): string {
  return `SELECT latest.* FROM unnest(${categories}::text[]) AS wanted (category) CROSS JOIN LATERAL (
      SELECT ${columns} FROM subject s
      WHERE s.tenant = $1 AND s.feed = $2 AND s.category = wanted.category AND s.position > 0 AND ${positions}
      ORDER BY s.tenant, s.feed, s.category, s.position LIMIT $4
    ) AS latest
    UNION ALL
    (SELECT ${columns} FROM subject s
      WHERE ${categories}::text[] = '{}' AND s.tenant = $1 AND s.feed = $2 AND s.category IS NULL AND s.position > 0 AND ${positions}
      ORDER BY s.tenant, s.feed, s.category, s.position LIMIT $4)`
}

export const latestPositionStatements = {
  latest: {
    name: 'latest-positions',
    text: `SELECT position FROM (${latestOf('s.position', 's.position > $3 AND s.position <= $6', '$5')}) AS latest
      ORDER BY position LIMIT $4`,
  },
  branchLatest: {
    name: 'latest-positions-branches',
    text: `SELECT latest.position FROM unnest($5::text[]) AS wanted (category) CROSS JOIN LATERAL (
        SELECT l.position FROM branch_latest l
        WHERE l.tenant = $1 AND l.feed = $2 AND l.branch_set = $7 AND l.category = wanted.category AND l.position > 0
          AND l.position > $3 AND l.position <= $6
        ORDER BY l.tenant, l.feed, l.branch_set, l.category, l.position LIMIT $4
      ) AS latest
      ORDER BY latest.position LIMIT $4`,
  },
  /** The index of subjects, backwards from the moment. */
  earlier: {
    name: 'earlier-positions',
    text: `SELECT looked.position AS looked, before.position, before.category, $7::text IS NULL OR EXISTS (
          SELECT FROM branch_of_set o
          WHERE o.tenant = $1 AND o.feed = $2 AND o.branch = before.branch AND o.branch_set = $7) AS in_set FROM (
        SELECT * FROM (${latestOf('s.subject, s.position', 's.position > $3', '$5')}) AS latest ORDER BY position LIMIT $4
      ) AS looked
      LEFT JOIN LATERAL (
        SELECT e.position, e.category, e.branch FROM event e
        WHERE e.tenant = $1 AND e.feed = $2 AND e.subject = looked.subject AND e.sequence > 0 AND e.position <= $6
        ORDER BY e.tenant DESC, e.feed DESC, e.subject DESC, e.position DESC LIMIT 1
      ) AS before ON true
      ORDER BY looked.position`,
  },
} as const satisfies Record<string, Statement>

export async function latestPositions(database: Reads, query: LatestQuery): Promise<readonly number[]> {
  const { key, view, after, through, limit } = query
  const { set } = partsOfView(view)
  const values = [key.tenantId, feedNumbers[key.feed], after, limit, texts(categoriesOf(query)), through]
  const rows =
    set === undefined
      ? await database.read<{ position: string }>(latestPositionStatements.latest, values)
      : await database.read<{ position: string }>(latestPositionStatements.branchLatest, [...values, set])
  return rows.map(({ position }) => Number(position))
}

interface EarlierRow {
  readonly looked: string
  readonly position: string | null
  readonly category: string | null
  /** Its branch at that time is in the requested set. */
  readonly in_set: boolean
}

export async function earlierPositions(database: Reads, query: EarlierQuery): Promise<EarlierStep> {
  const { key, view, after, through, limit } = query
  const { set = null, category: wanted } = partsOfView(view)
  const values = [key.tenantId, feedNumbers[key.feed], after, limit, texts(viewsOf(key.feed)), through, set]
  const rows = await database.read<EarlierRow>(latestPositionStatements.earlier, values)
  const positions = rows.flatMap(({ position, category, in_set: inSet }) =>
    position !== null && inSet && (wanted === undefined || category === wanted) ? [Number(position)] : [],
  )
  const last = rows.length < limit ? undefined : rows.at(-1)?.looked
  return { positions, next: last === undefined ? undefined : Number(last) }
}

/** Where the events of a subject are, and whose the events of a range are, without reading an event. */
export const placesOfStatement: Statement = {
  name: 'sent-places',
  text: `SELECT position, sequence FROM event
    WHERE tenant = $1 AND feed = $2 AND subject = $3 AND sequence > 0 AND position > $4
    ORDER BY tenant, feed, subject, position LIMIT $5`,
}
const selectSubjects: Statement = {
  name: 'sent-subjects',
  text: `SELECT position AS number, subject FROM event
    WHERE tenant = $1 AND feed = $2 AND position >= $3 AND position <= $4 ORDER BY tenant, feed, position`,
}
const selectSubjectsByNumber: Statement = {
  name: 'sent-subjects-by-number',
  text: `SELECT sequence AS number, subject FROM event
    WHERE tenant = $1 AND feed = $2 AND position > position_at($1, $2, $3 - 1) AND position <= position_at($1, $2, $4)
    ORDER BY tenant, feed, position`,
}

export async function readSubjectPositions(
  database: Reads,
  { key, subjectId, after, limit }: SubjectPositionsQuery,
): Promise<readonly EventPosition[]> {
  const values = [key.tenantId, feedNumbers[key.feed], subjectId, after, limit]
  const rows = await database.read<{ position: string; sequence: string }>(placesOfStatement, values)
  return rows.map(({ position, sequence }) => ({
    position: Number(position),
    sequenceNumber: Number(sequence),
  }))
}

export async function readSubjects(
  database: Reads,
  { key, view, range: [first, last] }: SubjectsQuery,
): Promise<readonly NumberedSubject[]> {
  const statement = view === 'numbers' ? selectSubjectsByNumber : selectSubjects
  const values = [key.tenantId, feedNumbers[key.feed], first, last]
  const rows = await database.read<{ number: string; subject: string }>(statement, values)
  return rows.map(({ number, subject }) => ({ number: Number(number), subjectId: subject }))
}
