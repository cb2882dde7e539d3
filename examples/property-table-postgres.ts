/**
 * A website's property table in PostgreSQL, kept in step with a feed. The table and the checkpoint change in one
 * transaction; two programs that run at the same time wait for each other.
 *
 * Needs Node 24 or later, "type": "module" in package.json, @property-events/client and pg.
 *
 *     PROPERTY_EVENTS_URL=https://feed.example.com PROPERTY_EVENTS_KEY=pev_… node property-table-postgres.ts postgres://localhost/website [--allow-mass-removal]
 */
import { parseArgs } from 'node:util'
import { createClient, MassRemovalError } from '@property-events/client'
import type { Batch } from '@property-events/client'
import { listing } from '@property-events/client/listing'
import { Client } from 'pg'

process.on('uncaughtException', (error) => {
  if (error instanceof MassRemovalError) {
    console.error(error.summary)
    console.error('To allow it once: --allow-mass-removal.')
    console.error('If it is a mistake, have them published again and run this as usual.')
  } else {
    // A sentence for whoever runs it. What has no code is a fault of this program, and keeps its stack.
    console.error('code' in error ? error.message || error.code : error)
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
const database = new Client({ connectionString: positionals[0] ?? 'postgres://localhost/website' })
await database.connect()
// One sync at a time: the lock goes when the connection does.
await database.query('SELECT pg_advisory_lock(720001)')
await database.query(`
  CREATE TABLE IF NOT EXISTS property (
    agent_ref text PRIMARY KEY,
    sequence_number bigint NOT NULL,
    status integer,
    price numeric,
    display_address text,
    bedrooms integer,
    photograph text,
    payload jsonb NOT NULL
  );
  CREATE TABLE IF NOT EXISTS feed_checkpoint (only_row boolean PRIMARY KEY CHECK (only_row), json jsonb NOT NULL);
`)

/** One statement for all of a batch: rows come as a JSON list. */
const putAll = `
  INSERT INTO property
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS row (
    agent_ref text, sequence_number bigint, status integer, price numeric, display_address text, bedrooms integer,
    photograph text, payload jsonb
  )
  ON CONFLICT (agent_ref) DO UPDATE SET
    sequence_number = excluded.sequence_number, status = excluded.status, price = excluded.price,
    display_address = excluded.display_address, bedrooms = excluded.bedrooms, photograph = excluded.photograph,
    payload = excluded.payload`

async function apply({ changes, checkpoint }: Batch<'property'>): Promise<void> {
  const rows = changes.flatMap((change) => {
    if (change.kind === 'remove') return []
    const { payload, event } = change
    return {
      agent_ref: change.subjectId,
      sequence_number: change.sequenceNumber,
      status: payload.status,
      price: payload.price_information?.price,
      display_address: payload.address?.display_address,
      bedrooms: payload.details?.bedrooms,
      photograph: listing(payload).photographs[0]?.url ?? null,
      payload: JSON.parse(event.payload),
    }
  })
  const gone = changes.filter(({ kind }) => kind === 'remove').map(({ subjectId }) => subjectId)
  await database.query('BEGIN')
  try {
    await database.query(putAll, [JSON.stringify(rows)])
    await database.query('DELETE FROM property WHERE agent_ref = ANY ($1)', [gone])
    await database.query(
      `INSERT INTO feed_checkpoint VALUES (true, $1) ON CONFLICT (only_row) DO UPDATE SET json = excluded.json`,
      [JSON.stringify(checkpoint)],
    )
    await database.query('COMMIT')
  } catch (error) {
    await database.query('ROLLBACK')
    throw error
  }
}

async function count(text: string, values: readonly unknown[] = []): Promise<number> {
  return Number((await database.query<{ count: string }>(text, [...values])).rows[0]?.count ?? 0)
}

const result = await createClient({ baseUrl: PROPERTY_EVENTS_URL, key: PROPERTY_EVENTS_KEY }).sync({
  // No `save`: `apply` keeps the checkpoint, in its transaction.
  checkpoint: {
    load: async () =>
      (await database.query<{ json: unknown }>('SELECT json FROM feed_checkpoint')).rows[0]?.json,
  },
  apply,
  copy: {
    count: () => count('SELECT count(*) FROM property'),
    countOf: (subjectIds) => count('SELECT count(*) FROM property WHERE agent_ref = ANY ($1)', [subjectIds]),
    async *subjects() {
      const { rows } = await database.query<{ agent_ref: string }>('SELECT agent_ref FROM property')
      for (const row of rows) yield row.agent_ref
    },
  },
  allowMassRemoval: flags['allow-mass-removal'],
  batchSize: Number(process.env['BATCH_SIZE'] ?? 1_000),
})
console.log(JSON.stringify(result))
await database.end()
