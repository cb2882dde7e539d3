/** Moments of lists of current events in a database. */
import { defineWrite, feedNumbers, removal, statement } from '../../sql/database.ts'
import type { Sql, StoreAccess } from '../../sql/database.ts'
import { isJoined, momentMs } from './moment.ts'
import type { Moment, MomentName, MomentRequest, MomentStore } from './moment.ts'

const place = 'key_id = $1 AND tenant = $2 AND feed = $3 AND view = $4'
const columns = 'epoch, position, sequence AS "sequenceNumber", fixed_ms AS "fixedMs", used_ms AS "usedMs"'
const find = statement<Moment>('moment-find', `SELECT ${columns} FROM moment WHERE ${place}`)
/** If another session has stored its own meanwhile, that one counts, and the answer has no row. */
const put = statement<Moment>(
  'moment-put',
  `INSERT INTO moment AS held (key_id, tenant, feed, view, epoch, position, sequence, fixed_ms, used_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
    ON CONFLICT (key_id, tenant, feed, view) DO UPDATE SET epoch = excluded.epoch, position = excluded.position,
      sequence = excluded.sequence, fixed_ms = excluded.fixed_ms, used_ms = excluded.used_ms
    WHERE held.fixed_ms = $9 AND held.used_ms = $10 RETURNING ${columns}`,
)
/** There are a handful of rows for each key that lists current events: to look through them is quicker than to keep an index. */
const removeOld = statement(
  'moment-remove-old',
  removal('moment', 'key_id, tenant, feed, view', 'abs(fixed_ms - $1) >= $2 LIMIT 100'),
)
const use = statement('moment-use', `UPDATE moment SET used_ms = $5 WHERE ${place} AND fixed_ms = $6`)

const fixMoment = defineWrite('moment-fix', async (tx, request: MomentRequest): Promise<Moment> => {
  const { name, now } = request
  const { epoch, position, sequenceNumber, fixedMs } = now
  for (;;) {
    const kept = await findMoment(tx, name)
    if (kept !== undefined && isJoined(kept, request)) return kept
    const seen = [kept?.fixedMs ?? null, kept?.usedMs ?? null] as const
    const [row] = await tx.rows(put(...placeOf(name), epoch, position, sequenceNumber, fixedMs, ...seen))
    if (row === undefined) continue
    // Last: it waits for no other session, so nobody waits in a circle.
    if (kept === undefined) await tx.rows(removeOld(fixedMs, momentMs))
    return row
  }
})

const noteUse = defineWrite(
  'moment-note-use',
  async (tx, name: MomentName, fixedMs: number, usedMs: number): Promise<void> => {
    await tx.rows(use(...placeOf(name), usedMs, fixedMs))
  },
)

export function momentStore({ read, write }: StoreAccess): MomentStore {
  return {
    async fix(request) {
      // Usually there is one to join, and a read does not take the writer's turn.
      const kept = await findMoment(read, request.name)
      return kept !== undefined && isJoined(kept, request) ? kept : write(fixMoment, request)
    },
    find: (name) => findMoment(read, name),
    noteUse: (name, { fixedMs }, usedMs) => write(noteUse, name, fixedMs, usedMs),
  }
}

async function findMoment(sql: Sql, name: MomentName): Promise<Moment | undefined> {
  return (await sql.rows(find(...placeOf(name))))[0]
}

function placeOf({ keyId, key, view }: MomentName) {
  return [keyId, key.tenantId, feedNumbers[key.feed], view] as const
}
