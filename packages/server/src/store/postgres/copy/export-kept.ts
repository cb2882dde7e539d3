/** What is kept of restricted contacts, and what is shown again: for another store. */
import type { FeedKey } from '../../../events/feed-key.ts'
import { recordsPerPiece } from '../../store-records.ts'
import type { StoreRecord } from '../../store-records.ts'
import type { Row, Statement } from '../../../sql/postgres/session.ts'
import { eventAt } from '../../../events/log-statements.ts'
import { feedNumbers } from '../../../sql/database.ts'
import type { Ask } from '../../../sql/postgres.ts'

const hashOf = (event: string): string =>
  `(SELECT i.content_hash FROM event_id i WHERE i.tenant = ${event}.tenant AND i.feed = ${event}.feed AND i.id = ${event}.id) AS hash`
const readHidden: Statement = {
  name: 'export-kept',
  text: `SELECT k.position, k.subject, k.json, ${hashOf('e')} FROM kept_event k
    ${eventAt('k.position', 'tenant, feed, id')}
    WHERE k.tenant = $1 AND k.feed = $2 AND (k.subject, k.position) > ($3, $4)
    ORDER BY k.tenant, k.feed, k.subject, k.position LIMIT ${recordsPerPiece}`,
}
const readShownAgain: Statement = {
  name: 'export-shown-again',
  text: `SELECT e.position, e.subject, e.json, ${hashOf('e')} FROM event e
    WHERE e.tenant = $1 AND e.feed = $2 AND e.position > $3 AND e.state = 'full' AND e.position IN (
      SELECT r.position FROM reduced_event r WHERE r.tenant = $1 AND r.feed = $2 AND r.position > $3
    )
    ORDER BY e.tenant, e.feed, e.position LIMIT ${recordsPerPiece}`,
}
interface KeptRow extends Row {
  readonly position: string
  readonly subject: string
  readonly json: string
  readonly hash: Buffer | null
}

type Take = (records: readonly StoreRecord[]) => Promise<void>

export async function exportKept(ask: Ask, key: FeedKey, take: Take): Promise<void> {
  // Only contacts are restricted.
  if (key.feed !== 'contact') return
  const feed = [key.tenantId, feedNumbers[key.feed]] as const
  const recordsOf = (rows: readonly KeptRow[], isHidden: boolean) =>
    rows.map(({ position, subject: subjectId, json, hash: contentHash }): StoreRecord => {
      return { kind: 'kept', key, position: Number(position), subjectId, json, contentHash, isHidden }
    })
  for (let [subject, position] = ['00000000-0000-0000-0000-000000000000', '0']; ;) {
    const rows = await ask<KeptRow>(readHidden, [...feed, subject, position])
    const last = rows.at(-1)
    if (last === undefined) break
    await take(recordsOf(rows, true))
    ;[subject, position] = [last.subject, last.position]
  }
  for (let position = '0'; ;) {
    const rows = await ask<KeptRow>(readShownAgain, [...feed, position])
    const last = rows.at(-1)
    if (last === undefined) break
    await take(recordsOf(rows, false))
    position = last.position
  }
}
