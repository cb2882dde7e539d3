/**
 * The usual way: PostgreSQL, `bigserial`, `LIMIT`/`OFFSET` and `count(*)`, or ranges behind an id; Fastify and
 * `JSON.stringify`. The database is the bench's own, on the server's core like the program.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Client } from 'pg'
import type { RunningPostgres } from '../support/postgres.ts'
import { serverCore, spawnPinned, stop } from '../support/pinned.ts'
import type { Row } from '../support/rows.ts'
import { firstLine, usageOfTrees } from '../support/server.ts'
import type { RunningServer } from '../support/server.ts'
import { copyIn } from './copy-in.ts'

export const usualKey = 'usual-key-of-the-bench'

export async function startUsual(postgres: RunningPostgres): Promise<RunningServer> {
  const program = join(import.meta.dirname, 'usual-server.ts')
  const child = spawnPinned(serverCore, process.execPath, [program, postgres.url])
  const url = await firstLine(child)
  child.stderr?.pipe(process.stderr)
  return {
    url,
    ...usageOfTrees(() => [child.pid ?? 0, ...postgres.pids().slice(0, 1)]),
    [Symbol.asyncDispose]: () => stop(child),
  }
}

/** Creates the tables and inserts the rows; numbers begin at 1. */
export async function fillUsual(url: string, tenant: string, rows: Iterable<Row>): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`
      CREATE TABLE usual_event (
        id bigserial PRIMARY KEY, tenant uuid NOT NULL, type integer NOT NULL, code text NOT NULL,
        payload text NOT NULL, transaction_id text NOT NULL, event_id uuid NOT NULL UNIQUE,
        created timestamptz NOT NULL);
      CREATE TABLE api_key (hash text PRIMARY KEY, tenant uuid NOT NULL)`)
    await client.query('INSERT INTO api_key VALUES ($1, $2)', [
      createHash('sha256').update(usualKey).digest('hex'),
      tenant,
    ])
    await copyIn(
      client,
      'COPY usual_event (tenant, type, code, payload, transaction_id, event_id, created) FROM STDIN',
      valuesOf(tenant, rows),
    )
    await client.query('CREATE INDEX ON usual_event (tenant, id)')
    await client.query('VACUUM ANALYZE usual_event')
  } finally {
    await client.end()
  }
}

function* valuesOf(tenant: string, rows: Iterable<Row>): Generator<readonly string[]> {
  for (const { event } of rows) {
    const json: { eventType: number; payload: string; transactionId: string; createdDate: string } =
      JSON.parse(event.json)
    const { eventType, payload, transactionId, createdDate } = json
    yield [tenant, String(eventType), event.code, payload, transactionId, event.id, `${createdDate}Z`]
  }
}
