/** What keys had been sent of a feed when an erasure became unreachable (D28). */
import { rangesOf } from '../../runtime/number-ranges.ts'
import { statement, uuidOf } from '../../sql/database.ts'
import type { Dialect, Sql, StoredLogId } from '../../sql/database.ts'
import { numbersPerBlock, runLagMs } from '../disclosure/disclosure.ts'
import type { DisclosurePiece } from '../disclosure/disclosure.ts'
import { firstDisclosureHour } from './erasure.ts'
import type { Erasure, EarlierDisclosures } from './erasure.ts'

const noteErasure = statement(
  'erasure-disclosure-add',
  `INSERT INTO erasure_disclosure (erasure, doubt_ms) SELECT $1, min(through_ms) FROM sent_run
    WHERE NOT ended AND through_ms < $2 AND coalesce(lost_ms, $3) >= $3`,
)

/** SQLite names a feed in the tables of the log by one number. Each database is told of its index in its own way. */
const erasedEvents: Readonly<Record<Dialect, string>> = {
  sqlite: `SELECT place & 0xffffffffff AS position, sequence FROM event INDEXED BY event_subject
      WHERE feed_no = (SELECT feed_no FROM feed_key WHERE tenant = $2 AND feed = $3) AND subject = $5
    UNION ALL
    SELECT place & 0xffffffffff, sequence FROM event
      WHERE place = (SELECT feed_no << 40 FROM feed_key WHERE tenant = $2 AND feed = $3) | $6 AND $5 IS NULL`,
  postgres: `SELECT position, sequence FROM event WHERE tenant = $2 AND feed = $3 AND subject = $5::uuid AND sequence > 0
    UNION ALL
    SELECT position, sequence FROM event WHERE tenant = $2 AND feed = $3 AND position = $6 AND $5::uuid IS NULL`,
}

/** The blocks that contain the erased events, and the hours to which later reads are added. */
export function sentOfErasedText(dialect: Dialect): string {
  const blocks = `SELECT position / ${numbersPerBlock} FROM erased UNION SELECT sequence / ${numbersPerBlock} FROM erased`
  const [id, sent, among] =
    dialect === 'sqlite'
      ? ['$1', 'sent INDEXED BY sent_block', `IN (${blocks})`]
      : ['$1::uuid', 'sent', `= ANY (ARRAY(${blocks}))`]
  return `WITH erased AS MATERIALIZED (${erasedEvents[dialect]})
    SELECT ${id}, key_id, view, hour, block, ranges FROM ${sent}
    WHERE tenant = $2 AND feed = $3 AND hour >= $4 AND block ${among}`
}

const copySent = statement(
  'erasure-sent',
  (dialect) =>
    `INSERT INTO erasure_sent (erasure, key_id, view, hour, block, ranges) ${sentOfErasedText(dialect)}`,
)
const selectRecorded = statement<{ readonly doubt_ms: number | null }>(
  'erasure-disclosure-find',
  'SELECT doubt_ms FROM erasure_disclosure WHERE erasure = $1',
)
const selectSent = statement<PieceRow>(
  'erasure-sent-before',
  `SELECT key_id, view, hour, block, ranges FROM erasure_sent WHERE erasure = $1
    ORDER BY erasure, hour, key_id, view, block`,
)

interface PieceRow {
  readonly key_id: string
  readonly view: DisclosurePiece['view']
  readonly hour: number
  readonly block: number
  readonly ranges: string
}

/** Of a row of `erasure`. */
/** Of a row of erasures: its own type, because `store.ts` reads this file. */
interface ErasedRow {
  readonly erasure: string
  readonly tenant: string
  readonly feed: number
  readonly subject: StoredLogId | null
  readonly last_position: number
  readonly begun_ms: number
}

/** In the commit in which it becomes unreachable. */
export async function copyDisclosures(sql: Sql, row: ErasedRow, nowMs: number): Promise<void> {
  const { erasure, tenant, feed, subject, last_position: position } = row
  const fromHour = firstDisclosureHour(row.begun_ms)
  await sql.rows(noteErasure(erasure, nowMs - runLagMs, fromHour * 3_600_000))
  const ofSubject = subject === null ? null : { uuid: uuidOf(subject) }
  await sql.rows(copySent(erasure, tenant, feed, fromHour, ofSubject, position))
}

/** `undefined`: nothing was recorded of it. */
export async function readEarlierDisclosures(
  sql: Sql,
  { erasureId, key, begunMs }: Erasure,
): Promise<EarlierDisclosures | undefined> {
  const [recorded] = await sql.rows(selectRecorded(erasureId))
  if (recorded === undefined) return undefined
  const pieces = await sql.rows(selectSent(erasureId))
  return {
    fromHour: firstDisclosureHour(begunMs),
    pieces: pieces.map(({ key_id: keyId, ranges, ...piece }) => {
      return { ...piece, key, keyId, ranges: rangesOf(ranges) }
    }),
    doubtMs: recorded.doubt_ms ?? undefined,
  }
}
