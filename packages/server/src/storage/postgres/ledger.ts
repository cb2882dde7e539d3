/** What was sent to whom. */
import { runSilenceMs } from '../ledger-store.ts'
import type {
  LedgerStore,
  NumberedSubject,
  PlacedEvent,
  PlacesQuery,
  SentOfQuery,
  SentPiece,
  SentQuery,
  SubjectsQuery,
} from '../ledger-store.ts'
import type { NumberRange } from '../../consumers/number-ranges.ts'
import { bigints, integers, smallints, texts, uuids } from './array.ts'
import type { Database, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'
import { noteLockWaitMs } from '../../sql/database.ts'

/** In order of the key, so that two nodes that add to the same pieces never wait in a circle. */
const addPieces: Statement = {
  name: 'sent-add',
  text: `INSERT INTO sent (key_id, tenant, feed, view, hour, block, ranges)
    SELECT key_id, tenant, feed, view, hour, block, ranges::int8multirange
    FROM unnest($1::text[], $2::uuid[], $3::smallint[], $4::text[], $5::integer[], $6::bigint[], $7::text[])
      AS r (key_id, tenant, feed, view, hour, block, ranges)
    ORDER BY key_id COLLATE "C", tenant, feed, view COLLATE "C", hour, block
    ON CONFLICT (key_id, tenant, feed, view, hour, block) DO UPDATE SET ranges = sent.ranges + excluded.ranges
      WHERE NOT sent.ranges @> excluded.ranges`,
}
const loseSilent: Statement = {
  name: 'sent-lose',
  text: `UPDATE sent_run SET lost_ms = $1
    WHERE run IN (
      SELECT run FROM sent_run WHERE NOT ended AND lost_ms IS NULL AND through_ms < $2 ORDER BY run FOR UPDATE SKIP LOCKED
    )`,
}
const putRun: Statement = {
  name: 'sent-mark',
  text: `INSERT INTO sent_run (run, began_ms, through_ms, ended) VALUES ($1, $2, $3, $4)
    ON CONFLICT (run) DO UPDATE SET through_ms = excluded.through_ms, ended = excluded.ended, lost_ms = NULL`,
}
const selectRuns: Statement = {
  name: 'sent-runs',
  text: 'SELECT run, began_ms, through_ms, lost_ms FROM sent_run WHERE NOT ended ORDER BY began_ms',
}
const columns = `SELECT key_id, tenant, feed, view, hour, block, ranges::text AS ranges FROM sent
  WHERE key_id = $1 AND hour BETWEEN $2 AND $3`
const order = 'ORDER BY key_id, tenant, feed, view, hour, block LIMIT $4'
const selectFirst: Statement = { name: 'sent-first', text: `${columns} ${order}` }
const selectAfter: Statement = {
  name: 'sent-after',
  text: `${columns} AND (tenant, feed, view, hour, block) > ($5::uuid, $6::smallint, $7::text, $8::integer, $9::bigint) ${order}`,
}
/** No key has an empty id. */
export const sentOfStatement: Statement = {
  name: 'sent-of',
  text: `SELECT key_id, tenant, feed, view, hour, block, ranges::text AS ranges FROM sent
    WHERE tenant = $1 AND feed = $2 AND block = $3 AND hour <= $4 AND (hour, key_id, view) > ($5::integer, $6::text, $7::text)
    ORDER BY tenant, feed, block, hour, key_id, view LIMIT $8`,
}
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

export function databaseLedger(database: Database): LedgerStore {
  return {
    add: async (pieces) =>
      void (await database.write((session) => session.query(addPieces, valuesOf(pieces)), noteLockWaitMs)),
    mark: ({ runId, beganMs, throughMs, ended }) =>
      database.write(async (session) => {
        await session.query(loseSilent, [throughMs, throughMs - runSilenceMs])
        await session.query(putRun, [runId, beganMs, throughMs, ended])
      }),
    async openRuns() {
      const rows = await database.read<RunRow>(selectRuns, [])
      return rows.map(({ run, began_ms, through_ms, lost_ms }) => ({
        runId: run,
        beganMs: Number(began_ms),
        throughMs: Number(through_ms),
        lostMs: lost_ms === null ? undefined : Number(lost_ms),
      }))
    },
    sent: (query) => readSent(database, query),
    sentOf: (query) => readSentOf(database, query),
    placesOf: (query) => readPlaces(database, query),
    subjectsIn: (query) => readSubjects(database, query),
  }
}

function valuesOf(pieces: readonly SentPiece[]) {
  return [
    texts(pieces.map(({ keyId }) => keyId)),
    uuids(pieces.map(({ key }) => key.tenantId)),
    smallints(pieces.map(({ key }) => feedNumbers[key.feed])),
    texts(pieces.map(({ view }) => view)),
    integers(pieces.map(({ hour }) => hour)),
    bigints(pieces.map(({ block }) => block)),
    texts(pieces.map(({ ranges }) => multirangeText(ranges))),
  ]
}

function multirangeText(ranges: readonly NumberRange[]): string {
  return `{${ranges.map(([first, last]) => `[${first},${last}]`).join(',')}}`
}

/** PostgreSQL writes such ranges without their end: `{[1,6),[9,10)}`. */
export function rangesOf(text: string): readonly NumberRange[] {
  return [...text.matchAll(/\[(\d+),(\d+)\)/g)].map(([, first, end]): NumberRange => {
    return [Number(first), Number(end) - 1]
  })
}

interface RunRow {
  readonly run: string
  readonly began_ms: string
  readonly through_ms: string
  readonly lost_ms: string | null
  readonly [column: string]: unknown
}

interface SentRow {
  readonly key_id: string
  readonly tenant: string
  readonly feed: number
  readonly view: SentPiece['view']
  readonly hour: number
  readonly block: string
  readonly ranges: string
  readonly [column: string]: unknown
}

async function readSent(
  database: Database,
  { keyId, fromHour, toHour, after, limit }: SentQuery,
): Promise<readonly SentPiece[]> {
  const asked = [keyId, fromHour, toHour, limit]
  const rows =
    after === undefined
      ? await database.read<SentRow>(selectFirst, asked)
      : await database.read<SentRow>(selectAfter, [...asked, ...placeOf(after)])
  return rows.map(pieceOf)
}

function pieceOf({ key_id, tenant, feed, view, hour, block, ranges }: SentRow): SentPiece {
  const key = { tenantId: tenant, feed: feed === feedNumbers.contact ? 'contact' : 'property' } as const
  return { keyId: key_id, key, view, hour, block: Number(block), ranges: rangesOf(ranges) }
}

async function readSentOf(
  database: Database,
  { key, block, fromHour, toHour, after, limit }: SentOfQuery,
): Promise<readonly SentPiece[]> {
  const from = after === undefined ? [fromHour, '', ''] : [after.hour, after.keyId, after.view]
  const values = [key.tenantId, feedNumbers[key.feed], block, toHour, ...from, limit]
  return (await database.read<SentRow>(sentOfStatement, values)).map(pieceOf)
}

async function readPlaces(
  database: Database,
  { key, subjectId, after, limit }: PlacesQuery,
): Promise<readonly PlacedEvent[]> {
  const values = [key.tenantId, feedNumbers[key.feed], subjectId, after, limit]
  const rows = await database.read<{ position: string; sequence: string }>(placesOfStatement, values)
  return rows.map(({ position, sequence }) => ({
    position: Number(position),
    sequenceNumber: Number(sequence),
  }))
}

function placeOf({ key, view, hour, block }: SentPiece) {
  return [key.tenantId, feedNumbers[key.feed], view, hour, block] as const
}

async function readSubjects(
  database: Database,
  { key, view, range: [first, last] }: SubjectsQuery,
): Promise<readonly NumberedSubject[]> {
  const statement = view === 'numbers' ? selectSubjectsByNumber : selectSubjects
  const values = [key.tenantId, feedNumbers[key.feed], first, last]
  const rows = await database.read<{ number: string; subject: string }>(statement, values)
  return rows.map(({ number, subject }) => ({ number: Number(number), subjectId: subject }))
}
