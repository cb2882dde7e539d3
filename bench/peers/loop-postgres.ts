/**
 * The yardstick of publishing on PostgreSQL, as a program: a bare loop that writes the same rows into the same tables,
 * ready-made. `unnest`: all in one statement; `copy`: the events by `COPY`, the rest in one statement, in a transaction.
 * `node loop-postgres.ts <database with an empty store> <unnest|copy> <events a commit> <seconds> <average bytes>`
 */
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { rowsOf } from '../support/rows.ts'
import { benchFeed } from '../support/store.ts'
import { copyIn } from './copy-in.ts'
import { timedLoop } from './timed-loop.ts'

const [url = '', way = 'unnest', batch = '1', seconds = '1', averageBytes = '3600'] = process.argv.slice(2)
const size = Number(batch)
const rows = [
  ...rowsOf({ key: benchFeed, events: 5_000, averageBytes: Number(averageBytes), seed: 'loop' }),
].map(({ event, id, subject }) => ({
  event,
  contentHash: Buffer.from(id.contentHash ?? []).toString('hex'),
  payloadHash: Buffer.from(subject.state.payloadHash ?? []).toString('hex'),
  published: subject.state.published,
}))
const tenant = benchFeed.tenantId
const feed = 1
const client = new Client({ connectionString: url })
await client.connect()

const given = `given AS (
    SELECT r.* FROM unnest($3::bigint[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::boolean[],
      $10::text[], $11::text[]) AS r (position, id, subject, category, branch, code, published, hash, payload)
  ), advanced AS (
    UPDATE feed SET last_position = $12, last_sequence = $12, last_created = $12 WHERE tenant = $1 AND feed = $2
  ), ids AS (
    INSERT INTO event_id (tenant, feed, id, position, content_hash)
    SELECT $1, $2, id, position, decode(hash, 'hex') FROM given
  ), subjects AS (
    INSERT INTO subject (tenant, feed, subject, position, published, category, branch, code, payload_hash, spelling)
    SELECT DISTINCT ON (subject) $1, $2::smallint, subject, position, published, category, branch, code,
      decode(payload, 'hex'), '' FROM given ORDER BY subject, position DESC
    ON CONFLICT (tenant, feed, subject) DO UPDATE SET position = excluded.position, published = excluded.published,
      category = excluded.category, branch = excluded.branch, code = excluded.code, payload_hash = excluded.payload_hash,
      spelling = excluded.spelling
  ), counted AS (
    UPDATE view v SET last_ordinal = v.last_ordinal + c.n
    FROM (SELECT category, count(*) AS n FROM given GROUP BY category) AS c
    WHERE v.tenant = $1 AND v.feed = $2 AND v.view = c.category
    RETURNING v.view, v.last_ordinal - c.n AS before
  )`
const entries = `INSERT INTO view_entry (tenant, feed, view, ordinal, position, created)
  SELECT $1, $2, c.view, c.before + row_number() OVER (PARTITION BY c.view ORDER BY given.position), given.position,
    given.position FROM given JOIN counted c ON c.view = given.category`
const events = `events AS (
    INSERT INTO event (tenant, feed, position, sequence, created, id, subject, category, branch, code, json)
    SELECT $1, $2, g.position, g.position, g.position, g.id, g.subject, g.category, g.branch, g.code, j.json
    FROM given g JOIN unnest($3::bigint[], string_to_array($13, chr(30))) AS j (position, json) USING (position)
  )`

const [row] = (
  await client.query<{ last_position: string }>(
    'SELECT last_position FROM feed WHERE tenant = $1 AND feed = $2',
    [tenant, feed],
  )
).rows
let position = Number(row?.last_position ?? 0)

const bytes = rows.reduce((sum, { event }) => sum + event.json.length, 0) / rows.length
await timedLoop(Number(seconds), bytes * size, async () => {
  const taken = Array.from({ length: size }, (_, nth) => {
    const found = rows[(position + nth) % rows.length]
    if (found === undefined) throw new Error('no rows')
    return { ...found, id: randomUUID(), position: position + nth + 1 }
  })
  position += size
  const values = [
    tenant,
    feed,
    taken.map((one) => one.position),
    taken.map(({ id }) => id),
    taken.map(({ event }) => event.subjectId),
    taken.map(({ event }) => event.category),
    taken.map(({ event }) => event.branch),
    taken.map(({ event }) => event.code),
    taken.map(({ published }) => published),
    taken.map(({ contentHash }) => contentHash),
    taken.map(({ payloadHash }) => payloadHash),
    position,
  ]
  if (way === 'unnest') {
    const text = `WITH ${given}, ${events} ${entries}`
    const jsons = taken.map(({ event }) => event.json).join('\x1e')
    await client.query({ name: 'all', text, values: [...values, jsons] })
    return
  }
  await client.query('BEGIN')
  await copyIn(
    client,
    'COPY event (tenant, feed, position, sequence, created, id, subject, category, branch, code, json) FROM STDIN',
    taken.map(({ event, id, position: at }) => {
      const { subjectId, category, branch, code, json } = event
      const numbers = [String(feed), String(at), String(at), String(at)]
      return [tenant, ...numbers, id, subjectId, category ?? undefined, branch ?? undefined, code, json]
    }),
  )
  await client.query({ name: 'rest', text: `WITH ${given} ${entries}`, values })
  await client.query('COMMIT')
})
await client.end()
