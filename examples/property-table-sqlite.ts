/**
 * A website's property table in SQLite, kept in step with a feed. The table and the checkpoint change in one transaction,
 * so that they can never disagree, wherever the program or the machine stops.
 *
 * Needs Node 24 or later, "type": "module" in package.json, and @property-events/client.
 *
 *     PROPERTY_EVENTS_URL=https://feed.example.com PROPERTY_EVENTS_KEY=pev_… node property-table-sqlite.ts website.db [--allow-mass-removal]
 */
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { createClient, MassRemovalError } from '@property-events/client'
import type { Batch, Change } from '@property-events/client'
import { listing } from '@property-events/client/listing'

process.on('uncaughtException', (error) => {
  if (error instanceof MassRemovalError) {
    console.error(error.summary)
    console.error('To allow it once: --allow-mass-removal.')
    console.error('If it is a mistake, have them published again and run this as usual.')
  } else {
    // A sentence for whoever runs it. What has no code is a fault of this program, and keeps its stack.
    console.error('code' in error ? error.message : error)
  }
  process.exit(1)
})

const { values: flags, positionals } = parseArgs({
  options: { 'allow-mass-removal': { type: 'boolean', default: false } },
  allowPositionals: true,
})
const { PROPERTY_EVENTS_URL = 'http://127.0.0.1:8080', PROPERTY_EVENTS_KEY = '' } = process.env
if (PROPERTY_EVENTS_KEY === '') {
  console.error('No API key is given: set PROPERTY_EVENTS_KEY.')
  process.exit(1)
}
const database = new DatabaseSync(positionals[0] ?? 'website.db')
database.exec(`
  PRAGMA journal_mode = WAL;
  -- What is removed is overwritten: it may have been erased for good.
  PRAGMA secure_delete = ON;
  CREATE TABLE IF NOT EXISTS property (
    agent_ref TEXT PRIMARY KEY,
    sequence_number INTEGER NOT NULL,
    status INTEGER,
    price REAL,
    display_address TEXT,
    bedrooms INTEGER,
    summary TEXT,
    photograph TEXT,
    payload TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS feed_checkpoint (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), json TEXT NOT NULL) STRICT;
`)

const put = database.prepare(`
  INSERT INTO property VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (agent_ref) DO UPDATE SET
    sequence_number = excluded.sequence_number, status = excluded.status, price = excluded.price,
    display_address = excluded.display_address, bedrooms = excluded.bedrooms, summary = excluded.summary,
    photograph = excluded.photograph, payload = excluded.payload`)
const remove = database.prepare('DELETE FROM property WHERE agent_ref = ?')
const saveCheckpoint = database.prepare('INSERT OR REPLACE INTO feed_checkpoint VALUES (1, ?)')
const loadCheckpoint = database.prepare('SELECT json FROM feed_checkpoint')
const countAll = database.prepare('SELECT count(*) AS count FROM property')
const countThese = database.prepare(
  'SELECT count(*) AS count FROM property WHERE agent_ref IN (SELECT value FROM json_each(?))',
)
const everySubject = database.prepare('SELECT agent_ref FROM property')

function applyChange(change: Change<'property'>): void {
  if (change.kind === 'remove') {
    remove.run(change.subjectId)
    return
  }
  const { subjectId, sequenceNumber, payload, event } = change
  const { status, price_information: price, address, details } = payload
  put.run(
    subjectId,
    sequenceNumber,
    status,
    price?.price ?? null,
    address?.display_address ?? null,
    details?.bedrooms ?? null,
    details?.summary ?? null,
    listing(payload).photographs[0]?.url ?? null,
    event.payload,
  )
}

function apply({ changes, checkpoint }: Batch<'property'>): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    for (const change of changes) applyChange(change)
    saveCheckpoint.run(JSON.stringify(checkpoint))
    database.exec('COMMIT')
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}

const numberOf = (row: Record<string, unknown> | undefined): number => Number(row?.['count'] ?? 0)

const result = await createClient({ baseUrl: PROPERTY_EVENTS_URL, key: PROPERTY_EVENTS_KEY }).sync({
  // No `save`: `apply` keeps the checkpoint, in its transaction.
  checkpoint: { load: () => JSON.parse(String(loadCheckpoint.get()?.['json'] ?? 'null')) },
  apply,
  copy: {
    count: () => numberOf(countAll.get()),
    countOf: (subjectIds) => numberOf(countThese.get(JSON.stringify(subjectIds))),
    *subjects() {
      for (const row of everySubject.all()) yield String(row['agent_ref'])
    },
  },
  allowMassRemoval: flags['allow-mass-removal'],
  batchSize: Number(process.env['BATCH_SIZE'] ?? 1_000),
})
console.log(JSON.stringify(result))
database.close()
