/** What was sent to whom, in a database. */
import {
  defineWrite,
  feedNumbers,
  feedOfNumber,
  noteLockWaitMs,
  rowsFrom,
  statement,
} from '../../sql/database.ts'
import type { StatementText, StoreAccess } from '../../sql/database.ts'
import { joinRanges, rangesOf } from '../../runtime/number-ranges.ts'
import { runSilenceMs } from './disclosure.ts'
import type { DisclosureStore, DisclosurePiece, DisclosureRun } from './disclosure.ts'

const key = {
  key_id: 'text',
  tenant: 'uuid',
  feed: 'integer',
  view: 'text',
  hour: 'integer',
  block: 'bigint',
} as const
const keyColumns = Object.keys(key).join(', ')
const given = rowsFrom('$1', { ...key, ranges: 'text' })

/** Returns the keys of the new rows. */
const insert = statement<SentKey>('sent-insert', putting(`DO NOTHING RETURNING ${keyColumns}`))
/** In order of the key, so that two nodes that add to the same rows never wait in a circle. */
const lock = statement<SentRow>(
  'sent-lock',
  (dialect) =>
    `SELECT * FROM sent WHERE (${keyColumns}) IN (SELECT ${keyColumns} FROM ${given(dialect)}) ORDER BY ${keyColumns} FOR UPDATE`,
)
const replace = statement('sent-replace', putting('DO UPDATE SET ranges = excluded.ranges'))
const ofKey = statement<SentRow>(
  'sent-of-key',
  `SELECT * FROM sent WHERE key_id = $1 AND hour BETWEEN $2 AND $3
      AND (tenant, feed, view, hour, block) > ($4, $5, $6, $7, $8) ORDER BY ${keyColumns} LIMIT $9`,
)
/** No key has an empty id. */
export const sentOfText = `SELECT * FROM sent WHERE tenant = $1 AND feed = $2 AND block = $3 AND hour <= $4 AND (hour, key_id, view) > ($5, $6, $7)
    ORDER BY tenant, feed, block, hour, key_id, view LIMIT $8`
const ofBlock = statement<SentRow>('sent-of-block', sentOfText)
const loseSilent = statement(
  'sent-lose',
  `UPDATE sent_run SET lost_ms = $1 WHERE run IN (
    SELECT run FROM sent_run WHERE NOT ended AND lost_ms IS NULL AND through_ms < $2 ORDER BY run FOR UPDATE SKIP LOCKED)`,
)
const putRun = statement(
  'sent-mark',
  `INSERT INTO sent_run (run, began_ms, through_ms, ended) VALUES ($1, $2, $3, $4)
    ON CONFLICT (run) DO UPDATE SET through_ms = excluded.through_ms, ended = excluded.ended, lost_ms = NULL`,
)
const openRuns = statement<RunRow>(
  'sent-runs',
  'SELECT run, began_ms, through_ms, lost_ms FROM sent_run WHERE NOT ended ORDER BY began_ms',
)

/** The rows in the same order as `lock`. */
function putting(onConflict: string): StatementText {
  return (
    dialect,
  ) => `INSERT INTO sent (${keyColumns}, ranges) SELECT ${keyColumns}, ranges FROM ${given(dialect)}
    ORDER BY ${keyColumns} ON CONFLICT (${keyColumns}) ${onConflict}`
}

const addPieces = defineWrite(
  'sent-add',
  async (tx, pieces: readonly DisclosurePiece[]): Promise<void> => {
    const rows = pieces.map(rowOf)
    const added = new Set((await tx.rows(insert(JSON.stringify(rows)))).map(placeOf))
    const others = rows.filter((row) => !added.has(placeOf(row)))
    if (others.length === 0) return
    const held = new Map(
      (await tx.rows(lock(JSON.stringify(others)))).map((row) => [placeOf(row), row.ranges]),
    )
    const changed = others.flatMap((row) => {
      const before = held.get(placeOf(row))
      // Deleted with its tenant since.
      if (before === undefined) return []
      const ranges = JSON.stringify(joinRanges(rangesOf(before), rangesOf(row.ranges)))
      return ranges === before ? [] : [{ ...row, ranges }]
    })
    if (changed.length > 0) await tx.rows(replace(JSON.stringify(changed)))
  },
  { lockWaitMs: noteLockWaitMs },
)

const markRun = defineWrite(
  'sent-mark',
  async (tx, { runId, beganMs, throughMs, ended }: Parameters<DisclosureStore['mark']>[0]): Promise<void> => {
    await tx.rows(loseSilent(throughMs, throughMs - runSilenceMs))
    await tx.rows(putRun(runId, beganMs, throughMs, ended))
  },
)

/** Before all pieces of a key. */
const beforeAll = { tenant: '00000000-0000-0000-0000-000000000000', feed: 0, view: '', hour: 0, block: 0 }

export function disclosureStore({ read, write }: StoreAccess): DisclosureStore {
  return {
    add: (pieces) => write(addPieces, pieces),
    mark: (run) => write(markRun, run),
    openRuns: async () => (await read.rows(openRuns())).map(runOf),
    async sent({ keyId, fromHour, toHour, after, limit }) {
      const { tenant, feed, view, hour, block } = after === undefined ? beforeAll : rowOf(after)
      return (await read.rows(ofKey(keyId, fromHour, toHour, tenant, feed, view, hour, block, limit))).map(
        pieceOf,
      )
    },
    async sentOf({ key: { tenantId, feed }, block, fromHour, toHour, after, limit }) {
      const from =
        after === undefined ? ([fromHour, '', ''] as const) : ([after.hour, after.keyId, after.view] as const)
      return (await read.rows(ofBlock(tenantId, feedNumbers[feed], block, toHour, ...from, limit))).map(
        pieceOf,
      )
    },
  }
}

interface SentKey {
  readonly key_id: string
  readonly tenant: string
  readonly feed: number
  readonly view: DisclosurePiece['view']
  readonly hour: number
  readonly block: number
}

interface SentRow extends SentKey {
  readonly ranges: string
}

interface RunRow {
  readonly run: string
  readonly began_ms: number
  readonly through_ms: number
  readonly lost_ms: number | null
}

function rowOf({ key: { tenantId, feed }, keyId, view, hour, block, ranges }: DisclosurePiece): SentRow {
  return {
    key_id: keyId,
    tenant: tenantId,
    feed: feedNumbers[feed],
    view,
    hour,
    block,
    ranges: JSON.stringify(ranges),
  }
}

function pieceOf({ key_id, tenant, feed, view, hour, block, ranges }: SentRow): DisclosurePiece {
  const of = { tenantId: tenant, feed: feedOfNumber(feed, 'sent') }
  return { key: of, keyId: key_id, view, hour, block, ranges: rangesOf(ranges) }
}

function placeOf({ key_id, tenant, feed, view, hour, block }: SentKey): string {
  return JSON.stringify([key_id, tenant, feed, view, hour, block])
}

function runOf({ run, began_ms: beganMs, through_ms: throughMs, lost_ms }: RunRow): DisclosureRun {
  return { runId: run, beganMs, throughMs, lostMs: lost_ms ?? undefined }
}
