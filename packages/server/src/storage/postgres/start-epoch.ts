import { newEpochId } from '../epoch-id.ts'
import { texts } from './array.ts'
import type { Database, Statement } from './connection.ts'
import { raiseFloorToReservation } from './witness.ts'

/** Waits for commits under way and lets no new one begin; reads go on. */
const lock: Statement = { name: 'epoch-lock', text: 'LOCK TABLE feed IN EXCLUSIVE MODE' }
const readOffset: Statement = {
  name: 'epoch-offset',
  text: `SELECT greatest($1, first_offset, (SELECT max(last_sequence) FROM feed)) AS first_offset,
      (SELECT count(*) FROM feed) AS feeds
    FROM store`,
}
const update: Statement = {
  name: 'epoch-update',
  text: `UPDATE feed SET epoch = given.epoch, number_offset = $1 - last_position
    FROM (SELECT tenant, feed, row_number() OVER (ORDER BY tenant, feed) AS n FROM feed) AS place
    JOIN unnest($2::text[]) WITH ORDINALITY AS given (epoch, n) USING (n)
    WHERE feed.tenant = place.tenant AND feed.feed = place.feed`,
}
const record: Statement = {
  name: 'epoch-record',
  text: 'UPDATE store SET first_offset = $1, needs_epoch = false, incarnation = incarnation()',
}

/** A new epoch in every feed, in one commit (D13): the next numbers lie behind all that were or may have been shown. */
export function startEpoch(database: Database, continueAfter: number): Promise<void> {
  return database.transaction(async (session) => {
    await session.query(lock, [])
    const [row] = await session.query<{ first_offset: string; feeds: string }>(readOffset, [continueAfter])
    const offset = Number(row?.first_offset ?? continueAfter)
    const epochs = Array.from({ length: Number(row?.feeds ?? 0) }, newEpochId)
    await session.query(update, [offset, texts(epochs)])
    await session.query(record, [offset])
    await session.query(raiseFloorToReservation, [])
  })
}
