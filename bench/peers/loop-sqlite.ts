/**
 * The yardstick of publishing on SQLite, as a program: a bare better-sqlite3 loop that writes the same rows into the
 * same tables, ready-made, with the same durability. `node loop-sqlite.ts <folder of an empty store> <events a commit>
 * <seconds> <average bytes>`
 */
import { crc32 } from 'node:zlib'
import { randomFillSync } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { bytesOfUuid } from '@property-events/protocol'
import { rowsOf } from '../support/rows.ts'
import { benchFeed } from '../support/store.ts'
import { timedLoop } from './timed-loop.ts'

const [folder = '', batch = '1', seconds = '1', averageBytes = '3600'] = process.argv.slice(2)
const size = Number(batch)
const rows = [
  ...rowsOf({ key: benchFeed, events: 5_000, averageBytes: Number(averageBytes), seed: 'loop' }),
].map(({ event, id, subject }) => ({
  event,
  json: Buffer.from(event.json),
  subjectId: bytesOfUuid(event.subjectId),
  contentHash: id.contentHash,
  state: subject.state,
}))

const database = new Database(join(folder, 'property-events.db'))
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.pragma('cache_size = -65536')
database.pragma('wal_autocheckpoint = 2000')

const feed = database
  .prepare<[], { feed_no: number; last_position: number; last_created: number | null }>(
    `SELECT feed_no, last_position, last_created FROM feed WHERE feed = 'property' ORDER BY feed_no LIMIT 1`,
  )
  .get()
if (feed === undefined) throw new Error('the store has no feed')
const feedNo = feed.feed_no
const ordinals = new Map(
  database
    .prepare<[number], { view: string; last_ordinal: number }>(
      'SELECT view, last_ordinal FROM view WHERE feed_no = ?',
    )
    .all(feedNo)
    .map(({ view, last_ordinal }) => [view, last_ordinal]),
)
const insertEvent = database.prepare(
  `INSERT INTO event (place, feed_no, created, sequence, id, subject, category, branch, code, state, json, checksum)
    VALUES ((? << 40) | ?, ?, ?, ?, ?, ?, ?, ?, ?, 'full', ?, ?)`,
)
const insertId = database.prepare(
  'INSERT INTO event_id (feed_no, id, position, content_hash) VALUES (?, ?, ?, ?)',
)
const putSubject = database.prepare(
  `INSERT INTO subject (feed_no, subject, position, published, category, branch, code, payload_hash, spelling, update_date_hash)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', ?) ON CONFLICT DO UPDATE SET position = excluded.position,
    published = excluded.published, category = excluded.category, branch = excluded.branch, code = excluded.code,
    payload_hash = excluded.payload_hash, spelling = excluded.spelling, update_date_hash = excluded.update_date_hash`,
)
const insertEntry = database.prepare('INSERT INTO view_entry VALUES (?, ?, ?, ?, ?)')
const setOrdinal = database.prepare('UPDATE view SET last_ordinal = ? WHERE feed_no = ? AND view = ?')
const advance = database.prepare('UPDATE feed SET last_position = ?, last_created = ? WHERE feed_no = ?')

let position = feed.last_position
const id = Buffer.alloc(16)
const commit = database.transaction(() => {
  for (let nth = 0; nth < size; nth += 1) {
    const row = rows[position % rows.length]
    if (row === undefined) throw new Error('no rows')
    position += 1
    const { event, json, subjectId, contentHash, state } = row
    const { category, branch, code } = event
    randomFillSync(id)
    const checksum = crc32(json, position)
    const places = [feedNo, position, feedNo, position, position] as const
    insertEvent.run(...places, id, subjectId, category, branch, code, json, checksum)
    insertId.run(feedNo, id, position, contentHash)
    const published = state.published ? 1 : 0
    const hashes = [state.payloadHash, state.updateDateHash]
    putSubject.run(feedNo, subjectId, position, published, category, branch, code, ...hashes)
    const view = category ?? ''
    const ordinal = (ordinals.get(view) ?? 0) + 1
    ordinals.set(view, ordinal)
    insertEntry.run(feedNo, view, ordinal, position, position)
    setOrdinal.run(ordinal, feedNo, view)
  }
  advance.run(position, position, feedNo)
})
const bytes = rows.reduce((sum, { json }) => sum + json.length, 0) / rows.length
await timedLoop(Number(seconds), bytes * size, () => {
  commit.immediate()
})
database.close()
