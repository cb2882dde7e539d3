/** What keys had been sent of a feed when an erasure became unreachable. */
import { firstNotedHour } from '../erasure-store.ts'
import { numbersPerBlock, runLagMs } from '../../privacy/disclosure/disclosure.ts'
import { rangesOf } from '../../consumers/number-ranges.ts'
import type { SentBefore, SentPiece } from '../storage.ts'
import type { Database, Row, Session, Statement } from './connection.ts'
import { erasureOf, readErasure } from './erasure-row.ts'
import type { ErasureRow } from './erasure-row.ts'

const noteErasure: Statement = {
  name: 'erasure-noted',
  text: `INSERT INTO erasure_noted (erasure, doubt_ms) SELECT $1, min(through_ms) FROM sent_run
    WHERE NOT ended AND through_ms < $2 AND coalesce(lost_ms, $3) >= $3`,
}
/** The blocks that contain the erased events, and the hours to which later reads are added. */
export const sentOfErasedStatement: Statement = {
  name: 'erasure-sent-blocks',
  text: `WITH erased AS MATERIALIZED (
      SELECT position, sequence FROM event WHERE tenant = $2 AND feed = $3 AND subject = $5::uuid AND sequence > 0
      UNION ALL
      SELECT position, sequence FROM event WHERE tenant = $2 AND feed = $3 AND position = $6 AND $5::uuid IS NULL
    )
    SELECT $1::uuid, key_id, view, hour, block, ranges FROM sent
    WHERE tenant = $2 AND feed = $3 AND hour >= $4 AND block = ANY (ARRAY(
      SELECT position / ${numbersPerBlock} FROM erased UNION SELECT sequence / ${numbersPerBlock} FROM erased
    ))`,
}
const copySent: Statement = {
  name: 'erasure-sent',
  text: `INSERT INTO erasure_sent (erasure, key_id, view, hour, block, ranges) ${sentOfErasedStatement.text}`,
}
const selectNoted: Statement = {
  name: 'erasure-noted-since',
  text: 'SELECT doubt_ms FROM erasure_noted WHERE erasure = $1',
}
const selectSent: Statement = {
  name: 'erasure-sent-before',
  text: `SELECT key_id, view, hour, block, ranges FROM erasure_sent WHERE erasure = $1
    ORDER BY erasure, hour, key_id, view, block`,
}

interface NotedRow extends Row {
  readonly doubt_ms: string | null
}

interface PieceRow extends Row {
  readonly key_id: string
  readonly view: SentPiece['view']
  readonly hour: number
  readonly block: string
  readonly ranges: string
}

/** In the transaction in which it becomes unreachable. */
export async function noteSent(session: Session, row: ErasureRow): Promise<void> {
  const fromHour = firstNotedHour(Number(row.begun_ms))
  const silentMs = Number(row.unreachable_ms) - runLagMs
  await session.query(noteErasure, [row.erasure, silentMs, fromHour * 3_600_000])
  const { erasure, tenant, feed, subject, last_position: position } = row
  await session.query(copySent, [erasure, tenant, feed, fromHour, subject, position])
}

export async function readSentBefore(database: Database, erasureId: string): Promise<SentBefore | undefined> {
  const [noted] = await database.read<NotedRow>(selectNoted, [erasureId])
  const [row] = await database.read<ErasureRow & Row>(readErasure, [erasureId])
  if (noted === undefined || row === undefined) return undefined
  const { key, begunMs } = erasureOf(row)
  const pieces = await database.read<PieceRow>(selectSent, [erasureId])
  return {
    fromHour: firstNotedHour(begunMs),
    pieces: pieces.map(({ key_id, view, hour, block, ranges }) => {
      return { key, keyId: key_id, view, hour, block: Number(block), ranges: rangesOf(ranges) }
    }),
    doubtMs: noted.doubt_ms === null ? undefined : Number(noted.doubt_ms),
  }
}
