/** Moments of lists of current events. */
import { isJoined, momentMs } from '../moment-store.ts'
import type { Moment, MomentName, MomentStore } from '../moment-store.ts'
import type { Database, Row, Session, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'

const columns = 'epoch, position, sequence, fixed_ms, used_ms'
const place = 'key_id = $1 AND tenant = $2 AND feed = $3 AND view = $4'
const find: Statement = { name: 'moment-find', text: `SELECT ${columns} FROM moment WHERE ${place}` }
/** If another session has stored its own meanwhile, that one counts, and the answer has no row. */
const put: Statement = {
  name: 'moment-put',
  text: `INSERT INTO moment AS held (key_id, tenant, feed, view, epoch, position, sequence, fixed_ms, used_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
    ON CONFLICT (key_id, tenant, feed, view) DO UPDATE SET epoch = excluded.epoch, position = excluded.position,
      sequence = excluded.sequence, fixed_ms = excluded.fixed_ms, used_ms = excluded.used_ms
    WHERE (held.fixed_ms, held.used_ms) = ($9::bigint, $10::bigint) RETURNING ${columns}`,
}
/** Rows that another node is about to remove are left to it: nothing waits. */
const removeOld: Statement = {
  name: 'moment-remove-old',
  text: `DELETE FROM moment WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM moment WHERE abs(fixed_ms - $1) >= $2 LIMIT 100 FOR UPDATE SKIP LOCKED))`,
}
const use: Statement = {
  name: 'moment-use',
  text: `UPDATE moment SET used_ms = $5 WHERE ${place} AND fixed_ms = $6`,
}

interface MomentRow extends Row {
  readonly epoch: string
  readonly position: string
  readonly sequence: string
  readonly fixed_ms: string
  readonly used_ms: string
}

export function databaseMoments(database: Database): MomentStore {
  return {
    fix: (request) =>
      database.write(async (session) => {
        const { name, now } = request
        const { epoch, position, sequenceNumber, fixedMs } = now
        for (;;) {
          const kept = await findIn(session, name)
          if (kept !== undefined && isJoined(kept, request)) return kept
          if (kept === undefined) await session.query(removeOld, [fixedMs, momentMs])
          const seen = [kept?.fixedMs ?? null, kept?.usedMs ?? null]
          const values = [...placeOf(name), epoch, position, sequenceNumber, fixedMs, ...seen]
          const [row] = await session.query<MomentRow>(put, values)
          if (row !== undefined) return momentOf(row)
        }
      }),
    async find(name) {
      const [row] = await database.read<MomentRow>(find, placeOf(name))
      return row && momentOf(row)
    },
    noteUse: async (name, { fixedMs }, usedMs) =>
      void (await database.write((session) => session.query(use, [...placeOf(name), usedMs, fixedMs]))),
  }
}

async function findIn(session: Session, name: MomentName): Promise<Moment | undefined> {
  const [row] = await session.query<MomentRow>(find, placeOf(name))
  return row && momentOf(row)
}

function momentOf(row: MomentRow): Moment {
  return {
    epoch: row.epoch,
    position: Number(row.position),
    sequenceNumber: Number(row.sequence),
    fixedMs: Number(row.fixed_ms),
    usedMs: Number(row.used_ms),
  }
}

function placeOf({ keyId, key, view }: MomentName) {
  return [keyId, key.tenantId, feedNumbers[key.feed], view] as const
}
